package longchat

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/modelgate"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/actors/shard"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

const key = messages.ChatKey("telegram-chat-7")

// world is a host with one platform, without settings, sockets and a service.
type world struct {
	registry *prometheus.Registry
	system   *actor.ActorSystem
	store    *filestore.Store
	port     *adapter.Port
	sink     *sink
	model    *talker
	meter    *meter
	turns    int
}

// Budgets as they are by default.
const (
	budget = 12_000
	keep   = 30
)

// newWorld makes a world on the machine's disk. The model sums makes its summaries; without one,
// nothing is compacted.
func newWorld(t *testing.T, dir string, sums model.Model) *world {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: dir})
	stdtest.Must(t, err)
	return newWorldOn(t, store, dir, sums)
}

// newWorldOn makes a world with a store, which it closes; dir is for the log of runs.
func newWorldOn(t *testing.T, store *filestore.Store, dir string, sums model.Model) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	w := &world{registry: prometheus.NewRegistry(), sink: &sink{sent: make(chan string, 64)}, model: &talker{}, meter: newMeter(t)}
	t.Cleanup(func() { _ = store.Close() })
	w.store = store
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }))
	w.system = system
	root, routerPID := system.Root, system.NewLocalPID("router")
	gate := root.Spawn(modelgate.Props(modelgate.Options{Limits: func() (int, int) { return 0, 0 }, Metrics: modelgate.NewMetrics(w.registry)}))
	runs := run.Options{
		Model: w.model, Gate: gate, Router: routerPID, Tools: noTools{}, NewID: rand.Text, Logger: log, Metrics: run.NewMetrics(w.registry),
	}
	adapterPID := system.NewLocalPID(adapter.Name("telegram"))
	chats := chat.Options{
		Store: store, Run: func(memo *model.Memo) *actor.Props { return run.Props(func() *run.Options { return &runs }, memo) }, Logger: log,
		Options: decision.Options{
			Location:  time.UTC,
			Adapter:   func(string) (decision.Adapter, bool) { return decision.Adapter{Ref: adapterPID, Outbox: true}, true },
			Documents: func(messages.ChatKey) decision.Documents { return decision.Documents{Agent: "Be kind."} },
			Tools:     func(messages.ChatKey, bool) (offered, later []string) { return nil, nil },
		},
		Spares: &sync.Pool{}, Metrics: chatmetrics.New(w.registry), RunEnded: w.runLog(t, dir, log).AddRun,
	}
	if sums != nil {
		compacts := compaction.Options{
			Model: sums, Gate: gate, Count: compaction.NewCount(), Keep: keep, Budget: budget, Deadline: time.Hour, Logger: log,
		}
		chats.Compaction = func() *actor.Props { return compaction.Props(compacts) }
		chats.MaxTokens, chats.KeepLast, chats.PrefixBroken = budget, keep, runs.Metrics.PrefixBroken
	}
	options := chats.Complete()
	shards := shard.Options{Metrics: shard.NewMetrics(w.registry), Chat: chat.Factory(func() *chat.Options { return options })}
	if _, err := root.SpawnNamed(router.Props(router.Options{Shard: func(int) *actor.Props { return shard.Props(shards) }}), "router"); err != nil {
		t.Fatal(err)
	}
	metrics := adapter.NewMetrics(w.registry)
	props := adapter.Props(adapter.Options{Platform: w.sink, Router: routerPID, Logger: log, Metrics: metrics})
	if _, err := root.SpawnNamed(props, adapter.Name("telegram")); err != nil {
		t.Fatal(err)
	}
	w.port = adapter.NewPort(system, adapterPID, adapter.PortOptions{Platform: "telegram"})
	t.Cleanup(func() {
		_ = root.StopFuture(routerPID).Wait() // then the chat's handle is closed
		system.Shutdown()
	})
	return w
}

// fillNames uses every one of the 32,768 maps of the actor library's table of names
// once. They are made at their first use and stay, 9 MB for a whole host however many
// chats it has: what grows after this grows because of the chat.
func fillNames(system *actor.ActorSystem) {
	for i := range 400_000 {
		name := "warm-" + strconv.Itoa(i)
		bucket := system.ProcessRegistry.LocalPIDs.GetBucket(name)
		bucket.Set(name, nil)
		bucket.Remove(name)
	}
}

// runLog is the log of runs, as a host has it.
func (w *world) runLog(t *testing.T, dir string, log *slog.Logger) *agentcontext.Log {
	t.Helper()
	l := agentcontext.New(agentcontext.Options{Dir: dir + "/memory/agent-context", Folder: chatpath.Encode, Logger: log, Registerer: w.registry})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return l
}

// turn says something and waits for the answer.
func (w *world) turn(t *testing.T) {
	t.Helper()
	w.turnIn(t, key)
}

func (w *world) turnIn(t *testing.T, key messages.ChatKey) {
	t.Helper()
	w.turns++
	id := strconv.Itoa(w.turns)
	in := platform.Inbound{
		ChatKey: key, IngressID: id, RequestID: "q" + id, Kind: platform.KindMessage, MessageID: id, Time: time.Now(),
		Text: "Question " + id + ": what do the figures of last week say, and what follows from them?",
		Chat: platform.ChatInfo{ID: "7", Type: "private"}, Sender: platform.Person{ID: "1", Name: "alice"},
		Gate: platform.Gate{Open: true, Reason: "private"},
	}
	if r := w.port.Accept(t.Context(), []platform.Inbound{in})[0]; r.Err != nil {
		t.Fatalf("turn %d: %v", w.turns, r.Err)
	}
	select {
	case text := <-w.sink.sent:
		if !strings.HasPrefix(text, "Answer ") {
			t.Fatalf("turn %d was answered with %q", w.turns, text)
		}
	case <-time.After(time.Minute):
		t.Fatalf("turn %d has no answer after a minute", w.turns)
	}
}

// sink is a platform where every message arrives at once.
type sink struct {
	sent chan string
	n    int
}

func (*sink) Name() string { return "telegram" }

func (*sink) Capabilities() platform.Capabilities { return platform.Capabilities{Outbox: true} }

func (*sink) Receive(ctx context.Context, _ platform.Host) error {
	<-ctx.Done()
	return nil
}

func (*sink) Plan(out platform.Outbound) []platform.Part { return []platform.Part{{Text: out.Text}} }

func (s *sink) Send(ctx context.Context, _ platform.Target, part platform.Part) (messages.Receipt, error) {
	s.n++ // one part of a chat at a time; before the test reads the answer, so that it may read n then
	id := s.n
	select {
	case s.sent <- part.Text:
	case <-ctx.Done():
		return messages.Receipt{}, context.Cause(ctx)
	}
	return messages.Receipt{ID: strconv.Itoa(id), Order: int64(id)}, nil
}

// talker is a model that answers everything with a few lines, and keeps nothing.
type talker struct{}

func (talker) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	text := fmt.Sprintf("Answer to %d messages.\n\n", len(req.Messages)) + strings.Repeat("The figures say that it goes on as it was. ", 6)
	events := []model.Event{
		{Kind: model.EventStreamStart},
		{Kind: model.EventTextStart, ID: "0"},
		{Kind: model.EventTextDelta, ID: "0", Delta: text},
		{Kind: model.EventTextEnd, ID: "0"},
		{Kind: model.EventFinish, Finish: model.FinishReason{Unified: "stop", Raw: "stop"}},
	}
	return func(yield func(model.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// noTools: the model has none.
type noTools struct{}

func (noTools) Find(string) (tool.Tool, bool) { return nil, false }

func (noTools) Validate(string, json.RawMessage) error { return nil }

func (noTools) Cap(_ context.Context, _ tool.Call, output json.RawMessage) json.RawMessage {
	return output
}

func (noTools) Wire(spec tool.Spec) (string, json.RawMessage) { return spec.Name, spec.InputSchema }

func (noTools) Name(wire string) string { return wire }
