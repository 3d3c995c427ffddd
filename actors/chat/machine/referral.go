package machine

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
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

// again is the timer message for sending things again.
type again struct{}

// sendReferrals sends the pending updates to other chats and to messages with buttons. It is called after everything
// that may change them.
func (c *Chat) sendReferrals() {
	if len(c.state.Referrals)+len(c.state.Buttons) == 0 && c.refers.Empty() {
		return
	}
	now, wanted := c.now(), map[string]bool{}
	if c.Refers {
		for _, msg := range c.refers.Pending(c.state, now, c.key, c.place, wanted) {
			c.route(msg)
		}
	}
	c.showOutcomes(now, wanted)
	c.refers.Keep(wanted)
	switch first, changed := c.refers.Timer(); {
	case !changed:
	case first.IsZero():
		c.endTimer("again")
	default:
		c.timer("again", first.Sub(now), again{})
	}
}

// place describes the chat to the people of other chats.
func (c *Chat) place() referral.Place {
	p := referral.Place{Key: c.key, Title: c.title, Group: c.group(), Chinese: c.inChinese(), Grants: c.Grants != nil, PrivateType: c.via.PrivateType}
	if c.addr.Platform == "task" && c.TaskPlace != nil {
		task := c.TaskPlace(c.key)
		p.Task = &task
	}
	return p
}

// deciders returns those who may decide about requests from someone's turn and can be asked in private.
func (c *Chat) deciders(asker string) []approval.Decider {
	if c.Deciders == nil || !c.Refers {
		return nil
	}
	return slices.DeleteFunc(c.Deciders(c.claim(asker)), func(d approval.Decider) bool { return d.ChatKey == c.key || d.ChatKey == "" || d.Person == "" })
}

// claim returns the data about this chat from which it is derived who may decide.
func (c *Chat) claim(asker string) approval.Claim {
	return approval.Claim{ChatKey: c.key, Platform: c.platform, Group: c.group(), Asker: asker}
}

// asksOthers reports whether the person who caused a request may not decide it, so that others are asked.
func (c *Chat) asksOthers(asker string) bool {
	if c.addr.Platform == "task" {
		return true
	}
	return c.Deciders != nil && c.via.Outbox && !c.mayDecide(messages.Asker{Platform: c.addr.Platform, ID: asker}, asker, false)
}

// refer returns the fact that refers new requests to private chats, or nothing if there is no one to ask.
func (c *Chat) refer(list []journal.Asked) []journal.Fact {
	return referral.Refer(list, func(asker string) []approval.Decider {
		deciders, _ := c.asked(asker)
		return deciders
	})
}

// aboutReferrals handles messages of other chats about requests.
func (c *Chat) aboutReferrals(msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.ShowRequest:
		if r := msg.Request; r.From != "" && r.ApprovalID != "" && r.Digest != "" && r.Person != "" {
			c.showRequest(msg)
		}
	case messages.RequestShown:
		c.settleReferral(msg.ApprovalID, msg.From, false)
	case messages.EndRequest:
		if msg.From != "" && msg.Answer != "" {
			c.endRequest(msg)
		}
	case messages.RequestEnded:
		c.settleReferral(msg.ApprovalID, msg.From, true)
	case messages.DecideReferred:
		c.decideReferred(msg)
	case messages.ReferredDecided:
		c.referredDecided(msg)
	case messages.ReferRequests:
		c.referRequests(msg)
	case messages.OutcomesShown:
		c.outcomesShown(msg)
	default: // no other messages arrive here
	}
}

// settleReferral records what a private chat has confirmed.
func (c *Chat) settleReferral(approvalID string, to messages.ChatKey, ended bool) {
	if fact, changes := referral.Settled(c.state, approvalID, to, ended); changes {
		c.offer(fact) // if refused, the other chat is asked again
		c.answerGatherers()
	}
}

// referRequests refers the open requests to the private chat of someone who wants to see all of them.
func (c *Chat) referRequests(msg messages.ReferRequests) {
	facts := c.refers.Gather(c.state, msg, c.in.Sender, func(asker string) bool { return c.mayFrom(msg.To, msg.Person, asker) })
	if len(facts) > 0 {
		c.offer(facts...)
	}
	c.answerGatherers()
}

// answerGatherers answers those whose chats have confirmed all requests that were referred to them.
func (c *Chat) answerGatherers() {
	c.refers.Gathered(c.state, func(who any, others int) {
		c.send(who, messages.RequestsReferred{ChatKey: c.key, Others: others})
	})
}

// mayFrom reports whether a person may currently decide from their private chat.
func (c *Chat) mayFrom(to messages.ChatKey, person, asker string) bool {
	return slices.ContainsFunc(c.deciders(asker), func(d approval.Decider) bool { return d.ChatKey == to && d.Person == person && person != "" })
}

// decideReferred handles decisions that a person made in their private chat.
func (c *Chat) decideReferred(msg messages.DecideReferred) {
	answer := messages.ReferredDecided{ChatKey: msg.From, From: c.key, ID: msg.ID}
	var made []journal.ApprovalDecided
	var those []journal.Asked
	for _, d := range msg.Say {
		out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionForbidden}
		asker := c.askerOf(d.ApprovalID)
		found := c.state.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
		open := len(found) > 0 && found[0].Request.Answer == journal.AnswerOpen
		switch {
		case len(found) == 0 || d.Digest == "":
			out.Is = messages.DecisionUnknown
		case c.mayFrom(msg.From, msg.By.ID, asker) && (!open || referral.Referred(c.state, journal.Referral{ApprovalID: d.ApprovalID, To: msg.From, Person: msg.By.ID})):
			var fact journal.ApprovalDecided
			fact, out = c.evaluate(d, msg.By, msg.RequestID)
			if out.Is != messages.DecisionDone {
				break
			}
			fact.Reason = cutReason(d.Reason)
			if msg.Via != "" {
				fact.Via = string(msg.From) + "/" + msg.Via
			}
			made, those = append(made, fact), append(those, found[len(found)-1])
		default:
			answer.Unknown = answer.Unknown || c.adminsUnknown()
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	if answer.Unknown && len(made) == 0 && c.waitForAdmins(msg) {
		return
	}
	delete(c.waits.until, adminsWord+msg.ID)
	person := msg.By.Platform + "-" + msg.By.ID
	given, failed := c.grantsFrom(msg, person, those)
	if failed {
		for i := range answer.Outcomes {
			answer.Outcomes[i].Is = messages.DecisionUnknown // the person saw something else
		}
		c.answer(answer)
		return
	}
	for i := range made {
		if len(given) > 0 {
			made[i].Grant = given[0].ID
		}
	}
	c.give(given, made)
	if len(made) > 0 {
		c.wake()
		c.offer(asFacts(made)...)
	}
	c.tellGranted(msg.RequestID, person, given)
	c.answer(answer)
	c.decided(made)
}

// waitForAdmins holds back a decision from a private chat while the platform is asked for the group's administrators.
// It returns false if the message has already waited. The platform was asked when the decision was checked.
func (c *Chat) waitForAdmins(msg messages.DecideReferred) bool {
	if !c.holdBack(adminsWord+msg.ID, msg, adminsWait) {
		return false
	}
	c.timer("look "+msg.ID, adminsLook, heldDue{})
	return true
}

// grantsFrom returns the grants that a person gives with their decisions. They apply to the person who caused the
// requests. It returns true if the grants would not cover all of the requests, or if it is not clear for whom they
// would apply.
func (c *Chat) grantsFrom(msg messages.DecideReferred, person string, those []journal.Asked) ([]permission.Grant, bool) {
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
	terms := c.terms(string(msg.From)+"/"+msg.ID, person)
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
