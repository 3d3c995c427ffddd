package host

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A deletion may take as long as the host allows it; whoever ordered it is told how it ended. Other questions end soon.
func TestAskChatWaitsForADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
		defer func() {
			system.Shutdown()
			<-time.After(2 * forgetWait) // simulated: the chat and the timers of the library end
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

// A turn that the page edits is cut from the history before it is taken. If only the first has happened, the page sends
// it again: it is answered, and once, however often it is sent.
func TestAnEditAfterACutIsTakenOnce(t *testing.T) {
	p := newProject(t)
	script := modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	h := p.start(t, Options{Model: script}, pageFlags(p))
	post(t, h, "m1", "first")
	post(t, h, "m2", "second")
	live := h.ports[nameWeb].port
	view, err := live.History(t.Context(), "web-chat-c1")
	if err != nil || len(view.Messages) != 4 {
		t.Fatalf("the history has %d messages, %v", len(view.Messages), err)
	}
	stdtest.Must(t, live.Rewind(t.Context(), "web-chat-c1", view.Messages[1].ID))
	body := fmt.Sprintf(`{"id":"c1","trigger":"submit-message","messageId":"m2","messages":[{"id":%q,"role":"assistant","parts":[]},{"id":"m2","role":"user","parts":[{"type":"text","text":"better"}]}]}`, view.Messages[1].ID)
	for range 2 {
		got := exchange(t, h.webAddr, nil, tryBody("", "POST /api/chat", body, "Content-Type: application/json", "Authorization: Bearer "+h.login.token.Reveal()).words)
		if !strings.Contains(got, "three") {
			t.Errorf("the edit is answered %q", got)
		}
	}
	view, err = live.History(t.Context(), "web-chat-c1")
	if err != nil || len(view.Messages) != 4 || view.Messages[2].ID != "m2" || journal.Text(view.Messages[2]) != "better" {
		t.Errorf("the history is %+v, %v", view.Messages, err)
	}
	if n := len(script.Requests()); n != 3 {
		t.Errorf("the model was asked %d times, want 3", n)
	}
}
