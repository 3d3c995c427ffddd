package memory

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/errand"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

const (
	// DefaultDeadline is the default of Options.Deadline.
	DefaultDeadline = 3 * time.Minute
	// maxAnswer bounds the tokens of an answer, and maxKnown how much of the memory, its newest part,
	// the model is shown.
	maxAnswer, maxKnown = 4096, 8 << 10
)

// Options configure extractions; one value serves all of a host.
type Options struct {
	Model model.Model
	Gate  *actor.PID // the model gate
	Store persistence.MemoryStore
	// Archives reads the turns that were compacted before an extraction read them; if nil, those turns
	// are skipped.
	Archives persistence.ArchiveReader
	// MinTurns is how many new turns an extraction needs.
	MinTurns int
	// MaxChars is the length above which a memory is condensed; 0 means never.
	MaxChars int
	// NoBackup is set to keep no copy of a memory that is condensed.
	NoBackup bool
	Zone     *time.Location
	Deadline time.Duration // 0 means [DefaultDeadline]
	Logger   *slog.Logger
}

// Props makes the actor of one extraction. Only its chat may spawn it.
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
	errand.Errand
	msg  messages.ExtractMemory
	work work
	done messages.MemoryExtracted
}

// chosen reports which turns to read.
type chosen struct {
	work  work
	known string
}

// added reports that the facts are in the memory, and its length.
type added struct{ facts, dropped, chars int }

// condensed reports that the memory was condensed.
type condensed struct{}

func (e *extraction) Receive(ac actor.Context) {
	switch msg := e.Errand.Receive(ac, e.Gate).(type) {
	case nil:
	case messages.ExtractMemory:
		e.begin(msg)
	case chosen:
		e.onChosen(ac, msg)
	case added:
		e.onAdded(ac, msg)
	case condensed:
		e.done.Condensed = messages.ResultRemembered
		e.finish(ac)
	case errand.Failed:
		e.fail(ac, msg.Why)
	default:
		stray.Report(ac)
	}
}

func (e *extraction) begin(msg messages.ExtractMemory) {
	if !e.Begin(msg.ChatKey, msg.ExtractionID, e.Deadline) {
		return
	}
	e.msg = msg
	o := e.Options
	e.Go(func(ctx context.Context) (any, error) {
		mark, err := o.Store.Extracted(ctx, msg.ChatKey)
		if err != nil {
			return nil, err
		}
		known, err := o.Store.ReadMemory(ctx, memories.Place{Chat: msg.ChatKey})
		if err != nil {
			return nil, err
		}
		turns, err := withArchived(ctx, o.Archives, msg.ChatKey, msg.Turns, mark)
		if err != nil {
			return nil, err
		}
		w := newWork(turns, mark, o.Zone)
		w.group = msg.Group || w.people() > 1
		return chosen{w, known}, nil
	})
}

func (e *extraction) onChosen(ac actor.Context, msg chosen) {
	e.work = msg.work
	e.done.Left = e.work.left
	if len(e.work.turns) == 0 || e.work.left < e.MinTurns && !e.msg.Compacts {
		e.done.Result = messages.ResultFew
		e.finish(ac)
		return
	}
	w, o, about, known := e.work, e.Options, e.msg, msg.known
	e.Acquire(ac, func(ctx context.Context) (any, error) {
		said, err := answer(ctx, o.Model, errand.Question{
			ID: about.RequestID, Instructions: w.question(), Guidance: about.Guidance, Material: knownLine(known) + w.material, MaxTokens: maxAnswer, Model: model.Memory, Payer: payer(about),
		})
		if err != nil {
			return nil, err
		}
		facts, dropped, err := w.facts(said, o.Zone)
		if err != nil {
			return nil, err
		}
		n, err := o.Store.AddExtracted(ctx, about.ChatKey, w.to, facts...)
		if err != nil {
			return nil, err
		}
		text, _ := o.Store.ReadMemory(ctx, memories.Place{Chat: about.ChatKey}) // if it cannot be read, it is not condensed
		return added{n, dropped, utf8.RuneCountInString(text)}, nil
	})
}

// payer is on whose account an extraction is.
func payer(msg messages.ExtractMemory) model.Payer {
	return model.Payer{Chat: msg.ChatKey, Work: model.WorkMemory}
}

// knownLine is the end of the known memory, as material.
func knownLine(known string) string {
	_, known = memories.FrontMatter(known)
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

func (e *extraction) onAdded(ac actor.Context, msg added) {
	e.Release(ac)
	e.done.Result, e.done.Facts, e.done.Dropped = messages.ResultRemembered, msg.facts, msg.dropped
	e.done.Left = e.work.left - len(e.work.turns)
	if e.MaxChars == 0 || msg.chars <= e.MaxChars {
		e.finish(ac)
		return
	}
	if e.work.group {
		e.forget()
		return
	}
	o, about, place := e.Options, e.msg, memories.Place{Chat: e.msg.ChatKey}
	e.Acquire(ac, func(ctx context.Context) (any, error) {
		was, err := o.Store.ReadMemory(ctx, place)
		if err != nil {
			return nil, err
		}
		known, statements := memories.SplitStatements(was)
		_, body := memories.FrontMatter(known)
		said, err := answer(ctx, o.Model, errand.Question{
			ID: about.RequestID + "_c", Instructions: condense, Guidance: about.Guidance, Material: body, MaxTokens: max(maxAnswer, o.MaxChars), Model: model.Memory, Payer: payer(about),
		})
		if err != nil {
			return nil, err
		}
		text, err := shorter(known, said, o.MaxChars-utf8.RuneCountInString(statements))
		if err != nil {
			return nil, err
		}
		if err := o.Store.ReplaceMemory(ctx, place, was, text+statements, !o.NoBackup); err != nil {
			return nil, err
		}
		return condensed{}, nil
	})
}

// forget shortens the memory of a group by dropping the oldest statements. It does not ask the
// model, which could turn what a person said into facts.
func (e *extraction) forget() {
	o, place := e.Options, memories.Place{Chat: e.msg.ChatKey}
	e.Go(func(ctx context.Context) (any, error) {
		was, err := o.Store.ReadMemory(ctx, place)
		if err != nil {
			return nil, err
		}
		text, ok := memories.DropStatements(was, o.MaxChars)
		if !ok {
			return nil, errKnown
		}
		if err := o.Store.ReplaceMemory(ctx, place, was, text, !o.NoBackup); err != nil {
			return nil, err
		}
		return condensed{}, nil
	})
}

// fail ends the extraction; facts that were added stay.
func (e *extraction) fail(ac actor.Context, why string) {
	if e.done.Result == messages.ResultRemembered {
		e.done.Condensed = messages.ResultFailed
	} else {
		e.done.Result = messages.ResultFailed
	}
	e.Logger.Warn("the chat's memory could not be written", "component", "memory", "chat_key", string(e.msg.ChatKey), "facts", e.done.Facts, "error", why)
	e.finish(ac)
}

func (e *extraction) finish(ac actor.Context) {
	e.done.ChatKey, e.done.ExtractionID = e.msg.ChatKey, e.msg.ExtractionID
	e.Answer(ac, e.done)
}
