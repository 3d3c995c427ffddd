package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// continueRun starts a run that continues a message whose requests were decided. The approved calls are recorded as
// started before they begin, in the same write as the facts passed in.
func (c *Chat) continueRun(turn journal.Turn, before ...journal.Fact) {
	started := journal.RunStarted{RunID: "r_" + c.NewID(), MessageID: turn.ID, RequestID: turn.Meta.RequestID, Attempt: 1}
	for _, r := range turn.Requests {
		if r.RequestID != "" {
			started.RequestID = r.RequestID
		}
	}
	facts := append(before, started)
	c.Append(append(facts, c.requests.SettleAnswered(turn, started.RunID, nil)...)...)
}

// beginOutcome carries out late decisions while no run is in progress.
func (c *Chat) beginOutcome(due []journal.Asked) {
	out := c.requests.Copies(due)
	c.continueRun(journal.NewTurn(out.Message), out)
}

// closeTurn makes the run's message final. It keeps the requests of earlier runs, numbers the new ones, and applies
// the decisions made during the run. If the run did not end in order to wait, its open requests are withdrawn.
func (c *Chat) closeTurn(m uimessage.Message, meta uimessage.Metadata, result journal.Result) journal.Turn {
	base, _ := c.State.Turn(m.ID)
	meta.Fates = slices.Concat(base.Meta.Fates, meta.Fates)
	meta.Usage = sum(base.Meta.Usage, meta.Usage)
	all := slices.Concat(base.Requests, c.requests.ForCalls(m, base, c.run.shown))
	m.Metadata = journal.WithRequests(meta, all, c.nextRow()+decision.Bit(c.drafted())).Append(nil)
	turn := journal.NewTurn(m)
	waits := result == journal.ResultWaiting
	for _, a := range c.State.Run.Answers {
		a.Late = waits && len(c.State.Lane) > 0
		turn = turn.Decide(a.ApprovalDecided, a.At)
	}
	if waits {
		return turn
	}
	for _, r := range turn.Requests {
		turn = turn.Decide(journal.ApprovalDecided{ApprovalID: r.ID, Answer: journal.AnswerWithdrawn, Reason: requests.ReasonWithdrawn}, c.Now().UnixMilli())
	}
	turn.Parts = slices.Clone(turn.Parts)
	for i, p := range turn.Parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolApprovalResponded {
			t.State = uimessage.ToolOutputDenied // it has not begun and will not run
			turn.Parts[i] = t
		}
	}
	return turn
}
