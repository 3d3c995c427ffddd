package actors_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
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
