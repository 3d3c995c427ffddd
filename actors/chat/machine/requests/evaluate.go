package requests

import (
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// asFacts returns decisions as facts.
func asFacts(made []journal.ApprovalDecided) []journal.Fact {
	var list []journal.Fact
	for _, d := range made {
		list = append(list, d)
	}
	return list
}

// evaluate validates a person's decision. It returns the outcome and the fact to record if the outcome is DecisionDone.
func (q *Requests) evaluate(d messages.Decision, by messages.Asker, requestID string) (journal.ApprovalDecided, messages.DecisionOutcome) {
	out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionUnknown}
	fact := journal.ApprovalDecided{
		ApprovalID: d.ApprovalID, Answer: journal.AnswerDenied, Reason: d.Reason, By: by.Platform + "-" + by.ID, ByName: by.Name, RequestID: requestID,
	}
	if d.Approved {
		fact.Answer = journal.AnswerApproved
	}
	found := q.State.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
	switch {
	case len(found) > 0:
		a := found[len(found)-1]
		fact.MessageID = a.Turn.ID
		out.Is, out.By, out.ByName, out.Answer = q.outcomeNow(a), a.Request.By, a.Request.ByName, string(a.Request.Answer)
		if out.Is == messages.DecisionDone && !strings.HasPrefix(a.Request.Digest, d.Digest) {
			out.Is = messages.DecisionUnknown // the person saw a different request
		}
	case d.Digest == "" && q.asking(d.ApprovalID): // asked by the run in progress
		fact.MessageID = q.State.Run.MessageID
		out.Is = messages.DecisionDone
	}
	if run := q.State.Run; run != nil && slices.ContainsFunc(run.Answers, func(a journal.RunAnswer) bool { return a.ApprovalID == d.ApprovalID }) {
		out.Is = messages.DecisionAlready
	}
	fact.Late = q.late(fact.MessageID)
	out.MessageID, out.Late = fact.MessageID, fact.Late
	return fact, out
}

// outcomeNow returns the outcome that a decision on a known request has now.
func (q *Requests) outcomeNow(a journal.Asked) messages.DecisionState {
	call, ok := a.Turn.CallOf(a.Request)
	switch {
	case a.Request.Answer == journal.AnswerExpired:
		return messages.DecisionExpired
	case a.Request.Answer != journal.AnswerOpen:
		return messages.DecisionAlready
	case q.expired(a.Request, q.Now()):
		return messages.DecisionExpired
	case !ok || !approval.Bound(a.Request, call):
		return messages.DecisionUnknown
	}
	return messages.DecisionDone
}

// asking reports whether a durable response of the run in progress contains the request.
func (q *Requests) asking(approvalID string) bool {
	return q.State.Run != nil && slices.ContainsFunc(q.State.Run.Parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolApprovalRequested && t.Approval != nil && t.Approval.ID == approvalID
	})
}

// late reports whether a decision can no longer take effect in the message that asked, because another message follows
// it or will follow it.
func (q *Requests) late(messageID string) bool {
	if run := q.State.Run; run != nil {
		return run.MessageID != messageID
	}
	return !q.State.IsLast(messageID)
}

// decided reports decisions to the audit log, the metrics and the watchers.
func (q *Requests) decided(made []journal.ApprovalDecided) {
	for _, d := range made {
		e := decision.AuditEntry{Event: "approval", RequestID: d.RequestID, Result: string(d.Answer), By: d.By, Rule: d.Grant}
		for _, a := range q.State.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID }) {
			call, _ := a.Turn.CallOf(a.Request)
			e.Name, e.Digest, e.RunID, e.Call = call.Name, a.Request.Digest, a.Turn.Meta.RunID, call.ToolCallID
			if waited := q.Now().UnixMilli() - a.Request.Asked; d.By != "" && waited > 0 {
				q.Measure(decision.CountApprovalWait, float64(waited)/1000)
			}
		}
		q.Audit(e)
		q.Count(decision.CountApproval, string(d.Answer))
		q.EventFrame("approval", 0, string(d.Answer))
	}
}

// expired reports whether the deadline of a request has passed. See armExpiry for how the deadline is set.
func (q *Requests) expired(r journal.Request, now time.Time) bool {
	d, ok := q.deadlines[r.ID]
	return ok && !now.Before(d)
}

// maxReason is how much of a person's reason is kept, in characters.
const maxReason = 300

func cutReason(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), maxReason)])
}
