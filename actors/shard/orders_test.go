package shard_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// order gives an operator's order, and returns what is refused, or "no answer".
func (w *world) order(key messages.ChatKey, restart bool) string {
	reply, err := w.system.Root.RequestFuture(w.shard, messages.UnloadChat{ChatKey: key, Restart: restart}, time.Minute).Result()
	if done, ok := reply.(messages.ChatUnloaded); err == nil && ok && done.ChatKey == key {
		return string(done.Refused)
	}
	return "no answer"
}

// active are the chats that the shard says it has.
func (w *world) active() []messages.ActiveChat {
	w.t.Helper()
	reply, err := w.system.Root.RequestFuture(w.shard, messages.ShardQuery{}, time.Minute).Result()
	stdtest.Must(w.t, err)
	all, ok := reply.(messages.ShardReply)
	if !ok {
		w.t.Fatalf("the shard answers %T", reply)
	}
	return all.Chats
}

// A chat without work is unloaded, and is back with its next message. One with work stays.
func TestUnload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, restart := range []bool{false, true} {
			if got := w.order(healthy, restart); got != "not_loaded" {
				t.Errorf("the order about a chat that is not loaded: %q", got)
			}
		}
		w.send(healthy, 0, 1)
		w.busy[healthy] = true
		if got := w.order(healthy, false); got != "busy" || len(w.active()) != 1 {
			t.Errorf("a chat with work: %q, %v", got, w.active())
		}
		w.busy[healthy] = false
		if got := w.order(healthy, false); got != "" || len(w.active()) != 0 {
			t.Errorf("a chat without work: %q, %v", got, w.active())
		}
		w.send(healthy, 1, 2)
		if diff := cmp.Diff(ids(0, 2), w.took(healthy)); diff != "" || w.started(healthy) != 2 {
			t.Errorf("%d starts, messages (-sent +taken):\n%s", w.started(healthy), diff)
		}
	})
}

// A chat is restarted also while it has work: after the messages that it was sent before, and before those that follow,
// receipts among them.
func TestRestartLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slow, w.busy[healthy] = make(chan struct{}), true
		w.send(healthy, 0, 5)
		w.system.Root.Send(w.shard, messages.EgressDelivered{ChatKey: healthy})
		answer := make(chan string, 1)
		go func() { answer <- w.order(healthy, true) }()
		synctest.Wait()
		for _, restart := range []bool{false, true} {
			if got := w.order(healthy, restart); got != "busy" {
				t.Errorf("another order meanwhile: %q", got)
			}
		}
		w.send(healthy, 5, 9)
		w.system.Root.Send(w.shard, messages.EgressDelivered{ChatKey: healthy})
		if got := w.active(); len(got) != 1 || !got[0].Ending || got[0].Waiting != 6 {
			t.Errorf("meanwhile the shard says %+v", got)
		}
		close(w.slow)
		if got := <-answer; got != "" {
			t.Errorf("the order: %q", got)
		}
		synctest.Wait()
		if diff := cmp.Diff(ids(0, 9), w.took(healthy)); diff != "" || w.started(healthy) != 2 || w.receipts != 2 {
			t.Errorf("%d starts, %d receipts, messages (-sent +taken):\n%s", w.started(healthy), w.receipts, diff)
		}
	})
}

// A restarted chat is loaded again although nothing was sent to it, because it may have a run in progress.
func TestRestartLoadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.send(healthy, 0, 1)
		if got := w.order(healthy, true); got != "" {
			t.Errorf("the order: %q", got)
		}
		synctest.Wait()
		if w.started(healthy) != 2 || len(w.active()) != 1 {
			t.Errorf("%d starts, loaded: %v", w.started(healthy), w.active())
		}
	})
}

// A chat that is parked is tried again at an operator's order, and is not unloaded.
func TestRestartOfAParkedChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.sick[poisoned] = true
		w.send(poisoned, 0, 1)
		<-time.After(time.Minute)
		synctest.Wait()
		if got := w.active(); len(got) != 1 || !got[0].Parked || !got[0].Down || got[0].Panics != 6 {
			t.Fatalf("the shard says %+v", got)
		}
		if got := w.order(poisoned, false); got != "busy" {
			t.Errorf("unloading it: %q", got)
		}
		w.mu.Lock()
		w.sick[poisoned] = false
		w.mu.Unlock()
		if got := w.order(poisoned, true); got != "" {
			t.Errorf("restarting it: %q", got)
		}
		synctest.Wait()
		if diff := cmp.Diff(ids(0, 1), w.took(poisoned)); diff != "" || w.metric("sma_chats_parked") != 0 {
			t.Errorf("%v are parked, messages (-sent +taken):\n%s", w.metric("sma_chats_parked"), diff)
		}
	})
}

// A chat that is being restarted while the host stops ends, and is not loaded again.
func TestRestartWhileTheHostStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.slow = make(chan struct{})
		w.send(healthy, 0, 1)
		w.system.Root.Send(w.shard, messages.UnloadChat{ChatKey: healthy, Restart: true})
		drained := w.system.Root.RequestFuture(w.shard, messages.Drain{}, time.Minute)
		synctest.Wait()
		if got := w.order(healthy, true); got != "busy" {
			t.Errorf("an order while the host stops: %q", got)
		}
		close(w.slow)
		if _, err := drained.Result(); err != nil || w.started(healthy) != 1 {
			t.Errorf("drained: %v, %d starts", err, w.started(healthy))
		}
	})
}
