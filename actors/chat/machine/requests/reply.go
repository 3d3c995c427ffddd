package requests

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// DecideInWords handles a message that decides requests. It returns false for any other message. Text that was
// forwarded or edited later decides nothing.
func (q *Requests) DecideInWords(msg messages.AcceptIngress, turn journal.Turn) bool {
	v := q.understand(msg, turn)
	switch v.Sense {
	case ruling.Revoke:
		return q.obeyRevoke(msg, turn, decision.AskerOf(turn), v.Order)
	case ruling.List:
		return q.listAll(msg, turn)
	case ruling.NotClear:
		return q.listAgain(msg, turn)
	case ruling.Unbound:
		// If the message did not address the bot, its words are an ordinary turn.
		return (v.ToBot || !msg.Overheard) && q.listAgain(msg, turn)
	case ruling.Forbid:
		if !q.adminsUnknown() {
			return q.sayToThem(msg, turn, notices.MayNotDecide(q.At()))
		}
		fallthrough
	case ruling.Unknown:
		return q.sayToThem(msg, turn, notices.AdminsUnknown())
	case ruling.Decide, ruling.Grant:
		return q.decideThose(msg, turn, v)
	case ruling.None, ruling.Undecided: // see sayUndecided
	}
	return false
}

// SayUndecided tells the sender of an ordinary turn that it decided nothing, if it reads like a decision. The model
// reads it, too, but cannot decide.
func (q *Requests) SayUndecided(msg messages.AcceptIngress, turn journal.Turn) {
	if len(q.openHere()) == 0 || msg.Verdict != messages.VerdictOpen || !q.Via.Outbox {
		return
	}
	if v := q.understand(msg, turn); v.Sense != ruling.Undecided && (v.Sense != ruling.Unbound || v.Stray) {
		return
	}
	theirs := q.theirs(decision.AskerOf(turn))
	if len(theirs) == 0 {
		return // they have lost their role since the message was understood
	}
	rows := q.HostRow(msg, turn, q.Text(notices.Undecided(strconv.Itoa(theirs[0].Request.N), q.At()), turn))
	for _, row := range rows {
		q.Offer(journal.EgressQueued{Row: row})
	}
	q.DeliverRows(rows)
}

// sayToThem answers a message with a notice. It returns false if the chat cannot answer the sender.
func (q *Requests) sayToThem(msg messages.AcceptIngress, turn journal.Turn, n notices.Text) bool {
	if q.CanSay(msg) {
		q.Settle(msg, turn, journal.FateAnswered, "approval", q.Text(n, turn))
	}
	return q.CanSay(msg)
}

// understand interprets a message. It has no side effects, so a message can be interpreted again once it is known what
// the bot said before it.
func (q *Requests) understand(msg messages.AcceptIngress, turn journal.Turn) ruling.Verdict {
	words, ok := decision.OnlyWords(msg)
	if !ok || !q.TakesWords() && msg.Verdict != messages.VerdictCommand || msg.Bot || msg.Forwarded {
		return ruling.Verdict{}
	}
	by := decision.AskerOf(turn)
	m := ruling.Message{
		Text: words, Self: q.Self(), Words: q.TakesWords(), ToBot: turnsToBot(msg), Open: q.openHere(), Theirs: q.theirs(by), Own: q.causedBy(by),
	}
	if q.Group() {
		m.Unknown = func() bool { return q.adminsUnknown() && q.CanSay(msg) }
	}
	if len(m.Theirs) > 0 {
		m.About, m.Terms = q.about(msg, turn), q.terms(msg.IngressID, by.Platform+"-"+by.ID)
	}
	return ruling.Of(m)
}

// decideThose decides the requests that a message names, and grants rules or folders for a time if it does so.
func (q *Requests) decideThose(msg messages.AcceptIngress, turn journal.Turn, v ruling.Verdict) bool {
	if q.askOrigins(msg, turn, v) {
		return true
	}
	by := decision.AskerOf(turn)
	given, say := v.Grants(q.terms(msg.IngressID, by.Platform+"-"+by.ID), q.At())
	var made []journal.ApprovalDecided
	for _, a := range v.Those {
		d := messages.Decision{ApprovalID: a.Request.ID, Approved: v.Approves, Reason: cutReason(v.Reason)}
		fact, out := q.evaluate(d, by, msg.RequestID)
		if out.Is != messages.DecisionDone || v.Sense == ruling.Grant && len(given) == 0 {
			return q.listAgain(msg, turn)
		}
		if v.Sense == ruling.Grant {
			fact.Grant = given[0].ID
		}
		made = append(made, fact)
	}
	if v.Sense == ruling.Grant {
		q.give(given, nil)
		q.tellGranted(msg.RequestID, by.Platform+"-"+by.ID, given)
	} else {
		q.give(nil, made)
	}
	q.decideByIngress(msg, turn, made, q.Text(say, turn))
	return true
}

// turnsToBot reports whether a message addresses the bot. While a request is open, this includes messages that consist
// only of a decision, in groups where the bot otherwise sees only messages addressed to it.
func turnsToBot(msg messages.AcceptIngress) bool {
	return !msg.Overheard && (msg.Verdict != messages.VerdictIgnored || msg.Decides)
}

// decideByIngress makes the decisions and the message durable in one write, and answers.
func (q *Requests) decideByIngress(msg messages.AcceptIngress, turn journal.Turn, decided []journal.ApprovalDecided, say string) {
	in := q.IngressOf(msg, turn)
	in.Text, _ = decision.OnlyWords(msg)
	decided[0].Ingress, decided[0].Rows = &in, q.HostRow(msg, turn, say)
	q.Offer(asFacts(decided)...)
	q.Answer(messages.IngressAccepted{ChatKey: q.Key, RequestID: msg.RequestID, Answer: q.Directly(msg, cmp.Or(say, q.decidedWords(decided, turn)))})
	q.DeliverRows(decided[0].Rows)
	q.decided(decided)
	q.SettledFrame(turn.ID) // watchers must see the decisions before they may leave
}

// about finds what a message refers to. It uses only durable data: the receipts of the rows that showed requests, and
// in a chat without an outbox what its readers saw last.
func (q *Requests) about(msg messages.AcceptIngress, turn journal.Turn) bind.Bound {
	if !q.Via.Outbox {
		return q.read()
	}
	var rows []bind.Row
	by := decision.AskerOf(turn)
	for _, s := range q.State.Shown {
		// People outside of a thread do not see what was shown in it: there the bot said something else last.
		row := bind.Row{Next: s.Next, Doubt: s.Doubt || q.InThread(q.NewestBefore(s.Key.MessageID))}
		for _, id := range s.Requests {
			if q.mayAbout(by, id) {
				row.Requests = append(row.Requests, id)
			}
		}
		for _, p := range s.Pieces {
			row.Pieces = append(row.Pieces, bind.Piece(p))
		}
		rows = append(rows, row)
	}
	return bind.Of(rows, bind.Words{
		Order: msg.Order, ReplyTo: turn.Meta.ReplyTo, ToBot: msg.ToBot, Elsewhere: msg.Elsewhere,
		// In a thread that is not a chat of its own, we do not know what the bot said there last.
		InFlight: len(q.State.Pending()) > 0 || q.InThread(turn),
	})
}

// read returns what words refer to in a chat whose readers see the history itself as it is written: the requests of
// the newest message, unless a run is in progress or the host has answered since. Everything in the history counts as
// shown.
func (q *Requests) read() bind.Bound {
	var b bind.Bound
	b.Seen = approval.IDsOf(q.openHere())
	if q.State.Run == nil {
		b.List = slices.Clone(q.State.Read.Requests)
	}
	return b
}

// MayConcern reports whether a group message that is not addressed to the bot may be about a request that is open.
func (q *Requests) MayConcern(msg messages.AcceptIngress) bool {
	return msg.Decides && !msg.Bot && !msg.Forwarded && msg.EditOf == "" && len(q.openHere()) > 0
}

// DecideUnaddressed handles a group message that is not addressed to the bot while a request is open: a decision by
// someone who may decide counts as addressed. Other messages are left to the gate, and no model reads them.
func (q *Requests) DecideUnaddressed(msg messages.AcceptIngress, turn journal.Turn) bool {
	switch v := q.understand(msg, turn); v.Sense {
	case ruling.Decide, ruling.Grant:
		return q.decideThose(msg, turn, v)
	case ruling.Unknown:
		return q.sayToThem(msg, turn, notices.AdminsUnknown())
	case ruling.None, ruling.Undecided:
		return q.sayHowToDecide(msg, turn)
	case ruling.Unbound, ruling.Forbid, ruling.List, ruling.Revoke, ruling.NotClear:
	}
	return false
}

// sayHowToDecide answers words that look like a decision on an open request but are not valid, for example "deny 1,
// too risky". They decide nothing; the sender reads how to write the decision, and no model reads them.
func (q *Requests) sayHowToDecide(msg messages.AcceptIngress, turn journal.Turn) bool {
	words, ok := decision.OnlyWords(msg)
	if !ok {
		return false
	}
	attempt, ok := reply.Attempted(words)
	if !ok || !slices.ContainsFunc(q.theirs(decision.AskerOf(turn)), func(a journal.Asked) bool { return a.Request.N == attempt.N }) {
		return false
	}
	return q.sayToThem(msg, turn, noticeHowToDecide(attempt, q.At()))
}

func noticeHowToDecide(a reply.Attempt, at string) notices.Text {
	n := strconv.Itoa(a.N)
	if a.Approves {
		return notices.Text{"Nothing was decided. To approve request #" + n + ", send: /approve" + at + " " + n, "没有做出任何决定。要批准请求 #" + n + "，请发送：/approve" + at + " " + n}
	}
	if a.Rest == "" {
		return notices.Text{"Nothing was decided. To deny request #" + n + ", send: /deny" + at + " " + n, "没有做出任何决定。要拒绝请求 #" + n + "，请发送：/deny" + at + " " + n}
	}
	why := n + " " + visible.Sentence(cutReason(a.Rest))
	return notices.Text{"Nothing was decided. To deny request #" + n + " with this reason, send: /deny" + at + " " + why, "没有做出任何决定。要以这个理由拒绝请求 #" + n + "，请发送：/deny" + at + " " + why}
}

// decidedWords confirms decisions to people who are not shown the outcome in another way.
func (q *Requests) decidedWords(decided []journal.ApprovalDecided, turn journal.Turn) string {
	for _, d := range decided {
		if d.Answer == journal.AnswerApproved {
			return q.Text(notices.Approved(), turn)
		}
	}
	return q.Text(notices.Denied(), turn)
}

// listAll answers with all open requests and all active grants. It returns false if the chat cannot answer the sender.
func (q *Requests) listAll(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !q.CanSay(msg) {
		return false
	}
	others, waits := q.gather(msg)
	if waits {
		return true
	}
	open := q.openHere()
	words := q.listWords(open, turn)
	if others > 0 {
		words += "\n\n" + q.Text(notices.OthersWait(others), turn)
	}
	q.SettleWith(msg, turn, journal.FateAnswered, "approval", journal.Row{Text: words + q.grantsWords(turn), Shows: approval.IDsOf(open)})
	return true
}
