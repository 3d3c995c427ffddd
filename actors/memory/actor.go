package memory

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// DefaultDeadline is that of [Options].
	DefaultDeadline = 3 * time.Minute
	// maxAnswer bounds the tokens of an answer, and maxKnown the part of the memory, its
	// newest, that the model is shown.
	maxAnswer, maxKnown = 4096, 8 << 10
)

// Options of extractions; one value serves all of a host.
type Options struct {
	Model model.Model
	Gate  *actor.PID // the model gate
	Store persistence.MemoryStore
	// Folded has the turns that were folded before they were read; nil: they are
	// not read any more.
	Folded persistence.FoldedReader
	// MinTurns are worth an extraction.
	MinTurns int
	// MaxChars of a memory are what it is condensed above; 0: never.
	MaxChars int
	// NoBackup: what a memory was before it was condensed is not kept.
	NoBackup bool
	Zone     *time.Location
	Deadline time.Duration // 0: [DefaultDeadline]
	Logger   *slog.Logger
}

// Props makes the actor of one extraction. It must be spawned by its chat only.
func Props(o Options) *actor.Props {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	return actor.PropsFromProducer(func() actor.Actor { return &extraction{Options: o} })
}

type extraction struct {
	Options
	home pipe.Home
	chat *actor.PID
	msg  messages.ExtractMemory
	next func(ctx context.Context) any // what the slot is for
	work work
	done messages.MemoryExtracted

	ctx    context.Context //nolint:containedctx // the actor's own life
	cancel context.CancelFunc
	alarm  *time.Timer
	asked  bool // for a slot
	over   bool // it has answered
}

// chosen: it is known which turns to read.
type chosen struct {
	work  work
	known string
}

// added: the facts are in the memory, which is as long now.
type added struct{ facts, chars int }

// condensed: the memory is shorter.
type condensed struct{}

// failed: the step under way changed nothing.
type failed struct{ why string }

// overdue: the deadline has passed.
type overdue struct{}

func (e *extraction) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		e.home, e.chat = pipe.NewHome(ac), ac.Parent()
		e.ctx, e.cancel = context.WithCancel(context.Background())
	case *actor.Stopping, *actor.Restarting:
		e.stop(ac)
	case messages.ExtractMemory:
		e.begin(msg)
	case messages.SlotGranted:
		e.granted()
	case chosen:
		e.onChosen(ac, msg)
	case added:
		e.onAdded(ac, msg)
	case condensed:
		e.done.Condensed = messages.ResultRemembered
		e.finish(ac)
	case failed:
		e.fail(ac, msg.why)
	case overdue:
		e.fail(ac, "the deadline has passed")
	default:
		stray.Report(ac)
	}
}

func (e *extraction) stop(ac actor.Context) {
	e.over = true
	e.cancel()
	if e.alarm != nil {
		e.alarm.Stop()
	}
	e.release(ac)
}

// release gives the slot back, or the place in the line.
func (e *extraction) release(ac actor.Context) {
	if e.asked {
		e.asked = false
		ac.Request(e.Gate, messages.ReleaseSlot{RunID: e.msg.ExtractionID})
	}
}

// beside runs slow work; an error of it changes nothing.
func (e *extraction) beside(work func(ctx context.Context) any) {
	ctx := e.ctx
	e.home.Go(func() any { return work(ctx) }, func(p pipe.Panicked) any { return failed{p.Error()} })
}

func (e *extraction) begin(msg messages.ExtractMemory) {
	if e.msg.ExtractionID != "" {
		return
	}
	e.msg = msg
	home, o := e.home, e.Options
	e.alarm = time.AfterFunc(e.Deadline, func() { home.Send(overdue{}) })
	e.beside(func(ctx context.Context) any {
		mark, err := o.Store.Extracted(ctx, msg.ChatKey)
		if err != nil {
			return failed{err.Error()}
		}
		known, err := o.Store.ReadMemory(ctx, persistence.MemoryPlace{Chat: msg.ChatKey})
		if err != nil {
			return failed{err.Error()}
		}
		turns, err := withFolded(ctx, o.Folded, msg.ChatKey, msg.Turns, mark)
		if err != nil {
			return failed{err.Error()}
		}
		return chosen{newWork(turns, mark, o.Zone), known}
	})
}

func (e *extraction) onChosen(ac actor.Context, msg chosen) {
	if e.over {
		return
	}
	e.work = msg.work
	e.done.Left = e.work.left
	if len(e.work.turns) == 0 || e.work.left < e.MinTurns && !e.msg.Folds {
		e.done.Result = messages.ResultFew
		e.finish(ac)
		return
	}
	w, o, about, known := e.work, e.Options, e.msg, msg.known
	e.acquire(ac, func(ctx context.Context) any {
		said, err := answer(ctx, o.Model, request(about.RequestID, extract, about.Guidance, knownLine(known)+w.material, maxAnswer))
		if err != nil {
			return failed{err.Error()}
		}
		facts, err := w.facts(said, o.Zone)
		if err != nil {
			return failed{err.Error()}
		}
		n, err := o.Store.AddExtracted(ctx, about.ChatKey, w.to, facts...)
		if err != nil {
			return failed{err.Error()}
		}
		text, _ := o.Store.ReadMemory(ctx, persistence.MemoryPlace{Chat: about.ChatKey}) // if it cannot be read, it is not condensed
		return added{n, utf8.RuneCountInString(text)}
	})
}

// knownLine is the end of what is known, as material.
func knownLine(known string) string {
	_, known = persistence.FrontMatter(known)
	if len(known) > maxKnown {
		known = known[len(known)-maxKnown:]
	}
	line, err := json.Marshal(struct {
		Known string `json:"known"`
	}{known})
	if err != nil { // Unreachable: a string encodes
		return ""
	}
	return string(line) + "\n"
}

// acquire does work that asks the model once the gate lets it.
func (e *extraction) acquire(ac actor.Context, work func(ctx context.Context) any) {
	e.next, e.asked = work, true
	ac.Request(e.Gate, messages.AcquireSlot{ChatKey: e.msg.ChatKey, RunID: e.msg.ExtractionID})
}

func (e *extraction) granted() {
	if !e.over && e.next != nil {
		e.beside(e.next)
		e.next = nil
	}
}

func (e *extraction) onAdded(ac actor.Context, msg added) {
	if e.over {
		return
	}
	e.release(ac)
	e.done.Result, e.done.Facts, e.done.Left = messages.ResultRemembered, msg.facts, e.work.left-len(e.work.turns)
	if e.MaxChars == 0 || msg.chars <= e.MaxChars {
		e.finish(ac)
		return
	}
	o, about, place := e.Options, e.msg, persistence.MemoryPlace{Chat: e.msg.ChatKey}
	e.acquire(ac, func(ctx context.Context) any {
		was, err := o.Store.ReadMemory(ctx, place)
		if err != nil {
			return failed{err.Error()}
		}
		_, body := persistence.FrontMatter(was)
		said, err := answer(ctx, o.Model, request(about.RequestID+"_c", condense, about.Guidance, body, max(maxAnswer, o.MaxChars)))
		if err != nil {
			return failed{err.Error()}
		}
		text, err := shorter(was, said, o.MaxChars)
		if err != nil {
			return failed{err.Error()}
		}
		if err := o.Store.ReplaceMemory(ctx, place, was, text, !o.NoBackup); err != nil {
			return failed{err.Error()}
		}
		return condensed{}
	})
}

// fail ends it; what was added stays.
func (e *extraction) fail(ac actor.Context, why string) {
	if e.over {
		return
	}
	e.done.Err = why
	if e.done.Result == messages.ResultRemembered {
		e.done.Condensed = messages.ResultFailed
	} else {
		e.done.Result = messages.ResultFailed
	}
	e.Logger.Warn("the chat's memory could not be written", "component", "memory", "chat_key", string(e.msg.ChatKey), "facts", e.done.Facts, "error", why)
	e.finish(ac)
}

func (e *extraction) finish(ac actor.Context) {
	if e.over {
		return
	}
	e.done.ChatKey, e.done.ExtractionID = e.msg.ChatKey, e.msg.ExtractionID
	e.over = true
	e.cancel()
	e.release(ac)
	ac.Request(e.chat, e.done) // who stops it: its end would be heard before its answer
}
