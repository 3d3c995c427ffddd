package shard_test

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages"
)

type order int

const (
	none order = iota
	unload
	restart
)

// moment is the messages that a shard gets at one instant.
type moment struct {
	chat int
	send int           // messages
	shed bool          // the router orders the shard to stop a chat
	do   order         // of an operator, between two messages
	then time.Duration // until the next moment
}

// Idle chats are asked every minute here, so that moments coincide with the question, the answer
// and the end of an activation.
func moments(t *rapid.T) []moment {
	waits := []time.Duration{0, 0, 0, time.Second, time.Minute, time.Minute, 2 * time.Minute, 3 * time.Minute}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) moment {
		return moment{
			chat: rapid.IntRange(0, 4).Draw(t, "chat"), send: rapid.IntRange(0, 5).Draw(t, "send"),
			shed: rapid.Bool().Draw(t, "shed"), do: rapid.SampledFrom([]order{none, none, unload, restart}).Draw(t, "do"), then: rapid.SampledFrom(waits).Draw(t, "then"),
		}
	}), 1, 60).Draw(t, "moments")
}

// A message that arrives while its chat is passivated reaches the chat once and in order, in this
// activation or the next. With SOAK there are 10,000 moments and more.
func TestCL2ShardDeliversOnce(t *testing.T) {
	want := 1000
	if os.Getenv("SOAK") != "" {
		want = 10_000
	}
	rounds, rests := 0, 0.0
	for rounds < want {
		rapid.Check(t, func(rt *rapid.T) {
			plan := moments(rt)
			fault := ""
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				fault = w.play(plan)
				rests += w.metric("sma_chat_passivations_total")
			})
			if fault != "" {
				rt.Fatal(fault)
			}
			rounds += len(plan)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("soak: test=CL2 rounds=%d passivations=%.0f lost=0 double=0", rounds, rests)
}

func (w *world) play(plan []moment) (fault string) {
	said := map[messages.ChatKey]int{}
	for n, m := range plan {
		key := messages.ChatKey(fmt.Sprintf("telegram-chat-%d", m.chat+1))
		if m.shed {
			w.system.Root.Send(w.shard, messages.Shed{Seq: uint64(n + 1), NotAfter: time.Now()})
		}
		for n := range m.send + 1 {
			if m.do != none && n == m.send/2 {
				w.system.Root.Send(w.shard, messages.UnloadChat{ChatKey: key, Restart: m.do == restart})
			}
			if n == m.send {
				break
			}
			w.system.Root.Send(w.shard, messages.AcceptIngress{ChatKey: key, IngressID: fmt.Sprint(said[key])})
			said[key]++
		}
		<-time.After(m.then)
	}
	<-time.After(10 * time.Minute)
	synctest.Wait()
	for key, n := range said {
		if diff := cmp.Diff(ids(0, n), w.took(key)); diff != "" {
			return fmt.Sprintf("%s (-sent +taken):\n%s", key, diff)
		}
	}
	if active := w.metric("sma_chats_active"); active != 0 {
		return fmt.Sprintf("%v chats do not rest", active)
	}
	return ""
}

// A chat's answer may arrive after news of its end, which overtakes it, and after the chat has begun again and was asked
// again. It then says nothing about the messages that wait for the chat.
func TestAnswerOfAnEarlierActivation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const key = "telegram-chat-1"
		w.send(key, 0, 2)
		<-time.After(10 * time.Minute)
		w.slow = make(chan struct{})
		w.send(key, 2, 4)
		<-time.After(2 * time.Minute) // it is asked again, after both messages
		if len(w.idle) != 1 || w.started(key) != 2 {
			t.Fatalf("%d answers of %d activations, want 1 of 2", len(w.idle), w.started(key))
		}
		w.system.Root.Send(w.shard, w.idle[0])
		synctest.Wait()
		close(w.slow)
		<-time.After(10 * time.Minute)
		if diff := cmp.Diff(ids(0, 4), w.took(key)); diff != "" {
			t.Errorf("-sent +taken:\n%s", diff)
		}
	})
}

// The router's order stops the least recently used chat, unless it was used since; the answer
// follows when that is done.
func TestShedTakesTheLongestUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		began := time.Now()
		w.send("telegram-chat-1", 0, 1)
		<-time.After(10 * time.Second)
		w.send("telegram-chat-2", 0, 1)
		w.system.Root.Send(w.shard, messages.Shed{Seq: 1, NotAfter: began.Add(-time.Second)})
		synctest.Wait()
		if got := w.load(); got.Chats != 2 || got.Shed != 1 || got.Shedding || !got.Oldest.Equal(began) {
			t.Errorf("after an order that names no chat: %+v", got)
		}
		w.system.Root.Send(w.shard, messages.Shed{Seq: 2, NotAfter: time.Now()})
		synctest.Wait()
		if got := w.load(); got.Chats != 1 || got.Shed != 2 || got.Shedding || !got.Oldest.Equal(began.Add(10*time.Second)) {
			t.Errorf("after an order: %+v", got)
		}
		w.send("telegram-chat-1", 1, 2)
		if w.started("telegram-chat-1") != 2 || w.started("telegram-chat-2") != 1 {
			t.Error("another chat left than the longest unused")
		}
	})
}

func (w *world) load() messages.ShardLoad {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.loads[len(w.loads)-1]
}

// Chats report their size; the shard adds the sizes up and forgets those of chats that are gone.
func TestShardSumsUpWhatChatsHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.send("telegram-chat-1", 0, 1)
		w.send("telegram-chat-2", 0, 1)
		size := func(key messages.ChatKey, bytes int64) {
			w.system.Root.Send(w.shard, messages.ChatSized{ChatKey: key, Bytes: bytes})
		}
		size("telegram-chat-1", 1000)
		size("telegram-chat-2", 500)
		size("telegram-chat-1", 4000)
		size("telegram-chat-9", 7) // no chat of this shard
		synctest.Wait()
		if got := w.load(); got.Bytes != 4500 || w.metric("sma_chats_bytes_estimate") != 4500 {
			t.Errorf("%d bytes reported, %v in the metric, want 4500", got.Bytes, w.metric("sma_chats_bytes_estimate"))
		}
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if got := w.load(); got.Bytes != 0 || got.Chats != 0 || w.metric("sma_chats_bytes_estimate") != 0 {
			t.Errorf("after all chats rest: %+v", got)
		}
	})
}
