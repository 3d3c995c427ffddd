package machine

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// byPerson is the audit rule of a call that a person approved.
const byPerson = "approved"

// tellRuled writes the calls that a rule allows to the audit log before they begin.
func (c *Chat) tellRuled(calls []messages.CallIntent, m uimessage.Message) {
	for _, call := range calls {
		part, ok := toolPart(m, call.CallID)
		if call.Rule == "" || !ok {
			continue
		}
		c.tellBegun(AuditEntry{
			Name: call.Name, Call: call.CallID, Rule: call.Rule, Digest: approval.Digest(part.Name, part.Input, call.Bind), By: c.asker().ID,
		})
	}
}

// tellApproved writes the calls that a person approved to the audit log before they begin.
func (c *Chat) tellApproved(parts []uimessage.Part) {
	for _, p := range parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalResponded || t.Approval == nil || !t.Approval.Approved.Value {
			continue
		}
		r := c.requestOf(t)
		c.tellBegun(AuditEntry{Name: t.Name, Call: t.ToolCallID, Rule: byPerson, Digest: r.Digest, By: r.By})
	}
}

// tellBegun records in the audit log that a call may begin to take effect.
func (c *Chat) tellBegun(e AuditEntry) {
	e.Event, e.Result = "execution", "begun"
	if run := c.state.Run; run != nil {
		e.RequestID, e.RunID = run.RequestID, run.ID
	}
	put(&c.allowed, e.Call, e)
	c.audit(e)
}

// tellEnded records the result of a call that a person or a rule allowed.
func (c *Chat) tellEnded(callID, result string) {
	if e, ok := c.allowed[callID]; ok {
		delete(c.allowed, callID)
		e.Result = result
		c.audit(e)
	}
}

// tellUnknown records abandoned calls, whose result is not known.
func (c *Chat) tellUnknown(parts []uimessage.Part) {
	for _, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolOutputError && len(c.allowed) > 0 {
			c.tellEnded(t.ToolCallID, "unknown")
		}
	}
}

// tellInterrupted records a call that a crash interrupted.
func (c *Chat) tellInterrupted(t uimessage.Tool, r journal.Request) {
	e := AuditEntry{Event: "execution", Name: t.Name, Call: t.ToolCallID, Digest: r.Digest, By: r.By, Result: "unknown"}
	if e.Digest == "" {
		e.Digest = approval.Digest(t.Name, t.Input, "")
	}
	if r.ID != "" {
		e.Rule = byPerson
	}
	c.audit(e)
}
