package adapter_test

import (
	"log/slog"
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

// chats replaces the router and the chats: it records what it receives, and confirms nothing by
// itself.
type chats struct {
	mu   sync.Mutex
	told []any
}

func (c *chats) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case messages.EgressProgressed, messages.EgressDelivered:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, msg)
	}
}

func (c *chats) last() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.told) == 0 {
		return nil
	}
	return c.told[len(c.told)-1]
}

// A run may end before its chat has confirmed the receipt of the placeholder: the final text is
// then queued before that, and follows at once.
func TestFinalTextFollowsAReceiptThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
		defer func() {
			system.Shutdown()
			<-time.After(2 * time.Second) // the library's own timers
		}()
		c := &chats{}
		router := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return c }))
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}}
		pid := system.Root.Spawn(adapter.Props(adapter.Options{Platform: fake, Router: router, Logger: slog.New(slog.DiscardHandler)}))
		key := messages.ChatKey("telegram-chat-1")
		row := messages.RowID{MessageID: "a1"}
		send := func(msg any) {
			system.Root.RequestWithCustomSender(pid, msg, router)
			synctest.Wait()
		}
		send(messages.ShowDraft{ChatKey: key, Row: row, Text: "so far"})
		progressed, ok := c.last().(messages.EgressProgressed)
		if !ok || !progressed.Draft {
			t.Fatalf("the chat was told %+v, want the receipt of the placeholder", c.last())
		}
		send(messages.Deliver{ChatKey: key, Row: row, Text: "all of it"})
		send(messages.EgressKept{ChatKey: key, Row: row})
		<-time.After(10 * time.Second)
		synctest.Wait()
		delivered, ok := c.last().(messages.EgressDelivered)
		if !ok || cmp.Diff([]messages.Receipt{progressed.Receipt}, delivered.Receipts) != "" {
			t.Errorf("the chat was told %+v, want that the placeholder %s has the text", c.last(), progressed.Receipt.ID)
		}
		stdtest.Diff(t, "people see", []string{"all of it"}, fake.Texts(key))
		send(messages.EgressKept{ChatKey: key, Row: row, Parts: 1})
		system.Root.Stop(pid)
		system.Root.Stop(router)
		synctest.Wait()
	})
}
