package machine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// If the person who caused a request may not decide it, the request is shown in the private chats of those who may.
// This file is the chat that asks; referred.go is the private chat.
//
// These invariants hold at any time, even after a crash:
//
//   - Only this chat decides its requests, and the first decision counts. A private chat only passes on what its
//     person said, with the digest of what it showed.
//   - A person's decision is accepted if the request was referred to this private chat and the person may decide
//     when the decision arrives.
//   - A referral is kept, and sent again, until the private chat confirms that it knows how the request ended.

const (
	// referAgain is how long a chat waits for another chat's answer before it asks again. The wait doubles each time,
	// up to referAtMost.
	referAgain  = 5 * time.Second
	referAtMost = 2 * time.Minute
	// adminsWait is how long the decision of a possible administrator waits for the platform to list the
	// administrators; adminsLook is the interval between checks.
	adminsWait = 4 * time.Second
	adminsLook = 100 * time.Millisecond
	adminsWord = "administrators "
)

// TaskPlace describes a task and the chat where it was created.
type TaskPlace struct {
	Title     string
	ChatKey   messages.ChatKey
	ChatTitle string // title of a group; empty if unknown
	Person    string // name of the person of a private chat; empty if unknown
	Group     bool
}

// words returns what the person of a private chat reads about the task. The chat is not named if it is their own.
func (t TaskPlace) words(to messages.ChatKey) (title, chatTitle, person string, group bool) {
	if t.ChatKey == to {
		return t.Title, "", "", false
	}
	return t.Title, t.ChatTitle, t.Person, t.Group
}

// referring is the state of sending referrals. It is not journaled: everything that matters is durable and is sent
// again.
type referring struct {
	tries map[string]try
	armed time.Time // time for which the timer is set; zero if it is not
	// quiet are requests that a private chat shows in a list instead of a message of their own; gatherers wait for
	// that list.
	quiet     map[string]bool
	gatherers []gatherer
}

type try struct {
	at   time.Time // earliest time of the next try
	wait time.Duration
}

// again is the timer message for sending things again.
type again struct{}

// due reports whether something should be sent now. If so, it schedules the next try.
func (r *referring) due(what string, now time.Time) bool {
	t, known := r.tries[what]
	if known && now.Before(t.at) {
		return false
	}
	t.wait = min(max(2*t.wait, referAgain), referAtMost)
	t.at = now.Add(t.wait)
	put(&r.tries, what, t)
	return true
}

// after schedules the first try of something.
func (r *referring) after(what string, at time.Time) {
	if _, known := r.tries[what]; known {
		return
	}
	put(&r.tries, what, try{at: at})
}

func (r *referring) done(what string) { delete(r.tries, what) }

// armAgain sets the timer for the earliest scheduled try.
func (c *Chat) armAgain() {
	var first time.Time
	for _, t := range c.refers.tries {
		if first.IsZero() || t.at.Before(first) {
			first = t.at
		}
	}
	switch {
	case first.Equal(c.refers.armed):
	case first.IsZero():
		c.endTimer("again")
	default:
		c.timer("again", first.Sub(c.now()), again{})
	}
	c.refers.armed = first
}

func (r referring) copy() referring {
	r.tries, r.quiet, r.gatherers = clone(r.tries), clone(r.quiet), slices.Clone(r.gatherers)
	return r
}

// sendReferrals sends the pending updates to other chats and to messages with buttons. It is called after everything that may
// change them.
func (c *Chat) sendReferrals() {
	if len(c.state.Referrals)+len(c.state.Buttons)+len(c.refers.tries) == 0 {
		return
	}
	now, wanted := c.now(), map[string]bool{}
	open := map[string]journal.Asked{}
	for _, a := range c.state.OpenRequests() {
		open[a.Request.ID] = a
	}
	for _, r := range c.state.Referrals {
		a, waits := open[r.ApprovalID]
		what := "end " + r.ApprovalID + " " + string(r.To)
		if waits {
			what = "show " + r.ApprovalID + " " + string(r.To)
		}
		if waits && r.Taken {
			continue
		}
		wanted[what] = true
		if !c.Refers || !c.refers.due(what, now) {
			continue
		}
		if waits {
			c.route(messages.ShowRequest{
				ChatKey: r.To, Request: c.referredRequest(a, r), Quiet: c.refers.quiet[r.ApprovalID+" "+string(r.To)],
			})
		} else {
			c.route(c.endOf(r))
		}
	}
	c.showOutcomes(now, wanted)
	for what := range c.refers.tries {
		if !wanted[what] {
			c.refers.done(what)
		}
	}
	c.armAgain()
}

// endOf returns the message that tells a private chat how a request ended.
func (c *Chat) endOf(r journal.Referral) messages.EndRequest {
	end := messages.EndRequest{ChatKey: r.To, From: c.key, ApprovalID: r.ApprovalID}
	answer, by, name := c.state.HowEnded(r.ApprovalID)
	end.Answer, end.By, end.ByName = string(answer), by, name
	for _, a := range c.state.Requests(func(q journal.Request) bool { return q.ID == r.ApprovalID }) {
		end.Via = a.Request.Via
	}
	if run := c.state.Run; run != nil {
		for _, a := range run.Answers {
			if a.ApprovalID == r.ApprovalID {
				end.Via = a.Via
			}
		}
	}
	if end.Via != "" {
		via, ok := strings.CutPrefix(end.Via, string(r.To)+"/")
		if end.Via = ""; ok {
			end.Via = via
		}
	}
	return end
}

// referredRequest returns a request in the form in which a private chat shows it.
func (c *Chat) referredRequest(a journal.Asked, r journal.Referral) messages.ReferredRequest {
	call, _ := a.Turn.Call(a.Request.CallID)
	out := messages.ReferredRequest{
		From: c.key, ApprovalID: a.Request.ID, CallID: a.Request.CallID, Digest: a.Request.Digest, Asked: a.Request.Asked, Expires: a.Request.Expires,
		Tool: call.Name, Title: call.Title.Or(""), Input: call.Input, Words: a.Request.Words, Chinese: a.Request.Chinese, Exact: a.Request.Exact,
		Command: a.Request.Command, Folder: a.Request.Folder, Bind: a.Request.Bind,
		Person: r.Person, ChatType: cmp.Or(c.via.PrivateType, "private"), Asker: a.Request.Asker, AskerName: c.nameOf(a.Request.Asker), ChatTitle: c.title, Group: c.group(), InChinese: c.inChinese(),
	}
	if c.Grants != nil && out.Asker != "" {
		out.FilesIn = a.Request.FilesIn
	}
	if out.Task = c.addr.Platform == "task"; out.Task {
		out.TaskTitle, out.Asker, out.FilesIn = c.addr.Chat, "", ""
		if c.TaskPlace != nil {
			out.TaskTitle, out.ChatTitle, out.AskerName, out.Group = c.TaskPlace(c.key).words(r.To)
		}
	}
	return out
}

// nameOf returns the name of a person who wrote here, or empty if it is unknown.
func (c *Chat) nameOf(person string) string {
	for _, t := range slices.Backward(c.state.History) {
		if person != "" && t.Meta.UserID == person && t.Meta.Username != "" {
			return t.Meta.Username
		}
	}
	return ""
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
	var f journal.RequestReferred
	for _, a := range list {
		if a.Request.Answer != journal.AnswerOpen || !c.asksOthers(a.Request.Asker) {
			continue
		}
		for _, d := range c.deciders(a.Request.Asker) {
			f.Referrals = append(f.Referrals, journal.Referral{ApprovalID: a.Request.ID, To: d.ChatKey, Person: d.Person})
		}
	}
	if len(f.Referrals) == 0 {
		return nil
	}
	return []journal.Fact{f}
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
	i := slices.IndexFunc(c.state.Referrals, func(r journal.Referral) bool { return r.ApprovalID == approvalID && r.To == to })
	if i < 0 || !ended && c.state.Referrals[i].Taken {
		return
	}
	c.offer(journal.ReferralSettled{ApprovalID: approvalID, To: to, Ended: ended}) // if refused, the other chat is asked again
	c.answerGatherers()
}

// gatherer waits until a private chat shows all requests that its person may decide.
type gatherer struct {
	who Ref
	of  messages.ReferRequests
}

// referRequests refers the open requests to the private chat of someone who wants to see all of them.
func (c *Chat) referRequests(msg messages.ReferRequests) {
	var f journal.RequestReferred
	for _, a := range c.state.OpenRequests() {
		if c.mayFrom(msg.To, msg.Person, a.Request.Asker) && !c.referredTo(msg.To, msg.Person, a.Request.ID) {
			f.Referrals = append(f.Referrals, journal.Referral{ApprovalID: a.Request.ID, To: msg.To, Person: msg.Person})
			put(&c.refers.quiet, a.Request.ID+" "+string(msg.To), true)
		}
	}
	if len(f.Referrals) > 0 {
		c.offer(f)
	}
	if c.in.Sender != nil {
		c.refers.gatherers = append(c.refers.gatherers, gatherer{c.in.Sender, msg})
	}
	c.answerGatherers()
}

// answerGatherers answers the gatherers whose chats have confirmed all requests that were referred to them.
func (c *Chat) answerGatherers() {
	c.refers.gatherers = slices.DeleteFunc(c.refers.gatherers, func(g gatherer) bool {
		answer := messages.RequestsReferred{ChatKey: c.key}
		for _, a := range c.state.OpenRequests() {
			i := slices.IndexFunc(c.state.Referrals, func(r journal.Referral) bool { return r.ApprovalID == a.Request.ID && r.To == g.of.To })
			switch {
			case i < 0:
				answer.Others++
			case !c.state.Referrals[i].Taken:
				return false
			}
		}
		c.send(g.who, answer)
		return true
	})
}

// referredTo reports whether a request was referred to a person in their private chat.
func (c *Chat) referredTo(to messages.ChatKey, person, approvalID string) bool {
	return slices.Contains(c.state.Referrals, journal.Referral{ApprovalID: approvalID, To: to, Person: person, Taken: true}) ||
		slices.Contains(c.state.Referrals, journal.Referral{ApprovalID: approvalID, To: to, Person: person})
}

// mayFrom reports whether a person may currently decide from their private chat.
func (c *Chat) mayFrom(to messages.ChatKey, person, asker string) bool {
	return slices.ContainsFunc(c.deciders(asker), func(d approval.Decider) bool { return d.ChatKey == to && d.Person == person && person != "" })
}

// withGrant records in decisions the grant that was given with them.
func withGrant(facts []journal.Fact, given []permission.Grant) {
	for i := range facts {
		if d, ok := facts[i].(journal.ApprovalDecided); ok && len(given) > 0 {
			d.Grant = given[0].ID
			facts[i] = d
		}
	}
}

// decideReferred handles decisions that a person made in their private chat.
func (c *Chat) decideReferred(msg messages.DecideReferred) {
	answer := messages.ReferredDecided{ChatKey: msg.From, From: c.key, ID: msg.ID}
	var facts []journal.Fact
	var agreed []journal.Request
	var those []journal.Asked
	person := msg.By.Platform + "-" + msg.By.ID
	for _, d := range msg.Say {
		out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionForbidden}
		asker := c.askerOf(d.ApprovalID)
		found := c.state.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
		open := len(found) > 0 && found[0].Request.Answer == journal.AnswerOpen
		switch {
		case len(found) == 0 || d.Digest == "":
			out.Is = messages.DecisionUnknown
		case c.mayFrom(msg.From, msg.By.ID, asker) && (!open || c.referredTo(msg.From, msg.By.ID, d.ApprovalID)):
			var fact journal.ApprovalDecided
			fact, out = c.evaluate(d)
			if out.Is != messages.DecisionDone {
				break
			}
			fact.By, fact.ByName, fact.RequestID, fact.Reason = person, msg.By.Name, msg.RequestID, cutReason(d.Reason)
			if msg.Via != "" {
				fact.Via = string(msg.From) + "/" + msg.Via
			}
			facts, agreed = append(facts, fact), append(agreed, c.approves(fact)...)
			for _, a := range c.state.OpenRequests() {
				if a.Request.ID == d.ApprovalID {
					those = append(those, a)
				}
			}
		default:
			answer.Unknown = answer.Unknown || c.adminsUnknown()
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	if answer.Unknown && len(facts) == 0 && c.waitForAdmins(msg) {
		return
	}
	delete(c.waits.until, adminsWord+msg.ID)
	given, failed := c.grantsFrom(msg, person, those)
	if failed {
		for i := range answer.Outcomes {
			answer.Outcomes[i].Is = messages.DecisionUnknown // the person saw something else
		}
		c.answer(answer)
		return
	}
	withGrant(facts, given)
	c.give(given, agreed)
	if len(facts) > 0 {
		c.wake()
		c.offer(facts...)
	}
	c.tellGranted(msg.RequestID, person, given)
	c.answer(answer)
	c.decided(facts)
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
