package machine

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// byPerson is the rule of a call that a person agreed to.
const byPerson = "approved"

// tellRuled tells the audit log of calls that a rule lets run, before they begin.
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

// tellApproved tells the audit log of calls that a person agreed to, before they begin.
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

// tellBegun notes that a call may begin to have its effect.
func (c *Chat) tellBegun(e AuditEntry) {
	e.Event, e.Result = "execution", "begun"
	if run := c.state.Run; run != nil {
		e.RequestID, e.RunID = run.RequestID, run.ID
	}
	put(&c.allowed, e.Call, e)
	c.audit(e)
}

// tellEnded notes how a call ended that a person or a rule let run.
func (c *Chat) tellEnded(callID, result string) {
	if e, ok := c.allowed[callID]; ok {
		delete(c.allowed, callID)
		e.Result = result
		c.audit(e)
	}
}

// tellUnknown notes calls that were given up: what came of them is not known.
func (c *Chat) tellUnknown(parts []uimessage.Part) {
	for _, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolOutputError && len(c.allowed) > 0 {
			c.tellEnded(t.ToolCallID, "unknown")
		}
	}
}

// tellInterrupted notes a call that a crash interrupted.
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
