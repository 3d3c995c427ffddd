package host

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A deletion may take as long as the host allows it; whoever ordered it is told how it ended. Other questions end soon.
func TestAskChatWaitsForADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
		defer func() {
			system.Shutdown()
			time.Sleep(2 * forgetWait) // simulated: the chat and the timers of the library end
		}()
		slow := actor.PropsFromFunc(func(ac actor.Context) {
			switch ac.Message().(type) {
			case messages.ForgetChat, messages.ViewQuery:
				<-time.After(forgetWait - time.Second)
				ac.Respond(messages.ChatForgotten{ChatKey: "web-chat-1"})
			}
		})
		h := &Host{system: system, router: system.Root.Spawn(slow)}
		if reply, err := h.askChat(t.Context(), messages.ForgetChat{ChatKey: "web-chat-1"}); err != nil || reply == nil {
			t.Errorf("a slow deletion is answered with %v, %v", reply, err)
		}
		if _, err := h.askChat(t.Context(), messages.ViewQuery{ChatKey: "web-chat-1"}); err == nil {
			t.Error("a chat that does not answer is waited for")
		}
	})
	if most := control.Within("/control/forget"); most <= forgetWait+askChatFor {
		t.Errorf("clients wait for %v, but a deletion may take %v", most, forgetWait+askChatFor)
	}
}
