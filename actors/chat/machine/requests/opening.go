package requests

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// SettleAnswered returns the facts for the decided calls of a message: a start for each approved call, and an outcome
// for each call that was denied or may have begun before a crash.
func (q *Requests) SettleAnswered(turn journal.Turn, runID string, begun map[string]bool) []journal.Fact {
	var facts []journal.Fact
	for _, p := range turn.Parts {
		call, ok := p.(uimessage.Tool)
		if !ok || call.State != uimessage.ToolApprovalResponded {
			continue
		}
		i := slices.IndexFunc(turn.Requests, func(r journal.Request) bool { return r.ID == call.Approval.ID })
		if i < 0 {
			i = slices.IndexFunc(turn.Requests, func(r journal.Request) bool { return r.CallID == call.ToolCallID })
		}
		switch {
		case begun[call.ToolCallID]:
			q.TellInterrupted(call, q.requestOf(call))
			facts = append(facts, journal.ToolFinished{RunID: runID, MessageID: turn.ID, Part: parts.Interrupted(call)})
		case call.Approval.Approved.Value && (i < 0 || approval.Bound(turn.Requests[i], call)):
			facts = append(facts, journal.ToolStarted{RunID: runID, CallID: call.ToolCallID})
		default:
			call.State = uimessage.ToolOutputDenied
			facts = append(facts, journal.ToolFinished{RunID: runID, MessageID: turn.ID, Part: call})
		}
	}
	return facts
}

// Copies returns a new message with copies of the calls of late decisions, under new ids. In the message that asked,
// the model continues to see the calls as waiting.
func (q *Requests) Copies(due []journal.Asked) journal.OutcomeBegun {
	out := journal.OutcomeBegun{Message: uimessage.Message{
		ID: "a:" + string(q.Key) + ":" + q.NewID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}},
	}}
	meta := q.PlainMeta()
	for _, a := range due {
		call, ok := a.Turn.CallOf(a.Request)
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
		call.ToolCallID, call.State, call.Approval = "late_"+q.NewID(), uimessage.ToolApprovalResponded, &asked
		out.Message.Parts = append(out.Message.Parts, call)
		out.Of = append(out.Of, journal.RequestKey{MessageID: a.Turn.ID, ApprovalID: a.Request.ID})
		meta.RequestID = a.Request.RequestID
	}
	out.Message.Metadata = meta.Append(nil)
	return out
}

// ApprovedCalls returns the calls of the message in progress that may begin now.
func (q *Requests) ApprovedCalls() []messages.ApprovedCall {
	var calls []messages.ApprovedCall
	for _, p := range q.State.Run.Parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolApprovalResponded {
			r := q.requestOf(t)
			asker := messages.Asker{Platform: q.Addr.Platform, ID: r.Asker, Name: referral.NameOf(q.State, r.Asker)}
			calls = append(calls, messages.ApprovedCall{CallID: t.ToolCallID, Name: t.Name, Input: t.Input, Bind: r.Bind, Asker: asker})
		}
	}
	return calls
}

// OpenForRun returns the requests that a run must not repeat.
func (q *Requests) OpenForRun() []messages.OpenRequest {
	var open []messages.OpenRequest
	for _, a := range q.State.OpenRequests() {
		if call, ok := a.Turn.CallOf(a.Request); ok {
			open = append(open, messages.OpenRequest{N: a.Request.N, Name: call.Name, Input: call.Input, Bind: a.Request.Bind})
		}
	}
	return open
}

// ForCalls creates and numbers the requests of the calls that ask.
func (q *Requests) ForCalls(m uimessage.Message, base journal.Turn, shown []journal.Shown) []journal.Request {
	var list []journal.Request
	now := q.Now()
	for _, p := range m.Parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalRequested || t.Approval == nil ||
			slices.ContainsFunc(base.Requests, func(r journal.Request) bool { return r.ID == t.Approval.ID }) {
			continue
		}
		explained := q.explained(t, shown)
		list = append(list, journal.Request{
			ID: t.Approval.ID, CallID: t.ToolCallID, N: q.State.NextRequest() + len(list), Digest: approval.Digest(t.Name, t.Input, explained.Bind),
			Asker: q.Asker().ID, Asked: now.UnixMilli(), Expires: now.Add(approvalTime).UnixMilli(), Explained: explained,
		})
	}
	return list
}

// explained returns what people are shown of a call of the run in progress. The list is that of a step which is not
// journaled yet.
func (q *Requests) explained(t uimessage.Tool, shown []journal.Shown) journal.Explained {
	var out journal.Explained
	for _, list := range [][]journal.Shown{q.State.Run.Shown, shown} {
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

// ShownOf returns what people are shown of the calls that ask, in the form that is kept: invisible characters are made
// visible.
func ShownOf(list []messages.AskedCall) []journal.Shown {
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

// Opened returns the requests that a turn has in addition to those of an earlier version.
func Opened(base, turn journal.Turn) []journal.Asked {
	var list []journal.Asked
	for _, r := range turn.Requests[min(len(base.Requests), len(turn.Requests)):] {
		list = append(list, journal.Asked{Turn: turn, Request: r})
	}
	return list
}

// TellAsked reports new, durable requests to the audit log and the metrics.
func (q *Requests) TellAsked(list []journal.Asked) {
	for _, a := range list {
		call, _ := a.Turn.CallOf(a.Request)
		q.Audit(decision.AuditEntry{
			Event: "approval", RequestID: a.Turn.Meta.RequestID, RunID: a.Turn.Meta.RunID, Name: call.Name, Result: "asked", Digest: a.Request.Digest,
			Call: call.ToolCallID, By: a.Request.Asker,
		})
		q.Count(decision.CountApproval, "asked")
	}
}
