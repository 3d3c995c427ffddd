package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A private chat shows requests of other chats to its person, under its own numbers, and passes on the person's
// decisions. Words and button presses follow the same rules as for the chat's own requests; whether a decision is
// valid is up to the other chat.

const (
	// maxReferred is how many open requests of other chats a private chat shows. Further requests wait until one has
	// ended.
	maxReferred = 100
	// originWait is how long a message waits for the answers of other chats.
	originWait = 8 * time.Second
	// GatherWait is how long a list waits for the requests of other chats.
	GatherWait = 4 * time.Second
)

// openHere returns the requests that are open in this chat, its own and those of other chats, sorted by number.
func (c *Chat) openHere() []journal.Asked {
	own, referred := c.state.OpenRequests(), c.state.OpenReferred()
	if len(referred) == 0 {
		return own
	}
	all := slices.Concat(own, referred)
	slices.SortStableFunc(all, func(a, b journal.Asked) int { return a.Request.N - b.Request.N })
	return all
}

// mayAbout reports whether a person may decide about a request that is open here. A request of another chat is for one
// person, identified by id only.
func (c *Chat) mayAbout(by messages.Asker, approvalID string, admin bool) bool {
	g, ok := c.state.ReferredRequest(approvalID)
	if !ok {
		return c.mayDecide(by, c.askerOf(approvalID), admin)
	}
	platform, _, _ := strings.Cut(by.Platform, "@")
	return by.ID != "" && by.ID == g.Person && platform == c.addr.Platform
}

// showRequest shows a request of another chat. Repeating it has no further effect.
func (c *Chat) showRequest(msg messages.ShowRequest) {
	r := msg.Request
	shown := messages.RequestShown{ChatKey: r.From, From: c.key, ApprovalID: r.ApprovalID}
	if g, known := c.state.ReferredRequest(r.ApprovalID); known {
		if g.Origin == r.From {
			c.route(shown)
		}
		return
	}
	if !c.via.Outbox || !c.Refers || len(c.state.OpenReferred()) >= maxReferred || c.state.HasRequest(r.ApprovalID) {
		return // it will be sent again
	}
	if c.chatType == "" {
		c.chatType = r.ChatType
	}
	f := referral.Show(c.state, msg, c.readsChinese(r))
	c.wake()
	c.offer(f)
	c.deliverRows(f.Rows)
	c.route(shown)
}

// readsChinese reports whether the person of a private chat is asked in Chinese. If they have not written yet, the
// language of the chat that asks is used.
func (c *Chat) readsChinese(r messages.ReferredRequest) bool {
	wrote := slices.ContainsFunc(c.state.History, func(t journal.Turn) bool { return t.Role == uimessage.RoleUser })
	if !wrote && c.language() != LanguageEnglish && r.InChinese {
		return true
	}
	return c.inChinese()
}

// endRequest records how a request of another chat ended.
func (c *Chat) endRequest(msg messages.EndRequest) {
	g, known := c.state.ReferredRequest(msg.ApprovalID)
	if msg.Via != "" && c.elsewhere[msg.Via] != nil {
		return // the message that decided it will end it, and this one is sent again
	}
	if known && g.Origin == msg.From && g.Answer == journal.AnswerOpen {
		f := journal.ReferredRequestEnded{
			Origin: msg.From, ApprovalID: msg.ApprovalID, Answer: journal.Answer(msg.Answer), By: msg.By, ByName: msg.ByName,
		}
		if msg.Via != "" && !c.state.Known(msg.Via) {
			f.Ingress = &journal.Ingress{ID: msg.Via, Seq: c.state.Seq + 1, UserID: g.Person} // not settled before a crash
		}
		c.wake()
		c.offer(f)
	}
	if c.Refers {
		c.route(messages.RequestEnded{ChatKey: msg.From, From: c.key, ApprovalID: msg.ApprovalID})
	}
}

// askOrigins passes a decision on to the chats that asked, and holds back the message until they have answered. It
// returns false if none of the requests belongs to another chat.
func (c *Chat) askOrigins(msg messages.AcceptIngress, turn journal.Turn, v ruling.Verdict) bool {
	order := messages.DecideReferred{ID: msg.IngressID, Via: msg.IngressID, RequestID: msg.RequestID, From: c.key, By: askerOf(turn)}
	d, orders, ok := referral.Decide(order, v)
	switch {
	case !ok:
		return c.listAgain(msg, turn)
	case d == nil:
		return false
	}
	c.sendOrders(msg.IngressID, d, orders)
	c.holdBack(msg.IngressID, msg, originWait)
	return true
}

// sendOrders sends a decision to the chats that asked.
func (c *Chat) sendOrders(id string, d *referral.Decision, orders []messages.DecideReferred) {
	for _, order := range orders {
		c.effect(Route{Msg: order, Asks: true})
	}
	put(&c.elsewhere, id, d)
}

// referredDecided handles the answer of a chat that asked.
func (c *Chat) referredDecided(msg messages.ReferredDecided) {
	d, ok := c.elsewhere[msg.ID].Answered(c.state, msg)
	if !ok {
		return
	}
	c.elsewhere[msg.ID] = d
	if !d.Waits() {
		c.retake()
	}
}

// decidedElsewhere continues with a message that was held back until other chats answered. It returns false for other
// messages.
func (c *Chat) decidedElsewhere(msg messages.AcceptIngress, turn journal.Turn) bool {
	d := c.elsewhere[msg.IngressID]
	switch {
	case d == nil:
		return false
	case d.Waits() && c.holdBack(msg.IngressID, msg, originWait):
		return true
	}
	delete(c.elsewhere, msg.IngressID)
	delete(c.waits.until, msg.IngressID)
	if d.Failed() {
		c.refuse(msg) // the sender repeats it, and decisions that were made are known then
		return true
	}
	turn.Meta.Seq = c.state.Seq + 1
	by := askerOf(turn)
	settled := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: journal.FateAnswered, Reason: "approval"}
	settled.Ingress.Text, _ = onlyWords(msg)
	own := c.ownDecisions(d.Verdict, by, msg.RequestID)
	ended := d.Ended(c.state, by)
	say := c.text(d.Words(c.state), turn)
	settled.Rows = c.hostRow(msg, turn, say)
	c.give(nil, own)
	c.wake()
	c.offer(slices.Concat([]journal.Fact{settled}, asFacts(own), ended)...)
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, say)})
	c.deliverRows(settled.Rows)
	c.tellEnds(ended)
	c.decided(own)
	c.settledFrame(turn.ID)
	return true
}

// ownDecisions returns the decisions of the same message about this chat's own requests.
func (c *Chat) ownDecisions(v ruling.Verdict, by messages.Asker, requestID string) (made []journal.ApprovalDecided) {
	for _, a := range v.Those {
		d := messages.Decision{ApprovalID: a.Request.ID, Approved: v.Approves, Digest: a.Request.Digest, Reason: cutReason(v.Reason)}
		if fact, out := c.evaluate(d, by, requestID); a.Origin == "" && out.Is == messages.DecisionDone {
			made = append(made, fact)
		}
	}
	return made
}

// tellEnds confirms to the chats that asked that this chat knows how their requests ended.
func (c *Chat) tellEnds(ended []journal.Fact) {
	for _, f := range ended {
		if e, ok := f.(journal.ReferredRequestEnded); ok {
			c.route(messages.RequestEnded{ChatKey: e.Origin, From: c.key, ApprovalID: e.ApprovalID})
		}
	}
}

// pressElsewhere handles a button press on a request of another chat. It returns false if it is not on such a request.
func (c *Chat) pressElsewhere(msg messages.DecideApproval) bool {
	v := ruling.Verdict{Sense: ruling.Decide}
	answer := messages.ApprovalDecided{ChatKey: c.key}
	for _, d := range msg.Say {
		g, ok := c.state.ReferredRequest(d.ApprovalID)
		if !ok {
			continue
		}
		out := referral.Press(g, d.Digest)
		switch {
		case !c.mayAbout(msg.By, g.ID, msg.Admin):
			out = messages.DecisionOutcome{ApprovalID: g.ID, Is: messages.DecisionForbidden}
		case out.Is == messages.DecisionDone && c.unseenIn(g.ID) != nil:
			out.Is = messages.DecisionUnseen
		case out.Is == messages.DecisionDone:
			v.Those, v.Approves, v.Reason = append(v.Those, g.Asked()), d.Approved, d.Reason
		}
		answer.Outcomes = append(answer.Outcomes, out)
	}
	switch d := c.elsewhere[msg.RequestID]; {
	case len(answer.Outcomes) == 0:
		return false
	case d != nil:
		c.pressDecided(msg, d)
	case len(msg.Say) != 1 || !c.Refers:
		c.refuse(msg) // Unreachable: a button decides one request
	case len(v.Those) == 0:
		c.answer(answer)
	default:
		d, orders, _ := referral.Decide(messages.DecideReferred{ID: msg.RequestID, RequestID: msg.RequestID, From: c.key, By: msg.By}, v)
		c.sendOrders(msg.RequestID, d, orders)
		c.holdBack(msg.RequestID, msg, pressWait)
	}
	return true
}

// pressDecided answers a button press whose request another chat has decided.
func (c *Chat) pressDecided(msg messages.DecideApproval, d *referral.Decision) {
	if d.Waits() && c.holdBack(msg.RequestID, msg, pressWait) {
		return
	}
	delete(c.elsewhere, msg.RequestID)
	delete(c.waits.until, msg.RequestID)
	out, ok := d.Outcome(msg.Say[0].ApprovalID)
	ended := d.Ended(c.state, msg.By)
	if d.Failed() || !ok {
		c.refuse(msg)
		return
	}
	if len(ended) > 0 {
		c.wake()
		c.offer(ended...)
	}
	c.answer(messages.ApprovalDecided{ChatKey: c.key, Outcomes: []messages.DecisionOutcome{out}})
	c.tellEnds(ended)
}

// gather asks the other chats to show their requests here before a list is sent. If waits is true, the message is held
// back until they have answered.
func (c *Chat) gather(msg messages.AcceptIngress) (others int, waits bool) {
	by := askerOf(journal.NewTurn(msg.Turn))
	if !c.Gathers || c.group() || !c.via.Outbox || by.ID == "" {
		return 0, false
	}
	g, asked := c.gathering[msg.IngressID]
	if asked && (g.Done || !c.holdBack(msg.IngressID, msg, GatherWait)) {
		delete(c.gathering, msg.IngressID)
		delete(c.waits.until, msg.IngressID)
		return g.Others, false
	}
	if asked {
		return 0, true
	}
	put(&c.gathering, msg.IngressID, Gathered{ID: msg.IngressID})
	c.effect(GatherRequests{msg.IngressID, by.ID})
	c.holdBack(msg.IngressID, msg, GatherWait)
	return 0, true
}

func (c *Chat) onGathered(msg Gathered) {
	if _, waits := c.gathering[msg.ID]; waits {
		c.gathering[msg.ID] = msg
		c.retake()
	}
}
