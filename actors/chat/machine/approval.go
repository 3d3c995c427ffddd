package machine

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// approvalTime is how long a request stays open before it expires.
const approvalTime = 30 * time.Minute

// maxOpen is how many requests may be open in a chat.
const maxOpen = 10

// expiryDue is the timer message for the first expiring request.
type expiryDue struct{}

// decideApproval handles decisions that name requests by id.
func (c *Chat) decideApproval(msg messages.DecideApproval) {
	if c.waitToDecide(msg) || c.pressElsewhere(msg) {
		return
	}
	answer := messages.ApprovalDecided{ChatKey: c.key}
	var made []journal.ApprovalDecided
	for _, d := range msg.Say {
		out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionForbidden}
		if c.mayDecide(msg.By, c.askerOf(d.ApprovalID), msg.Admin) {
			var fact journal.ApprovalDecided
			fact, out = c.evaluate(d, msg.By, msg.RequestID)
			switch {
			case out.Is != messages.DecisionDone:
			case !isOwn(msg.By.Platform) && c.unseenIn(d.ApprovalID) != nil:
				out.Is = messages.DecisionUnseen
			case slices.ContainsFunc(made, func(f journal.ApprovalDecided) bool { return f.ApprovalID == d.ApprovalID }):
				out.Is = messages.DecisionAlready
			default:
				made = append(made, fact)
			}
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	c.give(nil, made)
	if len(made) > 0 {
		c.wake()
		c.offer(asFacts(made)...)
	}
	c.answer(answer)
	c.decided(made)
}

// asFacts returns decisions as facts.
func asFacts(made []journal.ApprovalDecided) []journal.Fact {
	var list []journal.Fact
	for _, d := range made {
		list = append(list, d)
	}
	return list
}

// evaluate validates a person's decision. It returns the outcome and the fact to record if the outcome is DecisionDone.
func (c *Chat) evaluate(d messages.Decision, by messages.Asker, requestID string) (journal.ApprovalDecided, messages.DecisionOutcome) {
	out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionUnknown}
	fact := journal.ApprovalDecided{
		ApprovalID: d.ApprovalID, Answer: journal.AnswerDenied, Reason: d.Reason, By: by.Platform + "-" + by.ID, ByName: by.Name, RequestID: requestID,
	}
	if d.Approved {
		fact.Answer = journal.AnswerApproved
	}
	found := c.state.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
	switch {
	case len(found) > 0:
		a := found[len(found)-1]
		fact.MessageID = a.Turn.ID
		out.Is, out.By, out.ByName, out.Answer = c.outcomeNow(a), a.Request.By, a.Request.ByName, string(a.Request.Answer)
		if out.Is == messages.DecisionDone && !strings.HasPrefix(a.Request.Digest, d.Digest) {
			out.Is = messages.DecisionUnknown // the person saw a different request
		}
	case d.Digest == "" && c.asking(d.ApprovalID): // asked by the run in progress
		fact.MessageID = c.state.Run.MessageID
		out.Is = messages.DecisionDone
	}
	if run := c.state.Run; run != nil && slices.ContainsFunc(run.Answers, func(a journal.RunAnswer) bool { return a.ApprovalID == d.ApprovalID }) {
		out.Is = messages.DecisionAlready
	}
	fact.Late = c.late(fact.MessageID)
	out.MessageID, out.Late = fact.MessageID, fact.Late
	return fact, out
}

// outcomeNow returns the outcome that a decision on a known request has now.
func (c *Chat) outcomeNow(a journal.Asked) messages.DecisionIs {
	call, ok := a.Turn.Call(a.Request.CallID)
	switch {
	case a.Request.Answer == journal.AnswerExpired:
		return messages.DecisionExpired
	case a.Request.Answer != journal.AnswerOpen:
		return messages.DecisionAlready
	case c.expired(a.Request, c.now()):
		return messages.DecisionExpired
	case !ok || !approval.Bound(a.Request, call):
		return messages.DecisionUnknown
	}
	return messages.DecisionDone
}

// asking reports whether a durable response of the run in progress contains the request.
func (c *Chat) asking(approvalID string) bool {
	return c.state.Run != nil && slices.ContainsFunc(c.state.Run.Parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolApprovalRequested && t.Approval != nil && t.Approval.ID == approvalID
	})
}

// late reports whether a decision can no longer take effect in the message that asked, because another message follows
// it or will follow it.
func (c *Chat) late(messageID string) bool {
	if run := c.state.Run; run != nil {
		return run.MessageID != messageID
	}
	return !c.state.IsLast(messageID)
}

// decided reports decisions to the audit log, the metrics and the watchers.
func (c *Chat) decided(made []journal.ApprovalDecided) {
	for _, d := range made {
		e := AuditEntry{Event: "approval", RequestID: d.RequestID, Result: string(d.Answer), By: d.By, Rule: d.Grant}
		for _, a := range c.state.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID }) {
			call, _ := a.Turn.Call(a.Request.CallID)
			e.Name, e.Digest, e.RunID, e.Call = call.Name, a.Request.Digest, a.Turn.Meta.RunID, call.ToolCallID
			if waited := c.now().UnixMilli() - a.Request.Asked; d.By != "" && waited > 0 {
				c.measure(CountApprovalWait, float64(waited)/1000)
			}
		}
		c.audit(e)
		c.count(CountApproval, string(d.Answer))
		c.eventFrame("approval", 0, string(d.Answer))
	}
}

// expired reports whether the deadline of a request has passed. See armExpiry for how the deadline is set.
func (c *Chat) expired(r journal.Request, now time.Time) bool {
	d, ok := c.deadlines[r.ID]
	return ok && !now.Before(d)
}

// armExpiry sets a deadline on this process's clock for each new open request, never more than approvalTime from now
// even if the wall clock says otherwise, and arms the timer for the earliest one.
func (c *Chat) armExpiry() {
	now, first := c.now(), time.Time{}
	deadlines := map[string]time.Time{}
	for _, a := range c.state.OpenRequests() {
		d, ok := c.deadlines[a.Request.ID]
		if !ok {
			d = now.Add(min(time.UnixMilli(a.Request.Expires).Sub(now), approvalTime))
		}
		deadlines[a.Request.ID] = d
		if first.IsZero() || d.Before(first) {
			first = d
		}
	}
	c.deadlines = deadlines
	switch {
	case first.Equal(c.expiry):
	case first.IsZero():
		c.endTimer("expiry")
	default:
		c.timer("expiry", first.Sub(now), expiryDue{})
	}
	c.expiry = first
}

// expire ends the requests whose deadline has passed without a decision. No run follows.
func (c *Chat) expire() {
	now := c.now()
	c.expiry, c.lookedAt = time.Time{}, 0 // the timer has fired; armExpiry sets the next one
	list := slices.DeleteFunc(c.state.OpenRequests(), func(a journal.Asked) bool { return !c.expired(a.Request, now) })
	c.endRequests(list, journal.AnswerExpired, reasonExpired, notices.Expired)
}

// capOpen withdraws the oldest open requests when there are more than maxOpen.
func (c *Chat) capOpen() {
	if open := c.state.OpenRequests(); len(open) > maxOpen {
		c.endRequests(open[:len(open)-maxOpen], journal.AnswerWithdrawn, reasonCrowded, notices.Crowded)
	}
}

// endRequests ends requests without a person's decision and sends the given words to the chat. If words is nil, the
// end is only shown where the request itself is shown.
func (c *Chat) endRequests(list []journal.Asked, answer journal.Answer, reason string, words func(n string) notices.Text) {
	var made []journal.ApprovalDecided
	var rows []journal.Row
	for _, a := range list {
		f := journal.ApprovalDecided{MessageID: a.Turn.ID, ApprovalID: a.Request.ID, Answer: answer, Reason: reason, Late: c.late(a.Turn.ID)}
		if c.via.Outbox && words != nil {
			f.Rows = []journal.Row{{Key: journal.RowKey{MessageID: "h:" + a.Request.ID, N: 1}, Text: c.inTheirWords(words(strconv.Itoa(a.Request.N)))}}
		}
		made, rows = append(made, f), append(rows, f.Rows...)
	}
	c.append(asFacts(made)...)
	c.deliverRows(rows)
	c.decided(made)
}
