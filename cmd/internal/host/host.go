package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/adapters/tool/memory"
	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/actorsystem"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/deciders"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/cmd/internal/mask"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/voices"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
)

const (
	// drainFor is how long runs and egress may take to finish after a stop.
	drainFor = 5 * time.Second
	// sendsFor is how long sends that are still in progress after that may take.
	sendsFor = time.Second
	// stopWithin bounds the rest of a stop.
	stopWithin = 4 * time.Second
)

// Host runs one project. Start and Stop are called once each, in this order, by one goroutine; the other methods are
// safe for concurrent use.
type Host struct {
	reloads   agentdir.Warned // by looks at settings and MCP servers
	opts      Options
	log       *slog.Logger
	zone      *time.Location
	mask      mask.Mask
	started   time.Time
	registry  *prometheus.Registry
	board     board
	refusals  *refusals
	fatal     chan error
	restarted chan struct{} // the router was restarted
	cleanups  cleanups
	trust     reachGate
	shipped   bool // there was a ship.json when the host was made

	docs        *agentdir.Documents
	files       *chatfile.Store
	preferences *agentdir.Preferences
	store       *filestore.Store
	index       *searchindex.Index
	memory      *memfile.Store
	skills      *skill.Catalog
	tools       *toolbox
	voices      *voices.Voices
	shelf       *picture.Shelf
	meaning     *memory.Meaning             // nil if memories are searched by words only
	embedAt     func(config.LLM) error      // of meaning
	vectors     func(context.Context) error // deletes those of meaning; nil without it
	system      *actor.ActorSystem
	workers     *actorsystem.Workers
	router      *actor.PID

	services    platforms.Table
	ports       map[string]*port
	portMetrics *adapter.Metrics
	audit       *audit.Log
	noted       func(decision.AuditEntry) // what the chats report for the audit log and traces
	runLog      *agentcontext.Log
	fires       *taskfile.Log // what happened at the times of tasks
	control     *socket
	servers     *servers      // MCP servers; nil if their approvals cannot be read
	access      *access.Store // nil if no platform needs it
	deciders    *deciders.Deciders
	budgets     *budgets.Budgets
	live        liveModels
	current     atomic.Pointer[current]
	runs        run.Options // what follows from the settings of the start; the rest is in current
	chats       chat.Options
	metricsAddr string
	webAddr     string
	login       login
	hookAddr    string // host:port of the first webhook; empty if there is none
}

// port is a platform with its connection to the actors.
type port struct {
	platform platform.Platform
	port     *adapter.Port
	pid      *actor.PID
	adapter  decision.Adapter
}

// New makes a host. It has no side effects.
func New(o Options) *Host {
	h := &Host{
		opts: o, log: o.Logger.With("component", "host"), zone: agentdir.Zone(o.Settings.Settings.Timezone), services: platforms.All(), ports: map[string]*port{},
		refusals: newRefusals(), fatal: make(chan error, 1), restarted: make(chan struct{}, 1),

		docs:   agentdir.NewDocuments(o.Dir, o.State, o.Logger.With("component", "documents")),
		skills: agentdir.SkillCatalog(o.Dir, o.State, o.Settings.Settings.Skills),
	}
	h.current.Store(&current{Settings: o.Settings.Settings, choices: endpoints.Answering(o.Settings.Settings.LLM)})
	h.deciders = h.newDeciders()
	_, missing := os.Stat(filepath.Join(o.Dir, config.FileName))
	h.shipped = missing == nil
	return h
}

// Start builds everything and returns once messages are accepted. Its errors are [*Failure]; after one, everything
// that was started has been stopped.
func (h *Host) Start(ctx context.Context) error {
	h.started = time.Now()
	h.registry = newRegistry(h.opts.Version)
	h.board.enter(StateStarting)
	for _, step := range []func(context.Context) error{
		h.mayReach, h.readDocuments, h.tellSystemShare, h.openStore, h.finishForgetting, h.readLogin, h.makeIndex, h.startAudit, h.startRunLog, h.startObserving, h.startActors, h.startControl, h.startPlatforms, h.startScheduler, h.startRetention,
	} {
		if err := step(ctx); err != nil {
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
			defer cancel()
			return errors.Join(h.unwritable(err), h.cleanups.run(stop, h.log))
		}
	}
	h.watchFiles()
	h.board.enter(StateReady)
	return nil
}

// Stop accepts no more messages, gives runs and egress a few seconds to finish, leaves the rest in the journal and
// stops everything. ctx may shorten that.
func (h *Host) Stop(ctx context.Context) error {
	h.board.enter(StateDraining)
	ctx, cancel := context.WithTimeout(ctx, drainFor+stopWithin)
	defer cancel()
	return h.cleanups.run(ctx, h.log)
}

// Fatal receives a [*Failure] when the host cannot continue. The process should then stop the host and exit with that
// failure.
func (h *Host) Fatal() <-chan error { return h.fatal }

// fail reports a failure after which the host cannot continue; only the first one counts.
func (h *Host) fail(f *Failure) {
	select {
	case h.fatal <- f:
	default:
	}
}

// Status returns the current status of the host.
func (h *Host) Status(ctx context.Context) Status {
	out := Status{
		Project: h.project(), Dir: h.opts.Dir, Version: h.opts.Version, PID: os.Getpid(), Started: h.started,
		Model: h.modelLabel(), Demo: h.demo(), Metrics: h.metricsAddr,
	}
	h.board.fill(&out)
	out.Why = out.NotReady()
	out.Ready = out.Why == ""
	if out.State == StateStarting {
		return out
	}
	out.Chats, out.Alive = h.countChats(ctx)
	out.Models = h.models()
	h.nameBots(out.Platforms)
	return out
}

// countChats asks the router, and reports whether it answered.
func (h *Host) countChats(ctx context.Context) (ChatCounts, bool) {
	reply, err := await(ctx, h.system.Root.RequestFuture(h.router, messages.StatsQuery{}, time.Second))
	stats, ok := reply.(messages.StatsReply)
	return ChatCounts{Active: stats.Active}, ok && err == nil
}

// await returns the result of a future, or ctx's cause if ctx ends first.
func await(ctx context.Context, f *actor.Future) (any, error) {
	type result struct {
		value any
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f.Result()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// background runs work in a goroutine. Its cleanup cancels the work and waits for it to end.
func (h *Host) background(name string, work func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				h.log.Error("a component of the host panicked", "part", name, "panic", v)
			}
		}()
		work(ctx)
	})
	h.cleanups.add(name, func(context.Context) error {
		cancel()
		wg.Wait()
		return nil
	})
}

// cleanups are the steps of a shutdown, in the order in which their parts were started.
type cleanups struct{ steps []cleanup }

type cleanup struct {
	name string
	run  func(ctx context.Context) error
}

func (c *cleanups) add(name string, run func(ctx context.Context) error) {
	c.steps = append(c.steps, cleanup{name, run})
}

// grace is how much time each step still gets after the deadline, since the last steps flush and close what the
// others used.
const grace = 250 * time.Millisecond

// run executes all steps in reverse order, once. A step that fails or times out does not stop the next one.
func (c *cleanups) run(ctx context.Context, log *slog.Logger) error {
	steps := c.steps
	c.steps = nil
	var errs []error
	for _, s := range slices.Backward(steps) {
		done := make(chan error, 1)
		go func() { done <- guarded(ctx, s) }()
		if err := inTime(ctx, done); err != nil {
			log.Warn("a component did not stop cleanly", "part", s.name, "error", err)
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	return errors.Join(errs...)
}

// inTime waits for a step until grace after ctx ends.
func inTime(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return context.Cause(ctx)
	}
}

func guarded(ctx context.Context, s cleanup) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return s.run(ctx)
}
