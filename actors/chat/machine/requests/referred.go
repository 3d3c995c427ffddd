package requests

import (
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
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

// showRequest shows a request of another chat. Repeating it has no further effect.
func (q *Requests) showRequest(msg messages.ShowRequest) {
	r := msg.Request
	shown := messages.RequestShown{ChatKey: r.From, From: q.Key, ApprovalID: r.ApprovalID}
	if g, known := q.State.ReferredRequest(r.ApprovalID); known {
		if g.Origin == r.From {
			q.Route(shown)
		}
		return
	}
	if !q.Via.Outbox || !q.Refers || len(q.State.OpenReferred()) >= maxReferred || q.State.HasRequest(r.ApprovalID) {
		return // it will be sent again
	}
	if q.ChatType == "" {
		q.ChatType = r.ChatType
	}
	f := referral.Show(q.State, msg, q.readsChinese(r))
	q.Wake()
	q.Offer(f)
	q.DeliverRows(f.Rows)
	q.Route(shown)
}

// readsChinese reports whether the person of a private chat is asked in Chinese. If they have not written yet, and it is
// not known what their client is in, the language of the chat that asks is used.
func (q *Requests) readsChinese(r messages.ReferredRequest) bool {
	wrote := slices.ContainsFunc(q.State.History, func(t journal.Turn) bool { return t.Role == uimessage.RoleUser })
	if !wrote && q.ChosenLanguage() != decision.LanguageEnglish && r.InChinese && q.Client() == "" {
		return true
	}
	return q.InChinese()
}

// endRequest records how a request of another chat ended.
func (q *Requests) ended(msg messages.EndRequest) {
	g, known := q.State.ReferredRequest(msg.ApprovalID)
	if msg.Via != "" && q.elsewhere[msg.Via] != nil {
		return // the message that decided it will end it, and this one is sent again
	}
	if known && g.Origin == msg.From && g.Answer == journal.AnswerOpen {
		f := journal.ReferredRequestEnded{
			Origin: msg.From, ApprovalID: msg.ApprovalID, Answer: journal.Answer(msg.Answer), By: msg.By, ByName: msg.ByName,
		}
		if msg.Via != "" && !q.State.Known(msg.Via) {
			f.Ingress = &journal.Ingress{ID: msg.Via, Seq: q.State.Seq + 1, UserID: g.Person} // not settled before a crash
		}
		q.Wake()
		q.Offer(f)
	}
	if q.Refers {
		q.Route(messages.RequestEnded{ChatKey: msg.From, From: q.Key, ApprovalID: msg.ApprovalID})
	}
}

// askOrigins passes a decision on to the chats that asked, and holds back the message until they have answered. It
// returns false if none of the requests belongs to another chat.
func (q *Requests) askOrigins(msg messages.AcceptIngress, turn journal.Turn, v ruling.Verdict) bool {
	order := messages.DecideReferred{ID: msg.IngressID, Via: msg.IngressID, RequestID: msg.RequestID, From: q.Key, By: decision.AskerOf(turn)}
	d, orders, ok := referral.Decide(order, v)
	switch {
	case !ok:
		return q.listAgain(msg, turn)
	case d == nil:
		return false
	}
	q.sendOrders(msg.IngressID, d, orders)
	q.HoldBack(msg.IngressID, msg, originWait)
	return true
}

// sendOrders sends a decision to the chats that asked.
func (q *Requests) sendOrders(id string, d *referral.Decision, orders []messages.DecideReferred) {
	for _, order := range orders {
		q.Effect(decision.Route{Msg: order, Asks: true})
	}
	decision.Put(&q.elsewhere, id, d)
}

// referredDecided handles the answer of a chat that asked.
func (q *Requests) referredDecided(msg messages.ReferredDecided) {
	d, ok := q.elsewhere[msg.ID].Answered(q.State, msg)
	if !ok {
		return
	}
	q.elsewhere[msg.ID] = d
	if !d.Waits() {
		q.Retake()
	}
}

// DecidedElsewhere continues with a message that was held back until other chats answered. It returns false for other
// messages.
func (q *Requests) DecidedElsewhere(msg messages.AcceptIngress, turn journal.Turn) bool {
	d := q.elsewhere[msg.IngressID]
	switch {
	case d == nil:
		return false
	case d.Waits() && q.HoldBack(msg.IngressID, msg, originWait):
		return true
	}
	delete(q.elsewhere, msg.IngressID)
	q.Release(msg.IngressID)
	if d.Failed() {
		q.Refuse(msg) // the sender repeats it, and decisions that were made are known then
		return true
	}
	turn.Meta.Seq = q.State.Seq + 1
	by := decision.AskerOf(turn)
	settled := journal.IngressSettled{Ingress: q.IngressOf(msg, turn), Fate: journal.FateAnswered, Reason: "approval"}
	settled.Ingress.Text, _ = decision.OnlyWords(msg)
	own := q.ownDecisions(d.Verdict, by, msg.RequestID)
	ended := d.Ended(q.State, by)
	say := q.Text(d.Words(q.State), turn)
	settled.Rows = q.HostRow(msg, turn, say)
	q.give(nil, own)
	q.Wake()
	q.Offer(slices.Concat([]journal.Fact{settled}, asFacts(own), ended)...)
	q.Answer(messages.IngressAccepted{ChatKey: q.Key, RequestID: msg.RequestID, Answer: q.Directly(msg, say)})
	q.DeliverRows(settled.Rows)
	q.tellEnds(ended)
	q.decided(own)
	q.SettledFrame(turn.ID)
	return true
}

// ownDecisions returns the decisions of the same message about this chat's own requests.
func (q *Requests) ownDecisions(v ruling.Verdict, by messages.Asker, requestID string) (made []journal.ApprovalDecided) {
	for _, a := range v.Those {
		d := messages.Decision{ApprovalID: a.Request.ID, Approved: v.Approves, Digest: a.Request.Digest, Reason: cutReason(v.Reason)}
		if fact, out := q.evaluate(d, by, requestID); a.Origin == "" && out.Is == messages.DecisionDone {
			made = append(made, fact)
		}
	}
	return made
}

// tellEnds confirms to the chats that asked that this chat knows how their requests ended.
func (q *Requests) tellEnds(ended []journal.Fact) {
	for _, f := range ended {
		if e, ok := f.(journal.ReferredRequestEnded); ok {
			q.Route(messages.RequestEnded{ChatKey: e.Origin, From: q.Key, ApprovalID: e.ApprovalID})
		}
	}
}

// gather asks the other chats to show their requests here before a list is sent. If waits is true, the message is held
// back until they have answered.
func (q *Requests) gather(msg messages.AcceptIngress) (others int, waits bool) {
	by := decision.AskerOf(journal.NewTurn(msg.Turn))
	if !q.Gathers || q.Group() || !q.Via.Outbox || by.ID == "" {
		return 0, false
	}
	g, asked := q.gathering[msg.IngressID]
	if asked && (g.Done || !q.HoldBack(msg.IngressID, msg, GatherWait)) {
		delete(q.gathering, msg.IngressID)
		q.Release(msg.IngressID)
		return g.Others, false
	}
	if asked {
		return 0, true
	}
	decision.Put(&q.gathering, msg.IngressID, decision.Gathered{ID: msg.IngressID})
	q.Effect(decision.GatherRequests{ID: msg.IngressID, Person: by.ID})
	q.HoldBack(msg.IngressID, msg, GatherWait)
	return 0, true
}

// OnGathered continues with a list once other chats have shown their requests here.
func (q *Requests) OnGathered(msg decision.Gathered) {
	if _, waits := q.gathering[msg.ID]; waits {
		q.gathering[msg.ID] = msg
		q.Retake()
	}
}
