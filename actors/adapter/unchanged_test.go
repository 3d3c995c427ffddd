package adapter_test

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const oneChat = messages.ChatKey("telegram-chat-1")

// keeping replaces the chats: it records what it receives, and confirms receipts like a chat that
// has made them durable.
type keeping struct {
	mu   sync.Mutex
	told []any
}

func (k *keeping) Receive(ac actor.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch msg := ac.Message().(type) {
	case messages.EgressProgressed:
		parts := msg.Part + 1
		if msg.Draft {
			parts = 0
		}
		ac.Respond(messages.EgressKept{ChatKey: msg.ChatKey, Row: msg.Row, Parts: parts})
		k.told = append(k.told, msg)
	case messages.EgressDelivered:
		ac.Respond(messages.EgressKept{ChatKey: msg.ChatKey, Row: msg.Row, Parts: len(msg.Receipts)})
		k.told = append(k.told, msg)
	case messages.EgressFailed, messages.UnwatchChat:
		k.told = append(k.told, msg)
	}
}

func (k *keeping) all() []any {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]any(nil), k.told...)
}

// stage is one adapter actor with such chats.
type stage struct {
	system      *actor.ActorSystem
	router, pid *actor.PID
	chats       *keeping
}

func newStage(t *testing.T, o adapter.Options) *stage {
	t.Helper()
	s := &stage{system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })), chats: &keeping{}}
	s.router = s.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return s.chats }))
	o.Router, o.Logger = s.router, slog.New(slog.DiscardHandler)
	s.pid = s.system.Root.Spawn(adapter.Props(o))
	t.Cleanup(func() {
		s.system.Root.Stop(s.pid)
		synctest.Wait()
		s.system.Shutdown()
		<-time.After(2 * time.Second) // the library's own timers
	})
	return s
}

// send delivers messages, and lets everything happen that takes no time.
func (s *stage) send(msgs ...any) {
	for _, msg := range msgs {
		s.system.Root.RequestWithCustomSender(s.pid, msg, s.router)
		synctest.Wait()
	}
}

// A draft that shows all of the text is not changed: no call is made, not even one that would have
// to wait, and the chat learns that the draft's message is the answer.
func TestIO6TextThatStandsThere(t *testing.T) {
	row := messages.RowID{MessageID: "a1", N: 1}
	long := strings.Repeat("x", 5000) // two messages
	for name, c := range map[string]struct {
		drafts []string
		text   string
		fail   func(op string, n int) error
		edits  int
		want   []string
	}{
		"all of it":          {drafts: []string{"all of it"}, text: "all of it", want: []string{"all of it"}},
		"after an edit":      {drafts: []string{"all", "all of it"}, text: "all of it", edits: 1, want: []string{"all of it"}},
		"more":               {drafts: []string{"all"}, text: "all of it", edits: 1, want: []string{"all of it"}},
		"less":               {drafts: []string{"all of it"}, text: "all", edits: 1, want: []string{"all"}},
		"the first of two":   {drafts: []string{long}, text: long, want: []string{long[:4096], long[4096:]}},
		"behind the message": {drafts: []string{long, long + "x", long + "xy"}, text: long + "xyz", want: []string{long[:4096], long[4096:] + "xyz"}},
		"after a failed edit": {
			drafts: []string{"all", "all of it"}, text: "all of it", edits: 1, want: []string{"all of it"},
			fail: func(_ string, n int) error {
				if n == 2 {
					return &platform.Error{Reason: platform.SendNetwork, Retryable: true, Unknown: true, Err: errors.New("simulated")}
				}
				return nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}, Fail: c.fail}
				s := newStage(t, adapter.Options{Platform: fake})
				for _, text := range c.drafts {
					s.send(messages.ShowDraft{ChatKey: oneChat, Row: row, Text: text})
					<-time.After(2 * time.Second)
				}
				s.send(messages.Deliver{ChatKey: oneChat, Row: row, Text: c.text})
				<-time.After(time.Minute)
				sent := fake.Sent()
				if sent[0].Edits != c.edits {
					t.Errorf("%d edits, want %d", sent[0].Edits, c.edits)
				}
				var receipts []messages.Receipt
				for _, m := range sent {
					receipts = append(receipts, messages.Receipt{ID: m.ID, Order: m.Order})
				}
				stdtest.Diff(t, "people see", c.want, fake.Texts(oneChat))
				told := s.chats.all()
				got, ok := told[len(told)-1].(messages.EgressDelivered)
				if want := (messages.EgressDelivered{ChatKey: oneChat, Row: row, Receipts: receipts}); !ok || cmp.Diff(want, got) != "" {
					t.Errorf("the chat was told %+v, want %+v", told[len(told)-1], want)
				}
			})
		})
	}
}

// A text that is already shown is delivered without waiting for the chat's turn to send.
func TestTextThatStandsThereWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := messages.RowID{MessageID: "a1", N: 1}
		rates := platform.Rates{PerChat: platform.Rate{N: 1, Per: time.Hour}}
		s := newStage(t, adapter.Options{Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true, Rates: rates}}})
		s.send(messages.ShowDraft{ChatKey: oneChat, Row: row, Text: "first"}, messages.Deliver{ChatKey: oneChat, Row: row, Text: "first"})
		if told := s.chats.all(); len(told) != 2 {
			t.Errorf("the chat was told %+v, want of the placeholder and of the answer", told)
		}
	})
}

// A placeholder whose text waits for other rows, while the next draft is already shown, keeps what
// it shows.
func TestTextThatStandsThereSurvivesTheNextDraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		note, first, second := messages.RowID{MessageID: "x"}, messages.RowID{MessageID: "a1", N: 1}, messages.RowID{MessageID: "a1", N: 2}
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}, Fail: func(_ string, n int) error {
			if n == 2 {
				return &platform.Error{Reason: platform.SendRate, Retryable: true, RetryAfter: time.Hour, Err: errors.New("simulated")}
			}
			return nil
		}}
		s := newStage(t, adapter.Options{Platform: fake})
		s.send(
			messages.ShowDraft{ChatKey: oneChat, Row: first, Text: "first"},
			messages.Deliver{ChatKey: oneChat, Row: note, Text: "note"}, // refused for an hour
			messages.Deliver{ChatKey: oneChat, Row: first, Text: "first"},
			messages.ShowDraft{ChatKey: oneChat, Row: second, Text: "second"},
		)
		<-time.After(2 * time.Hour)
		s.send(messages.Deliver{ChatKey: oneChat, Row: second, Text: "second"})
		stdtest.Diff(t, "people see", []string{"first", "note", "second"}, fake.Texts(oneChat))
		for _, m := range fake.Sent() {
			if m.Edits > 0 {
				t.Errorf("%q was edited %d times", m.Text, m.Edits)
			}
		}
		if got := len(s.chats.all()); got != 5 { // two placeholders, three answers
			t.Errorf("the chat was told %d times: %+v", got, s.chats.all())
		}
	})
}
