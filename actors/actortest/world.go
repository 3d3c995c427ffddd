package actortest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/memory"
	"github.com/shipmyagent/shipmyagent/actors/modelgate"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/actors/shard"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// Options configure a world.
type Options struct {
	Store    persistence.Store
	Model    model.Model
	Platform *Platform
	// Real replaces Platform, for example with a bot whose service is a fake.
	Real  platform.Platform
	Tools []tool.Tool
	Chat  chat.Options // overrides the defaults
	Idle  time.Duration
	Slots int
	// MaxChats and MaxBytes limit the chats in memory; 0 means no limit.
	MaxChats int
	MaxBytes int64
	// Validate checks inputs of tools; nil accepts all.
	Validate func(name string, input json.RawMessage) error
	// Fail, if set, may refuse a call of the store.
	Fail func(op string) error
	// Compaction makes chats compact their histories; its limits are those of the chats. If nil,
	// histories only grow.
	Compaction *compaction.Options
	// Memory makes chats extract facts; its number of turns is that of the chats. If nil, they
	// extract none.
	Memory *memory.Options
	// Rules are the operator's rules for commands; without any, grants have no effect either.
	Rules run.Rules
	// Skills adds the skills of a project to the documents of chats; may be nil.
	Skills func(d *decision.Documents)
	// Log receives the logs of the actors; may be nil.
	Log *slog.Logger
}

// World is a tree of actors.
type World struct {
	t        testing.TB
	o        Options
	System   *actor.ActorSystem
	Router   *actor.PID
	Port     *adapter.Port
	Platform *Platform
	Registry *prometheus.Registry
	store    *mortal
	next     int
}

// New starts a world and wakes the chats that its store lists.
func New(tb testing.TB, o Options) *World {
	tb.Helper()
	if o.Platform == nil {
		o.Platform = &Platform{Caps: platform.Capabilities{Outbox: true}}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w := &World{
		t: tb, o: o, Platform: o.Platform, Registry: prometheus.NewRegistry(), store: newMortal(o.Store, o.Fail),
		System: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return o.Log })),
	}
	w.spawn()
	tb.Cleanup(w.Kill)
	waking, err := o.Store.Waking(context.Background())
	stdtest.Must(tb, err)
	for _, key := range waking {
		w.System.Root.Send(w.Router, messages.WakeChat{ChatKey: key})
	}
	return w
}

func (w *World) spawn() {
	root := w.System.Root
	gate := root.Spawn(modelgate.Props(modelgate.Options{Limits: func() (int, int) { return w.o.Slots, 0 }, Metrics: modelgate.NewMetrics(w.Registry)}))
	routerPID := w.System.NewLocalPID("router")
	adapterPID := w.System.NewLocalPID(adapter.Name("telegram"))
	set := Set{Check: w.o.Validate}
	set.Add(w.o.Tools...)
	runs := run.Options{
		Model: w.o.Model, Gate: gate, Router: routerPID, Tools: &set, NewID: rand.Text, Logger: w.o.Log,
		Metrics: run.NewMetrics(w.Registry), Rules: w.o.Rules,
		Jitter: Half,
	}
	options := w.chatOptions(runs, adapterPID)
	options.Router = routerPID
	chats := options.Complete()
	shards := shard.Options{
		Idle: w.o.Idle, Metrics: shard.NewMetrics(w.Registry),
		Chat: chat.Factory(func() *chat.Options { return chats }),
	}
	chatsOf := router.Options{
		Shard: func(int) *actor.Props { return shard.Props(shards) }, Most: func() (int, int64) { return w.o.MaxChats, w.o.MaxBytes },
	}
	var err error
	if w.Router, err = root.SpawnNamed(router.Props(chatsOf), "router"); err != nil {
		w.t.Fatal(err)
	}
	metrics := adapter.NewMetrics(w.Registry)
	props := adapter.Props(adapter.Options{Platform: w.real(), Router: w.Router, Logger: w.o.Log, Metrics: metrics, Jitter: Half})
	pid, err := root.SpawnNamed(props, adapter.Name("telegram"))
	stdtest.Must(w.t, err)
	w.Port = adapter.NewPort(w.System, pid, adapter.PortOptions{Platform: "telegram"})
}

// Half is a jitter without randomness, which makes waits reproducible.
func Half(d time.Duration) time.Duration { return d / 2 }

// real returns the platform that the adapter actor uses.
func (w *World) real() platform.Platform {
	if w.o.Real != nil {
		return w.o.Real
	}
	return w.Platform
}

func (w *World) chatOptions(runs run.Options, adapterPID *actor.PID) chat.Options {
	o := w.o.Chat
	o.Store, o.Spares, o.Logger, o.Metrics, o.Location = w.store, &sync.Pool{}, w.o.Log, chatmetrics.New(w.Registry), time.UTC
	if o.MayDecide == nil { // the one person of a private chat
		o.MayDecide = func(c approval.Claim) bool { return !c.Group }
	}
	o.Run = func(memo *model.Memo) *actor.Props { return run.Props(func() *run.Options { return &runs }, memo) }
	if o.PrefixBroken == nil && (w.o.Compaction != nil || w.o.Memory != nil) {
		o.PrefixBroken = runs.Metrics.PrefixBroken
	}
	if w.o.Compaction != nil {
		compacts := *w.o.Compaction
		compacts.Model, compacts.Gate, compacts.Logger = runs.Model, runs.Gate, w.o.Log
		o.Compaction = func() *actor.Props { return compaction.Props(compacts) }
		o.MaxTokens, o.KeepLast = compacts.Budget, compacts.Keep
	}
	o.Documents = func(messages.ChatKey) decision.Documents { return decision.Documents{Agent: "Be kind."} }
	if w.o.Memory != nil {
		w.remember(&o, runs)
	}
	if documents := o.Documents; w.o.Skills != nil {
		o.Documents = func(key messages.ChatKey) decision.Documents {
			d := documents(key)
			w.o.Skills(&d)
			return d
		}
	}
	o.Tools = func(_ messages.ChatKey, toolEgress bool) (names, later []string) {
		for _, t := range w.o.Tools {
			if name := t.Spec().Name; toolEgress || name != "chat_send" {
				names = append(names, name)
			}
		}
		return names, nil
	}
	o.Adapter = func(name string) (decision.Adapter, bool) {
		if name != "telegram" && (w.o.Real == nil || name != w.o.Real.Name()) {
			return decision.Adapter{}, false
		}
		caps := w.real().Capabilities()
		return decision.Adapter{
			Ref: adapterPID, Outbox: caps.Outbox, ToolEgress: caps.ToolEgress, Drafts: caps.Drafts, Reactions: caps.Reactions, MaxText: caps.MaxText, Documents: caps.Sends(platform.FileDocument),
			Parts: func(text string) int { return len(w.Platform.Plan(platform.Outbound{Text: text})) },
		}, true
	}
	return o
}

// remember makes chats extract facts, and use them.
func (w *World) remember(o *chat.Options, runs run.Options) {
	facts := *w.o.Memory
	facts.Model, facts.Gate, facts.Logger, facts.Zone = runs.Model, runs.Gate, w.o.Log, time.UTC
	o.Memory, o.MemoryTurns = func() *actor.Props { return memory.Props(facts) }, facts.MinTurns
	read := func(place memories.Place) string {
		text, err := facts.Store.ReadMemory(context.Background(), place)
		if err != nil {
			w.t.Error(err)
		}
		return text
	}
	o.Documents = func(key messages.ChatKey) decision.Documents {
		return decision.Documents{
			Agent: "Be kind.\n# Memory\nKeep what people like.", ChatMemory: read(memories.Place{Chat: key}),
			UserMemory: func(userKey string) string { return read(memories.Place{User: userKey}) },
		}
	}
}

// Inbound is a message of a person, addressed to the bot.
func (w *World) Inbound(key messages.ChatKey, who, text string) platform.Inbound {
	w.next++
	return Inbound(key, w.next, who, text, w.Platform.Next())
}

// Inbound is the n-th message of a person, addressed to the bot; order is its position among the
// messages of all.
func Inbound(key messages.ChatKey, n int, who, text string, order int64) platform.Inbound {
	id, chatType := strconv.Itoa(n), messages.ChatPrivate
	if a, _ := key.Address(); strings.HasPrefix(a.Chat, "-") {
		chatType = messages.ChatSupergroup
	}
	in := platform.Inbound{
		ChatKey: key, IngressID: id, RequestID: "q" + id, Kind: platform.KindMessage, MessageID: id, Text: text, Time: time.Now(), Order: order,
		Chat: platform.ChatInfo{ID: "1", Type: chatType}, Sender: platform.Person{ID: who, Name: who}, Gate: platform.Gate{Open: true, Reason: "private"},
	}
	if name, ok := strings.CutPrefix(text, "/"); ok {
		in.Kind = platform.KindCommand
		in.Command.Name, in.Command.Args, _ = strings.Cut(name, " ")
	}
	return in
}

// Say delivers a message and returns the result; it must be accepted.
func (w *World) Say(key messages.ChatKey, who, text string) platform.Result {
	w.t.Helper()
	r := w.Port.Accept(context.Background(), []platform.Inbound{w.Inbound(key, who, text)})[0]
	if r.Err != nil {
		w.t.Fatalf("say %q: %v", text, r.Err)
	}
	return r
}

// View returns the chat as readers see it.
func (w *World) View(key messages.ChatKey) platform.ChatView {
	w.t.Helper()
	v, err := w.Port.History(context.Background(), key)
	if err != nil {
		w.t.Fatalf("view of %s: %v", key, err)
	}
	return v
}

// Wait returns when everything that needs no time has happened.
func (*World) Wait() { synctest.Wait() }

// Kill ends the world like SIGKILL: nothing is written any more. The bubble may end after it:
// actors are stopped and timers of the library have expired.
func (w *World) Kill() {
	if w.System == nil {
		return
	}
	w.store.kill()
	root := w.System.Root
	root.Stop(w.Router)
	root.Stop(w.System.NewLocalPID(adapter.Name("telegram")))
	synctest.Wait()
	w.System.Shutdown()
	w.System = nil
	<-time.After(2 * time.Minute) // fake time: expires timers of ended actors and of the dead-letter log
}

// Again starts another world with the same store and platform.
func (w *World) Again(change func(*Options)) *World {
	w.t.Helper()
	w.Kill()
	o := w.o
	if change != nil {
		change(&o)
	}
	next := New(w.t, o)
	next.next = w.next
	return next
}

// Metric is the value of a metric without labels: of a counter or gauge, or the number of
// observations of a histogram.
func (w *World) Metric(name string) float64 {
	w.t.Helper()
	families, err := w.Registry.Gather()
	stdtest.Must(w.t, err)
	for _, f := range families {
		if f.GetName() == name {
			m := f.GetMetric()[0]
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	w.t.Fatalf("no metric %s", name)
	return 0
}
