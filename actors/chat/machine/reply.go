package machine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxReason is how much of a person's reason is kept, in characters.
const maxReason = 300

// takesWords reports whether words can decide requests here. This holds wherever people write, even if there are
// buttons, but not for the API and for tasks.
func (c *Chat) takesWords() bool {
	return !slices.Contains([]string{"", "api", "task"}, c.addr.Platform)
}

// decideInWords handles a message that decides requests. It returns false for any other message. Text that was
// forwarded or edited later decides nothing.
func (c *Chat) decideInWords(msg messages.AcceptIngress, turn journal.Turn) bool {
	v := c.understand(msg, turn)
	switch v.Sense {
	case ruling.Revoke:
		return c.obeyRevoke(msg, turn, askerOf(turn), v.Order)
	case ruling.List:
		return c.listAll(msg, turn)
	case ruling.NotClear:
		return c.listAgain(msg, turn)
	case ruling.Unbound:
		// If the message did not address the bot, its words are an ordinary turn.
		return (v.ToBot || !msg.Overheard) && c.listAgain(msg, turn)
	case ruling.Forbid:
		if !c.adminsUnknown() {
			return c.sayToThem(msg, turn, notices.MayNotDecide())
		}
		fallthrough
	case ruling.Unknown:
		return c.sayToThem(msg, turn, notices.AdminsUnknown())
	case ruling.Decide, ruling.Grant:
		return c.decideThose(msg, turn, v)
	case ruling.None, ruling.Undecided: // see sayUndecided
	}
	return false
}

// sayUndecided tells the sender of an ordinary turn that it decided nothing, if it reads like a decision. The model
// reads it, too, but cannot decide.
func (c *Chat) sayUndecided(msg messages.AcceptIngress, turn journal.Turn) {
	if len(c.openHere()) == 0 || msg.Verdict != messages.VerdictOpen || !c.via.Outbox {
		return
	}
	if v := c.understand(msg, turn); v.Sense != ruling.Undecided && (v.Sense != ruling.Unbound || v.Stray) {
		return
	}
	n := strconv.Itoa(c.theirs(askerOf(turn), msg.Admin)[0].Request.N)
	rows := c.hostRow(msg, turn, c.text(notices.Undecided(n), turn))
	for _, row := range rows {
		c.offer(journal.EgressQueued{Row: row})
	}
	c.deliverRows(rows)
}

// sayToThem answers a message with a notice. It returns false if the chat cannot answer the sender.
func (c *Chat) sayToThem(msg messages.AcceptIngress, turn journal.Turn, n notices.Text) bool {
	if c.canSay(msg) {
		c.settleAtOnce(msg, turn, journal.FateAnswered, "approval", c.text(n, turn))
	}
	return c.canSay(msg)
}

// askerOf returns who wrote a turn.
func askerOf(turn journal.Turn) messages.Asker {
	return messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username}
}

// understand interprets a message. It has no side effects, so a message can be interpreted again once it is known what
// the bot said before it.
func (c *Chat) understand(msg messages.AcceptIngress, turn journal.Turn) ruling.Verdict {
	words, ok := onlyWords(msg)
	if !ok || !c.takesWords() && msg.Verdict != messages.VerdictCommand || msg.Bot || msg.Forwarded {
		return ruling.Verdict{}
	}
	by := askerOf(turn)
	m := ruling.Message{
		Text: words, Self: msg.Self, Words: c.takesWords(), ToBot: turnsToBot(msg), Open: c.openHere(), Theirs: c.theirs(by, msg.Admin),
	}
	if c.group() {
		m.Unknown = func() bool { return c.adminsUnknown() && c.canSay(msg) }
	}
	if len(m.Theirs) > 0 {
		m.About, m.Terms = c.about(msg, turn), c.terms(msg.IngressID, by.Platform+"-"+by.ID)
	}
	return ruling.Of(m)
}

// listAgain answers with the list of requests. It returns false if the chat cannot answer the sender.
func (c *Chat) listAgain(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !c.canSay(msg) {
		return false
	}
	open := c.openHere()
	c.settleWith(msg, turn, journal.FateAnswered, "approval", journal.Row{Text: c.listWords(open, msg, turn), Shows: approval.IDsOf(open)})
	return true
}

// decideThose decides the requests that a message names, and grants rules or folders for a time if it does so.
func (c *Chat) decideThose(msg messages.AcceptIngress, turn journal.Turn, v ruling.Verdict) bool {
	if c.askOrigins(msg, turn, v) {
		return true
	}
	by := askerOf(turn)
	given, say := v.Grants(c.terms(msg.IngressID, by.Platform+"-"+by.ID))
	var made []journal.ApprovalDecided
	for _, a := range v.Those {
		d := messages.Decision{ApprovalID: a.Request.ID, Approved: v.Approves, Reason: cutReason(v.Reason)}
		fact, out := c.evaluate(d, by, msg.RequestID)
		if out.Is != messages.DecisionDone || v.Sense == ruling.Grant && len(given) == 0 {
			return c.listAgain(msg, turn)
		}
		if v.Sense == ruling.Grant {
			fact.Grant = given[0].ID
		}
		made = append(made, fact)
	}
	if v.Sense == ruling.Grant {
		c.give(given, nil)
		c.tellGranted(msg.RequestID, by.Platform+"-"+by.ID, given)
	} else {
		c.give(nil, made)
	}
	c.decideByIngress(msg, turn, made, c.text(say, turn))
	return true
}

// turnsToBot reports whether a message addresses the bot. While a request is open, this includes messages that consist
// only of a decision, in groups where the bot otherwise sees only messages addressed to it.
func turnsToBot(msg messages.AcceptIngress) bool {
	return !msg.Overheard && (msg.Verdict != messages.VerdictIgnored || msg.Decides)
}

func cutReason(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), maxReason)])
}

// onlyWords returns the text of a message that contains only text.
func onlyWords(msg messages.AcceptIngress) (string, bool) {
	if msg.Verdict == messages.VerdictCommand {
		return strings.TrimSpace("/" + msg.Command + " " + msg.Args), true
	}
	if msg.EditOf != "" || len(msg.Turn.Parts) != 1 {
		return "", false
	}
	t, ok := msg.Turn.Parts[0].(uimessage.Text)
	return t.Text, ok
}

// decideByIngress makes the decisions and the message durable in one write, and answers.
func (c *Chat) decideByIngress(msg messages.AcceptIngress, turn journal.Turn, decided []journal.ApprovalDecided, say string) {
	in := c.ingressOf(msg, turn)
	in.Text, _ = onlyWords(msg)
	decided[0].Ingress, decided[0].Rows = &in, c.hostRow(msg, turn, say)
	c.offer(asFacts(decided)...)
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, cmp.Or(say, c.decidedWords(decided, turn)))})
	c.deliverRows(decided[0].Rows)
	c.decided(decided)
	c.settledFrame(turn.ID) // watchers must see the decisions before they may leave
}

// about finds what a message refers to. It uses only durable data: the receipts of the rows that showed requests, and
// in a chat without an outbox what its readers saw last.
func (c *Chat) about(msg messages.AcceptIngress, turn journal.Turn) bind.Bound {
	if !c.via.Outbox {
		return c.read()
	}
	var rows []bind.Row
	by := askerOf(turn)
	for _, s := range c.state.Shown {
		row := bind.Row{Next: s.Next, Doubt: s.Doubt}
		for _, id := range s.Requests {
			if c.mayAbout(by, id, msg.Admin) {
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
		InFlight: len(c.state.Pending()) > 0 || c.inThread(turn),
	})
}

// read returns what words refer to in a chat whose readers see the history itself as it is written: the requests of
// the newest message, unless a run is in progress or the host has answered since. Everything in the history counts as
// shown.
func (c *Chat) read() bind.Bound {
	var b bind.Bound
	b.Seen = approval.IDsOf(c.openHere())
	if c.state.Run == nil {
		b.List = slices.Clone(c.state.Read.Requests)
	}
	return b
}

// decideUnaddressed handles a group message that is not addressed to the bot while a request is open: a decision by
// someone who may decide counts as addressed, and so does a plain command. Other messages are left to the gate, and no
// model reads them.
func (c *Chat) decideUnaddressed(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !msg.Decides || msg.Bot || msg.Forwarded || msg.EditOf != "" || len(c.openHere()) == 0 {
		return false
	}
	if msg.Command != "" {
		if slices.Contains([]string{"allow", "activation", "start"}, msg.Command) {
			return false // the platform's own command, which is obeyed only when addressed
		}
		msg.Verdict = messages.VerdictCommand
		if !c.decideInWords(msg, turn) {
			c.hostCommand(msg, turn)
		}
		return true
	}
	switch v := c.understand(msg, turn); v.Sense {
	case ruling.Decide, ruling.Grant:
		return c.decideThose(msg, turn, v)
	case ruling.Unknown:
		return c.sayToThem(msg, turn, notices.AdminsUnknown())
	case ruling.None, ruling.Undecided:
		return c.sayHowToDecide(msg, turn)
	case ruling.Unbound, ruling.Forbid, ruling.List, ruling.Revoke, ruling.NotClear:
	}
	return false
}

// sayHowToDecide answers words that look like a decision on an open request but are not valid, for example "deny 1,
// too risky". They decide nothing; the sender reads how to write the decision, and no model reads them.
func (c *Chat) sayHowToDecide(msg messages.AcceptIngress, turn journal.Turn) bool {
	words, ok := onlyWords(msg)
	if !ok {
		return false
	}
	attempt, ok := reply.Attempted(words)
	if !ok || !slices.ContainsFunc(c.theirs(askerOf(turn), msg.Admin), func(a journal.Asked) bool { return a.Request.N == attempt.N }) {
		return false
	}
	return c.sayToThem(msg, turn, noticeHowToDecide(attempt))
}

func noticeHowToDecide(a reply.Attempt) notices.Text {
	n := strconv.Itoa(a.N)
	if a.Approves {
		return notices.Text{"Nothing was decided. To approve request #" + n + ", send: /approve " + n, "没有做出任何决定。要批准请求 #" + n + "，请发送：/approve " + n}
	}
	if a.Rest == "" {
		return notices.Text{"Nothing was decided. To deny request #" + n + ", send: /deny " + n, "没有做出任何决定。要拒绝请求 #" + n + "，请发送：/deny " + n}
	}
	why := n + " " + visible.Sentence(cutReason(a.Rest))
	return notices.Text{"Nothing was decided. To deny request #" + n + " with this reason, send: /deny " + why, "没有做出任何决定。要以这个理由拒绝请求 #" + n + "，请发送：/deny " + why}
}
