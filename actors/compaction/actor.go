package compaction

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/errand"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Defaults of [Options].
const (
	DefaultDeadline  = 2 * time.Minute
	DefaultMaxTokens = 2048
)

// Options configure compactions; one value serves all of a host.
type Options struct {
	Model model.Model
	Gate  *actor.PID // the model gate
	// Count counts tokens; see [NewCount]. It is called outside the actor's goroutine.
	Count  func(text string) (int, error)
	Keep   int // turns that stay, at least
	Budget int // tokens of system text and messages
	// MaxTokens bounds a summary; 0 means [DefaultMaxTokens].
	MaxTokens int
	Deadline  time.Duration // 0 means [DefaultDeadline]
	// Extract makes all summaries without the model, from the text of the turns.
	Extract bool
	Logger  *slog.Logger
}

// NewCount returns a function that counts tokens. The tables are read at the first call; all compactions of a host share
// one function.
func NewCount() func(text string) (int, error) { return tokens.NewCounter().Count }

// Props makes the actor of one compaction. Only its chat may spawn it.
func Props(o Options) *actor.Props {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	return actor.PropsFromProducer(func() actor.Actor { return &compaction{Options: o} })
}

type compaction struct {
	Options
	errand.Errand
	msg  messages.Compact
	plan plan
}

// errEmpty says that the model wrote no summary. Identifiers alone must not replace turns.
var errEmpty = errors.New("the summary is empty")

// planned reports that the turns are counted and chosen.
type planned struct{ plan plan }

// written reports that the model has made a summary.
type written struct{ summary string }

func (c *compaction) Receive(ac actor.Context) {
	switch msg := c.Errand.Receive(ac, c.Gate).(type) {
	case nil:
	case messages.Compact:
		c.begin(msg)
	case planned:
		c.onPlanned(ac, msg)
	case written:
		c.summed(ac, messages.ResultCompacted, msg.summary)
	case errand.Failed:
		c.fail(ac, msg.Why)
	default:
		stray.Report(ac)
	}
}

func (c *compaction) begin(msg messages.Compact) {
	if !c.Begin(msg.ChatKey, msg.CompactionID, c.Deadline) {
		return
	}
	c.msg = msg
	o := c.Options
	c.Go(func(ctx context.Context) (any, error) { return planned{newPlan(ctx, msg, o)}, nil })
}

func (c *compaction) onPlanned(ac actor.Context, msg planned) {
	c.plan = msg.plan
	switch {
	case c.plan.result != "":
		c.finish(ac, messages.CompactionFinished{Result: c.plan.result})
	case c.msg.Extract || c.Extract:
		c.extracted(ac)
	default:
		c.ask(ac)
	}
}

// ask requests a summary from the model.
func (c *compaction) ask(ac actor.Context) {
	m, msg, turns, limit := c.Model, c.msg, c.msg.Turns[:c.plan.to], min(c.MaxTokens, max(c.Budget/4, 256))
	c.Acquire(ac, func(ctx context.Context) (any, error) {
		summary, finish, err := errand.Ask(ctx, m, question(msg, turns, limit))
		switch {
		case err != nil:
			return nil, err
		case finish != "stop" && finish != "length": // it was cut, or contains a call
			return nil, &model.Error{Reason: model.ReasonCut}
		case summary == "": // such as after thinking that used up the limit
			return nil, errEmpty
		}
		return written{complete(summary, turns)}, nil
	})
}

// fail ends the compaction without a summary by the model. If the chat cannot continue without a
// summary, it answers with one made without the model.
func (c *compaction) fail(ac actor.Context, why string) {
	c.Logger.Warn("a summary could not be made", "component", "compaction", "chat_key", string(c.msg.ChatKey), "cause", string(c.msg.Cause), "error", why)
	if c.msg.Cause == messages.CauseOverflow && c.plan.to > 0 {
		c.extracted(ac)
		return
	}
	c.finish(ac, messages.CompactionFinished{Result: messages.ResultFailed})
}

func (c *compaction) extracted(ac actor.Context) {
	c.summed(ac, messages.ResultExtracted, extract(c.msg.Turns[:c.plan.to]))
}

// summed answers with a summary if it saves enough.
func (c *compaction) summed(ac actor.Context, result, body string) {
	done := c.plan.summed(body)
	done.Result = result
	if !gains(c.plan.turns, c.plan.to, done.SummaryTokens) {
		done = messages.CompactionFinished{Result: messages.ResultLonger}
	}
	c.finish(ac, done)
}

func (c *compaction) finish(ac actor.Context, done messages.CompactionFinished) {
	done.ChatKey, done.CompactionID = c.msg.ChatKey, c.msg.CompactionID
	done.System, done.Tokens, done.Before, done.Aged = c.plan.system, c.plan.counts, total(c.plan.turns), c.plan.aged
	c.Answer(ac, done)
}
