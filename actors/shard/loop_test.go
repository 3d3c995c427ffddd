package shard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	poisoned = messages.ChatKey("telegram-chat-1")
	healthy  = messages.ChatKey("telegram-chat-2")
)

// A chat that panics at one message continues with the next ones, in order, and none is lost or
// duplicated.
func TestCL1OnePanicLosesNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.poison = func(_ messages.ChatKey, n int) bool { return n == 3 }
		w.send(poisoned, 0, 50)
		if diff := cmp.Diff(ids(0, 50), w.took(poisoned)); diff != "" {
			t.Errorf("messages (-sent +taken):\n%s", diff)
		}
		if got := w.metric("sma_actor_restarts_total"); got != 1 {
			t.Errorf("%v restarts, want 1", got)
		}
	})
}

// Every message makes the chat panic: the waits between its restarts grow, then it is parked, and
// messages that can be repeated are refused. Other chats answer without delay meanwhile. Once it
// works again, it gets everything that was not refused, once and in order.
func TestCL1CrashLoopIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		sick := true
		w.poison = func(key messages.ChatKey, _ int) bool { return key == poisoned && sick }
		w.send(poisoned, 0, 3)
		var starts []int
		for range 8 {
			starts = append(starts, w.started(poisoned))
			began := time.Now()
			if _, ok := w.ask(healthy, "h").(messages.IngressAccepted); !ok || time.Since(began) > 0 {
				t.Errorf("another chat waited %v for a chat that panics (answered: %v)", time.Since(began), ok)
			}
			<-time.After(time.Second)
			synctest.Wait()
		}
		// Two starts at once, one after a second, and no fourth message to panic at.
		stdtest.Diff(t, "starts by seconds", []int{2, 3, 3, 4, 4, 4, 4, 4}, starts)
		w.send(poisoned, 3, 200)
		<-time.After(time.Minute)
		synctest.Wait()
		refused, ok := w.ask(poisoned, "x").(messages.IngressRejected)
		if !ok || refused.Reason == "" || w.metric("sma_chats_parked") != 1 {
			t.Errorf("a parked chat answers %+v (%v), %v are parked", refused, ok, w.metric("sma_chats_parked"))
		}
		words, _ := w.system.Root.RequestFuture(w.shard, messages.PostWords{ChatKey: poisoned, PostID: "p"}, time.Second).Result()
		if posted, ok := words.(messages.WordsPosted); !ok || posted.Reason == "" {
			t.Errorf("words to a parked chat are answered with %+v", words)
		}
		w.mu.Lock()
		sick = false
		w.mu.Unlock()
		<-time.After(15 * time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(ids(0, 200), w.took(poisoned)); diff != "" {
			t.Errorf("messages (-sent +taken):\n%s", diff)
		}
		if _, ok := w.ask(poisoned, "y").(messages.IngressAccepted); !ok || w.metric("sma_chats_parked") != 0 {
			t.Error("a chat that is well again takes nothing")
		}
	})
}

// A chat that cannot start gets a bounded number of waiting letters; receipts are never refused.
func TestCL1WaitingLettersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.sick[poisoned] = true
		w.send(poisoned, 0, 1)
		<-time.After(time.Second)
		synctest.Wait()
		w.send(poisoned, 1, 2000)
		w.system.Root.Send(w.shard, messages.EgressDelivered{ChatKey: poisoned})
		synctest.Wait()
		refused := w.metric("sma_shard_refusals_total")
		if refused < 1000 {
			t.Errorf("%v of 2000 messages to a chat that cannot start were refused", refused)
		}
		w.mu.Lock()
		w.sick[poisoned] = false
		w.mu.Unlock()
		<-time.After(time.Minute)
		synctest.Wait()
		took := w.took(poisoned)
		if want := 2000 - int(refused); len(took) != want {
			t.Errorf("%d messages taken, want the %d that were not refused", len(took), want)
		}
		if diff := cmp.Diff(ids(0, len(took)), took); diff != "" {
			t.Errorf("messages (-sent +taken):\n%s", diff)
		}
	})
}

// A host that stops does not wait for a chat that is down.
func TestCL1DrainDoesNotWaitForACrashedChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.sick[poisoned] = true
		w.send(poisoned, 0, 1)
		w.send(healthy, 0, 1)
		<-time.After(time.Second)
		synctest.Wait()
		began := time.Now()
		reply, err := w.system.Root.RequestFuture(w.shard, messages.Drain{}, time.Minute).Result()
		if _, ok := reply.(messages.Drained); err != nil || !ok || time.Since(began) > time.Second {
			t.Errorf("drain: %v, %v after %v", reply, err, time.Since(began))
		}
		if _, ok := w.ask(healthy, "z").(messages.IngressRejected); !ok {
			t.Error("a shard that is drained takes a message")
		}
		if got := w.metric("sma_chats_active"); got != 0 {
			t.Errorf("%v chats are active after the drain", got)
		}
	})
}

// A host stops while letters wait for a chat that is down: messages that can be repeated are
// refused, and a receipt, which would not be repeated, reaches the chat before its end, unless the
// chat cannot start.
func TestCL4LettersThatWaitAtAStop(t *testing.T) {
	for name, well := range map[string]bool{"it starts again": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.poison = func(_ messages.ChatKey, n int) bool { return n < 2 }
				w.send(poisoned, 0, 2) // down for a second
				waits := w.system.Root.RequestFuture(w.shard, messages.AcceptIngress{ChatKey: poisoned, IngressID: "2"}, time.Minute)
				w.system.Root.Send(w.shard, messages.EgressDelivered{ChatKey: poisoned})
				w.mu.Lock()
				w.sick[poisoned] = !well
				w.mu.Unlock()
				began := time.Now()
				reply, err := w.system.Root.RequestFuture(w.shard, messages.Drain{}, time.Minute).Result()
				if _, ok := reply.(messages.Drained); err != nil || !ok || time.Since(began) > 0 {
					t.Errorf("drain: %v, %v after %v", reply, err, time.Since(began))
				}
				if refused, err := waits.Result(); err != nil || refused != any(messages.IngressRejected{ChatKey: poisoned, Reason: "stopping"}) {
					t.Errorf("the message that waits is answered with %+v, %v", refused, err)
				}
				stdtest.Diff(t, "the chat got", ids(0, 2), w.took(poisoned))
				w.mu.Lock()
				defer w.mu.Unlock()
				if well != (w.receipts == 1) {
					t.Errorf("the chat got %d receipts", w.receipts)
				}
			})
		})
	}
}
