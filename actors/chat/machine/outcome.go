package machine

import (
	"cmp"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// continueRun starts a run that continues a message whose requests were decided. The approved calls are recorded as
// started before they begin, in the same write as the facts passed in.
func (c *Chat) continueRun(turn journal.Turn, before ...journal.Fact) {
	started := journal.RunStarted{RunID: "r_" + c.newID(), MessageID: turn.ID, RequestID: turn.Meta.RequestID, Attempt: 1}
	for _, r := range turn.Requests {
		if r.RequestID != "" {
			started.RequestID = r.RequestID
		}
	}
	facts := append(before, started)
	c.append(append(facts, c.settleAnswered(turn, started.RunID, nil)...)...)
}

// settleAnswered returns the facts for the decided calls of a message: a start for each approved call, and an outcome
// for each call that was denied or may have begun before a crash.
func (c *Chat) settleAnswered(turn journal.Turn, runID string, begun map[string]bool) []journal.Fact {
	var facts []journal.Fact
	for _, p := range turn.Parts {
		call, ok := p.(uimessage.Tool)
		if !ok || call.State != uimessage.ToolApprovalResponded {
			continue
		}
		i := slices.IndexFunc(turn.Requests, func(r journal.Request) bool { return r.CallID == call.ToolCallID })
		switch {
		case begun[call.ToolCallID]:
			c.tellInterrupted(call, c.requestOf(call))
			facts = append(facts, journal.ToolFinished{RunID: runID, MessageID: turn.ID, Part: interrupted(call)})
		case call.Approval.Approved.Value && (i < 0 || approval.Bound(turn.Requests[i], call)):
			facts = append(facts, journal.ToolStarted{RunID: runID, CallID: call.ToolCallID})
		default:
			call.State = uimessage.ToolOutputDenied
			facts = append(facts, journal.ToolFinished{RunID: runID, MessageID: turn.ID, Part: call})
		}
	}
	return facts
}

// textNeverBegun is the outcome of a call that had not begun when its run ended.
const textNeverBegun = messages.NeverBegun + "the run ended before the call was executed"

// interrupted returns a call with an unknown outcome.
func interrupted(t uimessage.Tool) uimessage.Tool {
	t.State, t.Preliminary, t.Output = uimessage.ToolOutputError, uimessage.Optional[bool]{}, nil
	t.ErrorText = uimessage.Some("interrupted, outcome unknown")
	return t
}

// copies returns a new message with copies of the calls of late decisions, under new ids. In the message that asked,
// the model continues to see the calls as waiting.
func (c *Chat) copies(due []journal.Asked) journal.OutcomeBegun {
	out := journal.OutcomeBegun{Message: uimessage.Message{
		ID: "a:" + string(c.key) + ":" + c.newID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}},
	}}
	meta := c.plainMeta()
	for _, a := range due {
		call, ok := a.Turn.Call(a.Request.CallID)
		if !ok { // Unreachable: a due request has its call
			continue
		}
		asked := uimessage.Approval{ID: a.Request.ID}
		if call.Approval != nil {
			asked = *call.Approval
		}
		asked.Approved = uimessage.Some(a.Request.Answer == journal.AnswerApproved && approval.Bound(a.Request, call))
		if a.Request.Reason != "" {
			asked.Reason = uimessage.Some(a.Request.Reason)
		}
		call.ToolCallID, call.State, call.Approval = "late_"+c.newID(), uimessage.ToolApprovalResponded, &asked
		out.Message.Parts = append(out.Message.Parts, call)
		out.Of = append(out.Of, journal.RequestKey{MessageID: a.Turn.ID, ApprovalID: a.Request.ID})
		meta.RequestID = a.Request.RequestID
	}
	out.Message.Metadata = meta.Append(nil)
	return out
}

// beginOutcome carries out late decisions while no run is in progress.
func (c *Chat) beginOutcome(due []journal.Asked) {
	out := c.copies(due)
	c.continueRun(journal.NewTurn(out.Message), out)
}

// approvedCalls returns the calls of the message in progress that may begin now.
func (c *Chat) approvedCalls() []messages.ApprovedCall {
	var calls []messages.ApprovedCall
	for _, p := range c.state.Run.Parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolApprovalResponded {
			calls = append(calls, messages.ApprovedCall{CallID: t.ToolCallID, Name: t.Name, Input: t.Input, Bind: c.requestOf(t).Bind})
		}
	}
	return calls
}

// requestOf returns the request for a call or for its copy.
func (c *Chat) requestOf(t uimessage.Tool) journal.Request {
	if t.Approval != nil {
		for _, a := range c.state.Requests(func(r journal.Request) bool { return r.ID == t.Approval.ID }) {
			return a.Request
		}
	}
	return journal.Request{}
}

// openRequests returns the requests that a run must not repeat.
func (c *Chat) openRequests() []messages.OpenRequest {
	var open []messages.OpenRequest
	for _, a := range c.state.OpenRequests() {
		if call, ok := a.Turn.Call(a.Request.CallID); ok {
			open = append(open, messages.OpenRequest{N: a.Request.N, Name: call.Name, Input: call.Input, Bind: a.Request.Bind})
		}
	}
	return open
}

// closeTurn makes the run's message final. It keeps the requests of earlier runs, numbers the new ones, and applies
// the decisions made during the run. If the run did not end in order to wait, its open requests are withdrawn.
func (c *Chat) closeTurn(m uimessage.Message, meta uimessage.Metadata, result journal.Result) journal.Turn {
	base, _ := c.state.Turn(m.ID)
	meta.Fates = slices.Concat(base.Meta.Fates, meta.Fates)
	meta.Usage = sum(base.Meta.Usage, meta.Usage)
	requests := slices.Concat(base.Requests, c.newRequests(m, base))
	m.Metadata = journal.WithRequests(meta, requests, c.nextRow()+bit(c.drafted())).Append(nil)
	turn := journal.NewTurn(m)
	waits := result == journal.ResultWaiting
	for _, a := range c.state.Run.Answers {
		a.Late = waits && len(c.state.Lane) > 0
		turn = turn.Decide(a.ApprovalDecided, a.At)
	}
	if waits {
		return turn
	}
	for _, r := range turn.Requests {
		turn = turn.Decide(journal.ApprovalDecided{ApprovalID: r.ID, Answer: journal.AnswerWithdrawn, Reason: reasonWithdrawn}, c.now().UnixMilli())
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

// newRequests creates and numbers the requests of the calls that ask.
func (c *Chat) newRequests(m uimessage.Message, base journal.Turn) []journal.Request {
	var list []journal.Request
	now := c.now()
	for _, p := range m.Parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalRequested || t.Approval == nil ||
			slices.ContainsFunc(base.Requests, func(r journal.Request) bool { return r.ID == t.Approval.ID }) {
			continue
		}
		shown := c.explained(t)
		list = append(list, journal.Request{
			ID: t.Approval.ID, CallID: t.ToolCallID, N: c.state.NextRequest() + len(list), Digest: approval.Digest(t.Name, t.Input, shown.Bind),
			Asker: c.asker().ID, Asked: now.UnixMilli(), Expires: now.Add(approvalTime).UnixMilli(), Explained: shown,
		})
	}
	return list
}

// explained returns what people are shown of a call of the run in progress.
func (c *Chat) explained(t uimessage.Tool) journal.Explained {
	var out journal.Explained
	for _, list := range [][]journal.Shown{c.state.Run.Shown, c.run.shown} {
		for _, s := range list {
			if s.CallID == t.ToolCallID {
				out = s.Explained
			}
		}
	}
	if out.What == "" && out.Exact == "" {
		out.Exact = visible.Text(tool.Lines(t.Input))
	}
	return out
}

// shownOf returns what people are shown of the calls that ask, in the form that is kept: invisible characters are made
// visible.
func shownOf(list []messages.AskedCall) []journal.Shown {
	var out []journal.Shown
	for _, a := range list {
		out = append(out, journal.Shown{CallID: a.CallID, Explained: journal.Explained{
			Words: visibleWords(a.Words), Chinese: visibleWords(a.Chinese), Exact: visible.Exact(a.Exact),
			Command: a.Command, Folder: a.Folder, Bind: a.Bind, Rule: a.Rule, FilesIn: a.FilesIn,
		}})
	}
	return out
}

func visibleWords(w messages.Words) messages.Words {
	return messages.Words{Title: visible.Text(w.Title), What: visible.Text(w.What), Risk: visible.Text(w.Risk)}
}

// opened returns the requests that a turn has in addition to those of an earlier version.
func opened(base, turn journal.Turn) []journal.Asked {
	var list []journal.Asked
	for _, r := range turn.Requests[min(len(base.Requests), len(turn.Requests)):] {
		list = append(list, journal.Asked{Turn: turn, Request: r})
	}
	return list
}

// tellAsked reports new, durable requests to the audit log and the metrics.
func (c *Chat) tellAsked(list []journal.Asked) {
	for _, a := range list {
		call, _ := a.Turn.Call(a.Request.CallID)
		c.audit(AuditEntry{
			Event: "approval", RequestID: a.Turn.Meta.RequestID, RunID: a.Turn.Meta.RunID, Name: call.Name, Result: "asked", Digest: a.Request.Digest,
			Call: call.ToolCallID, By: a.Request.Asker,
		})
		c.count(CountApproval, "asked")
	}
}

// sum adds the usage of a message's runs.
func sum(a, b *uimessage.Usage) *uimessage.Usage {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := plus(*a, *b)
	return &out
}

func plus(a, b uimessage.Usage) uimessage.Usage {
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	a.TotalTokens += b.TotalTokens
	a.ReasoningTokens += b.ReasoningTokens
	a.CachedInputTokens += b.CachedInputTokens
	return a
}
