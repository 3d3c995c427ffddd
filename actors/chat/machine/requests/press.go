package requests

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// pressElsewhere handles a button press on a request of another chat. It returns false if it is not on such a request.
func (q *Requests) pressElsewhere(msg messages.DecideApproval) bool {
	v := ruling.Verdict{Sense: ruling.Decide}
	answer := messages.ApprovalDecided{ChatKey: q.Key}
	for _, d := range msg.Say {
		g, ok := q.State.ReferredRequest(d.ApprovalID)
		if !ok {
			continue
		}
		out := referral.Press(g, d.Digest)
		switch {
		case !q.mayAbout(msg.By, g.ID):
			out = messages.DecisionOutcome{ApprovalID: g.ID, Is: messages.DecisionForbidden}
		case out.Is == messages.DecisionDone && q.State.Unseen(g.ID) != nil:
			out.Is = messages.DecisionUnseen
		case out.Is == messages.DecisionDone:
			v.Those, v.Approves, v.Reason = append(v.Those, g.Asked()), d.Approved, d.Reason
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	switch d := q.elsewhere[msg.RequestID]; {
	case len(answer.Outcomes) == 0:
		return false
	case d != nil:
		q.pressDecided(msg, d)
	case len(msg.Say) != 1 || !q.Refers:
		q.Refuse(msg) // Unreachable: a button decides one request
	case len(v.Those) == 0:
		q.Answer(answer)
	default:
		d, orders, _ := referral.Decide(messages.DecideReferred{ID: msg.RequestID, RequestID: msg.RequestID, From: q.Key, By: msg.By}, v)
		q.sendOrders(msg.RequestID, d, orders)
		q.HoldBack(msg.RequestID, msg, pressWait)
	}
	return true
}

// pressDecided answers a button press whose request another chat has decided.
func (q *Requests) pressDecided(msg messages.DecideApproval, d *referral.Decision) {
	if d.Waits() && q.HoldBack(msg.RequestID, msg, pressWait) {
		return
	}
	delete(q.elsewhere, msg.RequestID)
	q.Release(msg.RequestID)
	out, ok := d.Outcome(msg.Say[0].ApprovalID)
	ended := d.Ended(q.State, msg.By)
	if d.Failed() || !ok {
		q.Refuse(msg)
		return
	}
	if len(ended) > 0 {
		q.Wake()
		q.Offer(ended...)
	}
	q.Answer(messages.ApprovalDecided{ChatKey: q.Key, Outcomes: []messages.DecisionOutcome{out}})
	q.tellEnds(ended)
}

// waitToDecide holds back button presses on a row that is not yet completely shown.
func (q *Requests) waitToDecide(msg messages.DecideApproval) bool {
	wait := pressWait
	if msg.Wait > 0 {
		wait = min(wait, msg.Wait-pressSpare)
	}
	early := !decision.IsOwn(msg.By.Platform) && slices.ContainsFunc(msg.Say, func(d messages.Decision) bool {
		row := q.State.Unseen(d.ApprovalID)
		return row != nil && !row.Parked
	})
	if early && wait > 0 && q.HoldBack(msg.RequestID, msg, wait) {
		return true
	}
	if q.elsewhere[msg.RequestID] == nil { // otherwise the press still waits for the decision of the other chat
		q.Release(msg.RequestID)
	}
	return false
}

// DecideByID handles decisions that name requests by id.
func (q *Requests) DecideByID(msg messages.DecideApproval) {
	if q.waitToDecide(msg) || q.pressElsewhere(msg) {
		return
	}
	answer := messages.ApprovalDecided{ChatKey: q.Key}
	var made []journal.ApprovalDecided
	for _, d := range msg.Say {
		out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionForbidden}
		if q.mayDecide(msg.By, q.askerOf(d.ApprovalID)) {
			var fact journal.ApprovalDecided
			fact, out = q.evaluate(d, msg.By, msg.RequestID)
			switch {
			case out.Is != messages.DecisionDone:
			case !decision.IsOwn(msg.By.Platform) && q.State.Unseen(d.ApprovalID) != nil:
				out.Is = messages.DecisionUnseen
			case slices.ContainsFunc(made, func(f journal.ApprovalDecided) bool { return f.ApprovalID == d.ApprovalID }):
				out.Is = messages.DecisionAlready
			default:
				made = append(made, fact)
			}
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	q.give(nil, made)
	if len(made) > 0 {
		q.Wake()
		q.Offer(asFacts(made)...)
	}
	q.Answer(answer)
	q.decided(made)
}
