package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/actors/modelgate"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/actors/shard"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/cmd/internal/actorsystem"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/idlemem"
	"github.com/shipmyagent/shipmyagent/cmd/internal/mask"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	gateName = "modelgate"
	// spawnWithin is how long the guardian may take to spawn or stop a child.
	spawnWithin = 10 * time.Second
	// idleWorkers is how many idle goroutines are kept for actors with messages to process.
	idleWorkers = 64
)

// startActors spawns the tree of actors. It receives no messages until the platforms start.
func (h *Host) startActors(ctx context.Context) error {
	h.mask.Set(append(h.opts.Settings.Settings.Secrets(), h.login.kept)...)
	h.shelf = picture.NewShelf(h.chatFiles().ChatFiles)
	llm, err := h.newModel()
	if err != nil {
		return err
	}
	llm = mask.Model(llm, &h.mask)
	tools, err := h.newTools()
	if err != nil {
		return err
	}
	h.tools = tools
	h.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(actorsystem.Warnings{Handler: h.opts.Logger.With("component", "actors").Handler()})
	}))
	h.watchActors()
	h.workers = actorsystem.NewWorkers(idleWorkers)
	root := h.system.Root.SpawnNamed
	if _, err := root(h.workers.With(guardian.Props(guardian.Options{GiveUp: h.giveUp})), guardian.Name); err != nil {
		return &Failure{Kind: KindFailed, What: "the actors cannot be started", Why: err} // Unreachable: the name is free
	}
	h.router = guardian.PID(h.system, actorsystem.RouterName)
	h.cleanups.add("actors", h.stopActors)
	if err := h.spawn(ctx, gateName, actorsystem.Inline(modelgate.Props(modelgate.Options{
		Limits:  func() (int, int) { return h.settings().LLM.MaxConcurrency, int(h.settings().LLM.RequestsPerMinute) },
		Metrics: modelgate.NewMetrics(h.registry),
	}))); err != nil {
		return err
	}
	h.runs = run.Options{
		Model: llm, Gate: guardian.PID(h.system, gateName), Router: h.router, Tools: tools, NewID: rand.Text, Logger: h.opts.Logger.With("component", "run"),
		Metrics: run.NewMetrics(h.registry), StartMetadata: h.startMetadata, Mask: h.mask.Raw,
	}
	h.chats = h.chatOptions(tools)
	h.wireApprovals()
	h.chats.Fetch, h.chats.Whole, h.chats.Mask = h.fetchFiles(), h.wholeResult, h.mask.Text
	h.follow(*h.settings())
	chatOf := chat.Factory(func() *chat.Options { return h.current.Load().chats })
	shards := shard.Options{
		Metrics: shard.NewMetrics(h.registry),
		Chat:    func(key messages.ChatKey) *actor.Props { return h.workers.With(chatOf(key)) },
	}
	h.portMetrics = adapter.NewMetrics(h.registry)
	chatsOf := router.Options{
		Shard: func(int) *actor.Props { return actorsystem.Inline(shard.Props(shards)) },
		Most: func() (int, int64) {
			return h.settings().Limits.ActiveChats, int64(h.settings().Limits.ResidentMB) << 20
		},
		Restarted: func() {
			select {
			case h.restarted <- struct{}{}:
			default: // one is waiting already
			}
		},
	}
	if err := h.spawn(ctx, actorsystem.RouterName, actorsystem.Inline(router.Props(chatsOf))); err != nil {
		return err
	}
	h.background("memory of idle hosts", idlemem.Return)
	return nil
}

// startMetadata labels a message that is being streamed.
func (h *Host) startMetadata(runID, model string) json.RawMessage {
	all := h.modelChoices()
	chosen := max(0, slices.IndexFunc(all, func(m decision.ModelChoice) bool { return m.Name == model }))
	return uimessage.Metadata{RunID: runID, Model: all[chosen].Label, Demo: h.demo()}.Append(nil)
}

func (h *Host) chatOptions(tools *toolbox) chat.Options {
	return chat.Options{
		Options: h.machineOptions(tools),
		Store:   h.store, Spares: &sync.Pool{},
		Run: func(memo *model.Memo) *actor.Props {
			return h.workers.With(run.Props(func() *run.Options { return &h.current.Load().runs }, memo))
		},
		Logger: h.opts.Logger, Metrics: chatmetrics.New(h.registry), Audit: h.noted, RunEnded: h.runLog.AddRun,
		Forget: h.forgetChat, Files: h.files, Commands: h.commands().Answer, PrefixBroken: h.runs.Metrics.PrefixBroken,
	}
}

// machineOptions are the settings of the chats' state machines.
func (h *Host) machineOptions(tools *toolbox) decision.Options {
	s := h.opts.Settings.Settings.Context
	return decision.Options{
		Adapter: func(name string) (decision.Adapter, bool) {
			p := h.ports[name] // filled before the first message, not changed afterwards
			if p == nil {
				return decision.Adapter{}, false
			}
			return p.adapter, true
		},
		Models: h.modelChoices, MayChoose: h.commands().MayChange,
		Documents: h.documentsOf, Tools: tools.names, ToolName: tools.WireName,
		Project: h.project(), Demo: h.demo(), Location: h.zone,
		MayForget: h.mayForget, Language: h.preferences.Language, ExpectsChinese: h.docs.Chinese, ClientLanguage: h.deciders.OwnerLanguage, Paused: h.preferences.Paused, GroupContext: h.groupContext, Contexts: s.Contexts.Enabled,
		NoArchive: !s.History.ArchiveOnCompact,
	}
}

// wireCompaction lets chats compact their histories.
func (h *Host) wireCompaction(chats *chat.Options, s config.Settings) {
	history, budget := s.Context.History, agentdir.Budget(s)
	o := compaction.Options{
		Model: h.runs.Model, Gate: h.runs.Gate, Count: compaction.NewCount(), Keep: history.KeepLastMessages, Budget: budget,
		Logger: h.opts.Logger, Extract: h.demo(), // the demo model cannot summarize
		Deadline: within(compaction.DefaultDeadline, s.LLM),
	}
	chats.Compaction = func() *actor.Props { return h.workers.With(compaction.Props(o)) }
	chats.MaxTokens, chats.KeepLast = budget, history.KeepLastMessages
}

// within is how long a compaction or an extraction may take: longer than usual if the model may take long to begin.
func within(usual time.Duration, llm config.LLM) time.Duration {
	return max(usual, 2*time.Duration(llm.FirstByteS)*time.Second)
}

// stopActors lets the chats finish their work, and then stops them. Unfinished work is in the journal.
func (h *Host) stopActors(ctx context.Context) error {
	root := h.system.Root
	drained, err := await(ctx, root.RequestFuture(h.router, messages.Drain{}, drainFor))
	if _, ok := drained.(messages.Drained); err != nil || !ok {
		h.log.Info("not all work ended in time; the next start continues it")
	}
	h.endSends(ctx)
	err = h.stopChild(ctx, actorsystem.RouterName)
	_, stopErr := await(ctx, root.StopFuture(h.system.NewLocalPID(guardian.Name)))
	err = errors.Join(err, stopErr)
	h.system.Shutdown()
	h.workers.Close()
	return err
}

// endSends keeps the platforms from starting further sends, and waits briefly for those in progress: a receipt that
// arrives after the chats have stopped is lost, and people would get the message twice.
func (h *Host) endSends(ctx context.Context) {
	root := h.system.Root
	ctx, cancel := context.WithTimeout(ctx, sendsFor)
	defer cancel()
	asked := map[string]*actor.Future{} // keyed by actor, because the platforms of the web server share one
	for _, p := range h.ports {
		if asked[p.pid.Id] == nil {
			asked[p.pid.Id] = root.RequestFuture(p.pid, messages.Drain{}, sendsFor)
		}
	}
	for _, f := range asked {
		_, _ = await(ctx, f) // sends that are still in progress are recorded as uncertain
	}
}

// spawn has the guardian spawn an actor, whose props say where it runs.
func (h *Host) spawn(ctx context.Context, name string, props *actor.Props) error {
	ask := guardian.Spawn{Name: name, Props: props}
	reply, err := await(ctx, h.system.Root.RequestFuture(h.system.NewLocalPID(guardian.Name), ask, spawnWithin))
	if done, ok := reply.(guardian.Spawned); ok {
		err = done.Err
	}
	if err != nil {
		return &Failure{Kind: KindFailed, What: name + " cannot be started", Why: err}
	}
	return nil
}

// stopChild has the guardian stop an actor, and waits until it has stopped.
func (h *Host) stopChild(ctx context.Context, name string) error {
	_, err := await(ctx, h.system.Root.RequestFuture(h.system.NewLocalPID(guardian.Name), guardian.Stop{Name: name}, spawnWithin))
	return err
}

// giveUp ends the host because one of its actors keeps failing. The reason may quote people, so only its kind is
// reported.
func (h *Host) giveUp(child string, reason any) {
	why := fmt.Errorf("its actor %s panicked again and again (%s)", child, actorsystem.PanicKind(reason))
	if err, ok := reason.(error); ok && errors.Is(err, guardian.ErrEnded) {
		why = fmt.Errorf("its actor %s: %w", child, guardian.ErrEnded)
	}
	h.board.enter(StateFailed)
	h.fail(&Failure{Kind: KindFailed, What: "the host cannot go on", Why: why, Help: "sma doctor --dir " + h.folder()})
}

// wakeBatch chats are told to resume every wakeEvery. After a busy host was killed, tens of thousands may be listed,
// most of them without unfinished work. Loading them all at once would delay the chats that people write to meanwhile.
const (
	wakeBatch = 100
	wakeEvery = 10 * time.Millisecond
	// wakeAgain is how long the host waits before it reads their list again if that failed.
	wakeAgain = 2 * time.Second
)

// wake lets the chats with unfinished work resume in the background, and again after each restart of the router, which
// has stopped all chats.
func (h *Host) wake(ctx context.Context) error {
	keys, err := h.store.Waking(ctx)
	if err != nil {
		return &Failure{Kind: KindFailed, What: "the list of chats that still have work cannot be read", Why: err, Help: "sma doctor --dir " + h.folder()}
	}
	if len(keys) > 0 {
		h.log.Info("continuing chats that still had work when the host stopped", "chats", len(keys))
	}
	h.background("wake", func(ctx context.Context) {
		for {
			h.resume(ctx, keys)
			var again <-chan time.Time
			if err != nil {
				h.log.Error("the chats with unfinished work cannot be loaded", "error", err)
				again = time.After(wakeAgain)
			}
			select {
			case <-ctx.Done():
				return
			case <-h.restarted:
			case <-again:
			}
			keys, err = h.store.Waking(ctx)
		}
	})
	return nil
}

func (h *Host) resume(ctx context.Context, keys []messages.ChatKey) {
	for batch := range slices.Chunk(keys, wakeBatch) {
		for _, key := range batch {
			h.system.Root.Send(h.router, messages.WakeChat{ChatKey: key})
		}
		select {
		case <-time.After(wakeEvery):
		case <-ctx.Done():
			return
		}
	}
}

// watchActors counts and logs incidents between actors.
func (h *Host) watchActors() {
	m := actorsystem.NewIncidents(h.registry, h.log)
	h.system.EventStream.Subscribe(m.Observe)
	h.background("actor events", m.Run)
}
