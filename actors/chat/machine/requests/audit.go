package requests

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// byPerson is the audit rule of a call that a person approved.
const byPerson = "approved"

// TellRuled writes the calls that a rule allows to the audit log before they begin.
func (q *Requests) TellRuled(calls []messages.CallIntent, m uimessage.Message) {
	for _, call := range calls {
		part, ok := parts.Call(m, call.CallID)
		if call.Rule == "" || !ok {
			continue
		}
		q.tellBegun(decision.AuditEntry{
			Name: call.Name, Call: call.CallID, Rule: call.Rule, Digest: approval.Digest(part.Name, part.Input, call.Bind), By: q.Asker().ID,
		})
	}
}

// TellApproved writes the calls that a person approved to the audit log before they begin.
func (q *Requests) TellApproved(parts []uimessage.Part) {
	for _, p := range parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalResponded || t.Approval == nil || !t.Approval.Approved.Value {
			continue
		}
		r := q.requestOf(t)
		q.tellBegun(decision.AuditEntry{Name: t.Name, Call: t.ToolCallID, Rule: byPerson, Digest: r.Digest, By: r.By})
	}
}

// tellBegun records in the audit log that a call may begin to take effect.
func (q *Requests) tellBegun(e decision.AuditEntry) {
	e.Event, e.Result = "execution", "begun"
	if run := q.State.Run; run != nil {
		e.RequestID, e.RunID = run.RequestID, run.ID
	}
	decision.Put(&q.allowed, e.Call, e)
	q.Audit(e)
}

// TellEnded records the result of a call that a person or a rule allowed.
func (q *Requests) TellEnded(callID, result string) {
	if e, ok := q.allowed[callID]; ok {
		delete(q.allowed, callID)
		e.Result = result
		q.Audit(e)
	}
}

// TellUnknown records abandoned calls, whose result is not known.
func (q *Requests) TellUnknown(parts []uimessage.Part) {
	for _, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolOutputError && len(q.allowed) > 0 {
			q.TellEnded(t.ToolCallID, "unknown")
		}
	}
}

// TellInterrupted records a call that a crash interrupted.
func (q *Requests) TellInterrupted(t uimessage.Tool, r journal.Request) {
	e := decision.AuditEntry{Event: "execution", Name: t.Name, Call: t.ToolCallID, Digest: r.Digest, By: r.By, Result: "unknown"}
	if e.Digest == "" {
		e.Digest = approval.Digest(t.Name, t.Input, "")
	}
	if r.ID != "" {
		e.Rule = byPerson
	}
	q.Audit(e)
}
