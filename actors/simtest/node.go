package simtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/modelgate"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/actors/shard"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
)

type node struct {
	store  *disk
	router *actor.PID
	port   *adapter.Port
	set    actortest.Set
	runs   int
	gate   *actor.PID
	quiet  *slog.Logger
}

// boot starts a process: the actors, and the delivery of what waits on the platform.
func (s *Sim) boot() {
	s.sched.next()
	l := &life{sim: s, n: s.sched.life, ended: make(chan struct{})}
	s.life = l
	store, err := s.o.Disk.Open()
	if err != nil {
		s.failf("the store does not open: %v", err)
		return
	}
	l.store = newDisk(l, store)
	l.tools()
	l.spawn()
	waking, err := store.Waking(context.Background())
	if err != nil {
		s.failf("the chats to wake cannot be listed: %v", err)
	}
	for _, key := range waking {
		s.system.Root.Send(l.router, messages.WakeChat{ChatKey: key})
	}
	s.trace.addf("boot %d, waking %v", l.n, waking)
	l.start("receiver", l.receive)
	s.sched.settle()
}

func (l *life) spawn() {
	s, root, quiet := l.sim, l.sim.system.Root, slog.New(slog.DiscardHandler)
	l.quiet = quiet
	suffix := "-" + itoa(l.n)
	routerPID := s.system.NewLocalPID("router" + suffix)
	adapterPID := s.system.NewLocalPID(adapter.Name("telegram") + suffix)
	l.gate = root.Spawn(l.props("gate", modelgate.Props(modelgate.Options{Limits: func() (int, int) { return s.setup.slots, 0 }})))
	runs := run.Options{
		Gate: l.gate, Router: routerPID, Tools: &l.set, NewID: rand.Text, Logger: quiet, Jitter: actortest.Half,
	}
	o := chat.Options{
		Store: l.store, Spares: &sync.Pool{}, Logger: quiet,
		Commands: func(decision.Command) (string, bool) { return "At your command: " + s.token(), true },
	}
	o.Options = decision.Options{
		Location: time.UTC, Mode: s.setup.mode, MaxQueued: s.setup.lane, MayDecide: func(c approval.Claim) bool { return !c.Group || c.Person == "alice" },
		Adapter: func(string) (decision.Adapter, bool) {
			return decision.Adapter{Ref: adapterPID, Outbox: true, ToolEgress: s.setup.toolEgress, Drafts: s.setup.drafts}, true
		},
		Documents: func(messages.ChatKey) decision.Documents { return decision.Documents{Agent: agent} },
		Tools:     func(messages.ChatKey, bool) (offered, later []string) { return l.set.Names, nil },
		Contexts:  s.o.Compacts,
	}
	shards := shard.Options{
		Idle: s.setup.idle,
		Chat: func(key messages.ChatKey) *actor.Props {
			options := l.chat(key, o, runs).Complete()
			return l.props("chat "+string(key), chat.Factory(func() *chat.Options { return options })(key))
		},
	}
	routes := router.Options{Shard: func(n int) *actor.Props { return l.props("shard "+itoa(n), shard.Props(shards)) }}
	l.router = l.named(l.props("router", router.Props(routes)), "router"+suffix)
	to := adapter.Options{Platform: simPlatform{l}, Router: l.router, Logger: quiet, Jitter: actortest.Half}
	pid := l.named(l.props("adapter", adapter.Props(to)), adapter.Name("telegram")+suffix)
	l.port = adapter.NewPort(s.system, pid, adapter.PortOptions{Platform: "telegram"})
}

// chat returns the options of one chat, whose requests are checked.
func (l *life) chat(key messages.ChatKey, o chat.Options, runs run.Options) chat.Options {
	runs.Model = l.of(key)
	o.Run = func(memo *model.Memo) *actor.Props {
		l.runs++
		return l.props("run "+itoa(l.runs), run.Props(func() *run.Options { return &runs }, memo))
	}
	o.PrefixBroken = func(cause string) { l.sim.witness(key).excuse(cause) }
	if f := l.sim.setup.compacting; f.budget > 0 {
		o.MaxTokens, o.KeepLast = f.budget, f.keep
		o.Compaction = func() *actor.Props {
			l.runs++
			return l.props("compaction "+itoa(l.runs), compaction.Props(l.compactions(l.of(key))))
		}
	}
	return o
}

func (l *life) named(p *actor.Props, name string) *actor.PID {
	pid, err := l.sim.system.Root.SpawnNamed(p, name)
	if err != nil {
		l.sim.failf("spawn of %s: %v", name, err)
	}
	return pid
}

// validate checks an input: it is an object with a number.
func validate(_ string, input json.RawMessage) error {
	var in struct {
		K *int `json:"k"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	if in.K == nil {
		return errInput
	}
	return nil
}
