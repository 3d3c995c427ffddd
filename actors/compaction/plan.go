package compaction

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// archiveName is the approximate length of the name of an archive.
const archiveName = 32

// plan is what will be compacted, and the token counts.
type plan struct {
	result string // why nothing is compacted; empty if something is
	to     int
	hash   string
	source uimessage.SourceRange
	turns  []turn
	aged   []messages.AgedTurn
	system int
	counts []int
	// measure counts a text, or returns an upper bound if the tables cannot be read.
	measure func(text string) int
}

// newPlan counts what is not counted yet and chooses the turns.
func newPlan(ctx context.Context, msg messages.Compact, o Options) plan {
	p := plan{measure: measure(o)}
	if p.system = msg.SystemTokens; p.system == 0 {
		p.system = p.measure(msg.System)
	}
	all, covered := p.system, p.system
	for i, t := range msg.Turns {
		n := t.Tokens
		if n == 0 && ctx.Err() == nil {
			n = tokens.Turn(t.Message, p.measure)
		}
		p.counts = append(p.counts, n)
		p.turns = append(p.turns, turn{size: n, ends: t.Ends, waits: t.Waits, summary: t.Summary})
		all += n
		if i < msg.Covers {
			covered += n
		}
	}
	budget, history := tokens.Budget(o.Budget, p.system), tokens.History(o.Budget, p.system)
	switch msg.Cause {
	case messages.CauseThreshold:
		if tokens.Correct(all, msg.Reported, int64(covered)) <= budget {
			p.result = messages.ResultEnough
			return p
		}
	case messages.CauseOverflow:
		budget, history = min(budget, all), min(history, all) // the real window is smaller than the configured one
	case messages.CauseCommand:
	}
	p.to = cut(p.turns, limits{keep: o.Keep, budget: history})
	if msg.Cause == messages.CauseOverflow {
		budget = min(budget, all/2)
	}
	if !msg.Whole {
		p.aged = p.outputs(msg.Turns, budget)
	}
	switch {
	case p.to > 0:
	case p.aged != nil:
		p.result = messages.ResultAged
		return p
	default:
		p.result = messages.ResultNothing
		return p
	}
	p.hash, p.source = hash(msg.Turns[:p.to]), source(msg.Turns[:p.to])
	return p
}

// outputs returns the turns whose large outputs have to be left out, the oldest first, if
// compacting alone cannot meet the budget. It returns none if that would save less than a fifth.
func (p plan) outputs(turns []messages.CompactTurn, budget int) (aged []messages.AgedTurn) {
	over, saved := p.system+total(p.turns[p.to:])-budget, 0
	for i := p.to; i < len(turns) && saved < over; i++ {
		m, ok := prompt.Aged(turns[i].Message, strings.Repeat("-", archiveName))
		if !ok {
			continue
		}
		a := messages.AgedTurn{ID: m.ID, Tokens: tokens.Turn(m, p.measure)}
		aged, saved = append(aged, a), saved+p.counts[i]-a.Tokens
	}
	if saved < total(p.turns)/minGain {
		return nil
	}
	return aged
}

func measure(o Options) func(text string) int {
	return func(text string) int {
		if o.Count != nil {
			if n, err := o.Count(text); err == nil {
				return n
			}
		}
		return tokens.Bound(text)
	}
}

// summed is the answer with a summary.
func (p plan) summed(body string) messages.CompactionFinished {
	done := messages.CompactionFinished{To: p.to, Hash: p.hash, Range: p.source, Summary: titled(body, p.source)}
	done.SummaryTokens = p.size(done.Summary)
	done.After = total(p.turns[p.to:]) + done.SummaryTokens
	return done
}

// size is the cost of a summary as a turn, in tokens.
func (p plan) size(summary string) int {
	return tokens.Turn(uimessage.Message{Parts: []uimessage.Part{uimessage.Text{Text: summary}}}, p.measure)
}

func hash(turns []messages.CompactTurn) string {
	list := make([]uimessage.Message, len(turns))
	for i, t := range turns {
		list[i] = t.Message
	}
	return messages.PrefixHash(list)
}

// source counts original turns: a summary counts as the turns that it replaces.
func source(turns []messages.CompactTurn) uimessage.SourceRange {
	first, last := turns[0], turns[len(turns)-1]
	r := uimessage.SourceRange{FromID: first.Message.ID, ToID: last.Message.ID}
	if first.Summary {
		r.FromID = first.Range.FromID
	}
	for _, t := range turns {
		if t.Summary {
			r.Count += t.Range.Count
			continue
		}
		r.Count++
	}
	return r
}
