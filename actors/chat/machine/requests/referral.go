package requests

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// The chat that asks: see package referral.

const (
	// adminsWait is how long the decision of a possible administrator waits for the platform to list the
	// administrators; adminsLook is the interval between checks.
	adminsWait = 4 * time.Second
	adminsLook = 100 * time.Millisecond
	adminsWord = "administrators "
)

// Again is the timer message for sending things again.
type Again struct{}

// SendReferrals sends the pending updates to other chats and to messages with buttons. It is called after everything
// that may change them.
func (q *Requests) SendReferrals() {
	if len(q.State.Referrals)+len(q.State.Buttons) == 0 && q.refers.Empty() {
		return
	}
	now, wanted := q.Now(), map[string]bool{}
	if q.Refers {
		for _, msg := range q.refers.Pending(q.State, now, q.Key, q.chatFacts, wanted) {
			q.Route(msg)
		}
	}
	q.showOutcomes(now, wanted)
	q.refers.Keep(wanted)
	switch first, changed := q.refers.Timer(); {
	case !changed:
	case first.IsZero():
		q.EndTimer("again")
	default:
		q.Timer("again", first.Sub(now), Again{})
	}
}

// chatFacts describes the chat to the people of other chats.
func (q *Requests) chatFacts() referral.ChatFacts {
	p := referral.ChatFacts{Key: q.Key, Title: q.Title, Group: q.Group(), Chinese: q.InChinese(), Grants: q.Grants != nil, PrivateType: q.Via.PrivateType}
	if q.Addr.Platform == "task" && q.TaskFacts != nil {
		task := q.TaskFacts(q.Key)
		p.Task = &task
	}
	return p
}

// Refer returns the fact that refers new requests to private chats, or nothing if there is no one to ask.
func (q *Requests) Refer(list []journal.Asked) []journal.Fact {
	return referral.Refer(list, func(asker string) []approval.Decider {
		deciders, _ := q.asked(asker)
		return deciders
	})
}

// FromOtherChat handles messages of other chats about requests.
func (q *Requests) FromOtherChat(msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.ShowRequest:
		if r := msg.Request; r.From != "" && r.ApprovalID != "" && r.Digest != "" && r.Person != "" {
			q.showRequest(msg)
		}
	case messages.RequestShown:
		q.settleReferral(msg.ApprovalID, msg.From, false)
	case messages.EndRequest:
		if msg.From != "" && msg.Answer != "" {
			q.ended(msg)
		}
	case messages.RequestEnded:
		q.settleReferral(msg.ApprovalID, msg.From, true)
	case messages.DecideReferred:
		q.decideReferred(msg)
	case messages.ReferredDecided:
		q.referredDecided(msg)
	case messages.ReferRequests:
		q.referRequests(msg)
	case messages.OutcomesShown:
		q.outcomesShown(msg)
	default: // no other messages arrive here
	}
}

// settleReferral records what a private chat has confirmed.
func (q *Requests) settleReferral(approvalID string, to messages.ChatKey, ended bool) {
	if fact, changes := referral.Settled(q.State, approvalID, to, ended); changes {
		q.Offer(fact) // if refused, the other chat is asked again
		q.answerGatherers()
	}
}

// referRequests refers the open requests to the private chat of someone who wants to see all of them.
func (q *Requests) referRequests(msg messages.ReferRequests) {
	facts := q.refers.Gather(q.State, msg, q.In.Sender, func(asker string) bool { return q.mayFrom(msg.To, msg.Person, asker) })
	if len(facts) > 0 {
		q.Offer(facts...)
	}
	q.answerGatherers()
}

// answerGatherers answers those whose chats have confirmed all requests that were referred to them.
func (q *Requests) answerGatherers() {
	q.refers.Gathered(q.State, func(who any, others int) {
		q.Send(who, messages.RequestsReferred{ChatKey: q.Key, Others: others})
	})
}

// decideReferred handles decisions that a person made in their private chat.
func (q *Requests) decideReferred(msg messages.DecideReferred) {
	answer := messages.ReferredDecided{ChatKey: msg.From, From: q.Key, ID: msg.ID}
	unknown := q.adminsUnknown() // before the checks, which have the platform asked
	var made []journal.ApprovalDecided
	var those []journal.Asked
	for _, d := range msg.Say {
		out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionForbidden}
		asker := q.askerOf(d.ApprovalID)
		found := q.State.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
		open := len(found) > 0 && found[0].Request.Answer == journal.AnswerOpen
		switch {
		case len(found) == 0 || d.Digest == "":
			out.Is = messages.DecisionUnknown
		case q.mayFrom(msg.From, msg.By.ID, asker) && (!open || referral.Referred(q.State, journal.Referral{ApprovalID: d.ApprovalID, To: msg.From, Person: msg.By.ID})):
			var fact journal.ApprovalDecided
			fact, out = q.evaluate(d, msg.By, msg.RequestID)
			if out.Is != messages.DecisionDone {
				break
			}
			fact.Reason = cutReason(d.Reason)
			if msg.Via != "" {
				fact.Via = string(msg.From) + "/" + msg.Via
			}
			made, those = append(made, fact), append(those, found[len(found)-1])
		default:
			answer.Unknown = unknown
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	if answer.Unknown && len(made) == 0 && q.waitForAdmins(msg) {
		return
	}
	q.Release(adminsWord + msg.ID)
	person := msg.By.Platform + "-" + msg.By.ID
	given, failed := q.grantsFrom(msg, person, those)
	if failed {
		for i := range answer.Outcomes {
			answer.Outcomes[i].Is = messages.DecisionUnknown // the person saw something else
		}
		q.Answer(answer)
		return
	}
	for i := range made {
		if len(given) > 0 {
			made[i].Grant = given[0].ID
		}
	}
	q.give(given, made)
	if len(made) > 0 {
		q.Wake()
		q.Offer(asFacts(made)...)
	}
	q.tellGranted(msg.RequestID, person, given)
	q.Answer(answer)
	q.decided(made)
}

// waitForAdmins holds back a decision from a private chat while the platform is asked for the group's administrators.
// It returns false if the message has already waited. The platform was asked when the decision was checked.
func (q *Requests) waitForAdmins(msg messages.DecideReferred) bool {
	if !q.HoldBack(adminsWord+msg.ID, msg, adminsWait) {
		return false
	}
	q.Timer("look "+msg.ID, adminsLook, decision.HeldDue{})
	return true
}

// grantsFrom returns the grants that a person gives with their decisions. They apply to the person who caused the
// requests. It returns true if the grants would not cover all of the requests, or if it is not clear for whom they
// would apply.
func (q *Requests) grantsFrom(msg messages.DecideReferred, person string, those []journal.Asked) ([]permission.Grant, bool) {
	if len(msg.Rules) == 0 && !msg.Folders {
		return nil, false
	}
	if len(those) == 0 || len(those) != len(msg.Say) {
		return nil, true
	}
	asker := those[0].Request.Asker
	if asker == "" || slices.ContainsFunc(those, func(a journal.Asked) bool { return a.Request.Asker != asker }) {
		return nil, true
	}
	terms := q.terms(string(msg.From)+"/"+msg.ID, person)
	terms.For = asker
	given, covered := terms.Folders(those), those
	if !msg.Folders {
		given, covered = terms.Rules(msg.Rules, msg.Minutes, those)
	}
	if len(given) == 0 || len(covered) != len(those) {
		return nil, true
	}
	return given, false
}
