package actors_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The question whether to delete a chat can be answered for half an hour, although idle chats leave memory long before.
func TestForgetIsConfirmedAfterAPause(t *testing.T) {
	for pause, want := range map[time.Duration]int{20 * time.Second: 1, 3 * time.Minute: 1, 29 * time.Minute: 1, 31 * time.Minute: 0} {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deleted := 0
				o := chat.Options{Options: decision.Options{MayForget: func(decision.Command) bool { return true }}}
				o.Forget = func(journal.Forgetting) error { deleted++; return nil }
				w := actortest.New(t, actortest.Options{Store: filestoretest.New(t), Model: slow{}, Chat: o, Idle: time.Minute})
				key := messages.NewChatKey("telegram", "", "1", 0)
				w.Say(key, "alice", "hello")
				<-time.After(10 * time.Second)
				w.Say(key, "alice", "/forget")
				<-time.After(pause)
				w.Say(key, "alice", "/forget yes")
				<-time.After(5 * time.Second)
				w.Wait()
				if deleted != want {
					t.Errorf("the chat was deleted %d times, want %d", deleted, want)
				}
			})
		})
	}
}

// emptied is a store that can be replaced by an empty one.
type emptied struct{ persistence.Store }

// What a deleted chat still had to send is not sent any more, neither the rest of a message nor the messages after it.
func TestForgottenRowsAreNotSent(t *testing.T) {
	for name, parts := range map[string]int{"nothing sent": 0, "a part sent": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &emptied{filestoretest.New(t)}
				o := chat.Options{Options: decision.Options{MayForget: func(decision.Command) bool { return true }}}
				o.Forget = func(journal.Forgetting) error { store.Store = filestoretest.New(t); return nil }
				fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: func(_ string, n int) error {
					if n > parts && n <= parts+2 {
						return &platform.Error{Reason: platform.SendRate, Retryable: true, RetryAfter: time.Minute, Err: errors.New("simulated")}
					}
					return nil
				}}
				w := actortest.New(t, actortest.Options{Store: store, Model: slow{}, Chat: o, Platform: fake})
				key := messages.NewChatKey("telegram", "", "1", 0)
				w.Say(key, "alice", strings.Repeat("my locker is 4711. ", 500))
				<-time.After(10 * time.Second)
				w.Say(key, "alice", "/forget")
				<-time.After(10 * time.Second)
				w.Say(key, "alice", "/forget yes")
				<-time.After(time.Hour)
				w.Wait()
				got := fake.Texts(key)
				if len(got) != parts+1 || !strings.Contains(got[parts], "deleted") {
					t.Errorf("people read %d messages, want %d: %.80q", len(got), parts+1, got)
				}
				w.Say(key, "alice", "hello")
				<-time.After(time.Minute)
				w.Wait()
				if got := fake.Texts(key); len(got) != parts+2 {
					t.Errorf("after that people read %.80q", got)
				}
			})
		})
	}
}

// A drain learns of a chat whose deletion is ordered meanwhile, and whoever ordered it is told to repeat the order.
func TestForgetDuringADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := chat.Options{Forget: func(journal.Forgetting) error { return nil }}
		w := actortest.New(t, actortest.Options{Store: filestoretest.New(t), Model: slow{}, Chat: o})
		key := messages.NewChatKey("telegram", "", "1", 0)
		w.Say(key, "alice", "hello") // a second passes before the answer
		root := w.System.Root
		drained := root.RequestFuture(w.Router, messages.Drain{}, time.Minute)
		w.Wait()
		answer, err := root.RequestFuture(w.Router, messages.ForgetChat{ChatKey: key}, time.Minute).Result()
		if forgotten, ok := answer.(messages.ChatForgotten); !ok || forgotten.Err == "" {
			t.Errorf("the order is answered with %+v, %v", answer, err)
		}
		if _, err := drained.Result(); err != nil {
			t.Errorf("the drain: %v", err)
		}
	})
}
