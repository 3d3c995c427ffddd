package adapter_test

import (
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// planner records what it is asked to plan.
type planner struct {
	*actortest.Platform
	caps platform.Capabilities
	mu   sync.Mutex
	got  []platform.Outbound
}

func (p *planner) Capabilities() platform.Capabilities { return p.caps }

func (p *planner) Plan(out platform.Outbound) []platform.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, out)
	return p.Platform.Plan(out)
}

// A platform is asked only for what it supports: requests and files that it cannot show reach
// people as text.
func TestMessagesFitThePlatform(t *testing.T) {
	asks := []messages.Ask{{N: 1, ApprovalID: "ask-1"}}
	files := []messages.FileRef{{Path: "/state/files/report.pdf", Kind: "document"}, {Path: "/state/files/cat.png", Kind: "photo"}}
	for name, c := range map[string]struct {
		caps  platform.Capabilities
		text  string
		asks  []messages.Ask
		kinds []string
	}{
		"all of it":      {platform.Capabilities{Outbox: true, Buttons: true, Files: platform.FileKinds()}, "May I?", asks, []string{"document", "photo"}},
		"documents only": {platform.Capabilities{Outbox: true, Files: []string{"document"}}, "May I?", nil, []string{"document", "document"}},
		"words only":     {platform.Capabilities{Outbox: true}, "May I?\n\n📎 report.pdf\n\n📎 cat.png", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
				defer func() {
					system.Shutdown()
					<-time.After(2 * time.Second) // the library's own timers
				}()
				router := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &chats{} }))
				p := &planner{Platform: &actortest.Platform{}, caps: c.caps}
				pid := system.Root.Spawn(adapter.Props(adapter.Options{Platform: p, Router: router, Logger: slog.New(slog.DiscardHandler)}))
				row := messages.RowID{MessageID: "a1"}
				for _, msg := range []any{
					messages.Deliver{ChatKey: "telegram-chat-1", Row: row, Text: "May I?", Asks: asks, Files: files},
					messages.EgressKept{ChatKey: "telegram-chat-1", Row: row, Parts: 1},
				} {
					system.Root.RequestWithCustomSender(pid, msg, router)
					synctest.Wait()
				}
				if len(p.got) != 1 {
					t.Fatalf("planned %d times", len(p.got))
				}
				out := p.got[0]
				var kinds []string
				for _, a := range out.Attachments {
					kinds = append(kinds, a.Kind)
				}
				stdtest.Diff(t, "text, requests, files", []any{c.text, c.asks, c.kinds}, []any{out.Text, out.Asks, kinds})
				stdtest.Diff(t, "people see", []string{c.text}, p.Texts("telegram-chat-1"))
				system.Root.Stop(pid)
			})
		})
	}
}
