package machine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
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

// sense is how to handle a message that may refer to requests.
type sense int

const (
	senseNone     sense = iota // it does not refer to requests
	senseUnbound               // it would decide something, but not the requests it refers to: see package bind
	senseUnknown               // its sender may be an administrator, which cannot be found out now
	senseForbid                // its sender may not decide
	senseList                  // it asks for the open requests
	senseRevoke                // it revokes grants
	senseDecide                // it decides those requests
	senseGrant                 // it grants rules for a time and decides those requests
	senseNotClear              // a command that names requests that are not open
)

// verdict is the interpretation of a message about requests.
type verdict struct {
	sense
	approves bool
	toBot    bool // the words themselves address the bot
	those    []journal.Asked
	said     reply.Reply
	reason   string
	order    approval.Order
}

// decideInWords handles a message that decides requests. It returns false for any other message. Text that was
// forwarded or edited later decides nothing.
func (c *Chat) decideInWords(msg messages.AcceptIngress, turn journal.Turn) bool {
	v := c.understand(msg, turn)
	switch v.sense {
	case senseRevoke:
		return c.obeyRevoke(msg, turn, askerOf(turn), v.order)
	case senseList:
		return c.listAll(msg, turn)
	case senseNotClear:
		return c.listAgain(msg, turn)
	case senseUnbound:
		// If the message did not address the bot, its words are an ordinary turn.
		return (v.toBot || !msg.Overheard) && c.listAgain(msg, turn)
	case senseForbid:
		return c.sayToThem(msg, turn, c.noSay())
	case senseUnknown:
		return c.sayToThem(msg, turn, notices.AdminsUnknown())
	case senseDecide:
		return c.decideThose(msg, turn, v)
	case senseGrant:
		return c.grantTimed(msg, turn, v)
	case senseNone:
	}
	return false
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
func (c *Chat) understand(msg messages.AcceptIngress, turn journal.Turn) verdict {
	words, ok := onlyWords(msg)
	if !ok || !c.takesWords() && msg.Verdict != messages.VerdictCommand || msg.Bot || msg.Forwarded {
		return verdict{}
	}
	by := askerOf(turn)
	if o, ok := approval.ParseOrder(words, msg.Self); ok {
		return c.understandOrder(msg, turn, o)
	}
	if !c.takesWords() {
		return verdict{}
	}
	open := c.theirs(by, msg.Admin)
	if len(open) == 0 {
		return c.understandUnknown(msg, words)
	}
	about := c.about(msg, turn)
	meant, ambiguous := c.meaning(words, msg.Self, open)
	if single := about.single(open); meant.Kind == reply.Unclear && single != nil {
		open = single
		meant, ambiguous = c.meaning(words, msg.Self, open)
	}
	if meant.Kind == reply.Unclear {
		return verdict{}
	}
	v := verdict{sense: senseDecide, approves: meant.Kind != reply.DenyAll, said: meant.Reply}
	said := bind.Said{Approves: v.approves, Bare: meant.Bare, Only: meant.Only, ToBot: c.turnsToBot(msg), All: meant.Kind == reply.ApproveAll || meant.Kind == reply.DenyAll}
	switch meant.Kind {
	case reply.ApproveSome:
		for _, i := range meant.Places {
			said.Names = append(said.Names, open[i].Request.ID)
		}
	case reply.GrantTimed:
		given, covered := c.terms(msg.IngressID, by.Platform+"-"+by.ID).Rules(meant.Targets, meant.Minutes, open)
		if len(given) == 0 {
			return verdict{}
		}
		v.sense, v.approves, said.Names = senseGrant, true, approval.IDsOf(covered)
	case reply.DenyAll:
		v.reason = words
	case reply.ApproveAll, reply.Unclear:
	}
	return c.decides(v, about, open, said, ambiguous)
}

// understandUnknown interprets words that would be a decision if their sender were an administrator of the group,
// which cannot be found out now.
func (c *Chat) understandUnknown(msg messages.AcceptIngress, words string) verdict {
	if !c.adminsUnknown() || !c.canSay(msg) {
		return verdict{}
	}
	if meant, ambiguous := c.meaning(words, msg.Self, c.openHere()); meant.Kind == reply.Unclear && !ambiguous {
		return verdict{}
	}
	return verdict{sense: senseUnknown}
}

// decides returns which requests the words decide, given what they refer to.
func (*Chat) decides(v verdict, about about, open []journal.Asked, said bind.Said, ambiguous bool) verdict {
	ids := bind.Decide(about.Bound, approval.IDsOf(open), said)
	if ambiguous || len(ids) == 0 {
		return verdict{sense: senseUnbound}
	}
	for _, a := range open {
		if slices.Contains(ids, a.Request.ID) {
			v.those = append(v.those, a)
		}
	}
	return v
}

// meaning interprets words about the requests that a person may decide. They are ambiguous if a number in them is both
// the number of one request and the position of another. A position depends on the list that people saw, so words that
// use one count as bare.
func (c *Chat) meaning(words, self string, open []journal.Asked) (meant reply.Meaning, ambiguous bool) {
	var shown []reply.Shown
	for _, a := range open {
		shown = append(shown, reply.Shown{N: a.Request.N, Command: approval.NameOf(a)})
	}
	byNumber, byPlace := reply.ParseNumbered(words, shown, self)
	switch {
	case byNumber.Kind == reply.Unclear:
		byPlace.Bare = true
		return byPlace, false
	case byPlace.Kind == reply.Unclear:
		return byNumber, false // a number that is not a position
	}
	return byNumber, byNumber.Kind != byPlace.Kind || !slices.Equal(byNumber.Places, byPlace.Places)
}

// listAgain answers with the list of requests. It returns false if the chat cannot answer the sender.
func (c *Chat) listAgain(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !c.canSay(msg) {
		return false
	}
	open := c.openHere()
	c.settleShowing(msg, turn, c.listWords(open, msg, turn), open)
	return true
}

// understandOrder interprets a command. Commands never go to the model.
func (c *Chat) understandOrder(msg messages.AcceptIngress, turn journal.Turn, o approval.Order) verdict {
	open := c.openHere()
	theirs := c.theirs(askerOf(turn), msg.Admin)
	switch {
	case o.Revokes:
		return verdict{sense: senseRevoke, order: o}
	case o.Lists:
		return verdict{sense: senseList}
	case len(open) == 0:
		return verdict{sense: senseNotClear}
	case len(theirs) == 0:
		return verdict{sense: senseForbid}
	}
	about := c.about(msg, turn)
	if single := about.single(theirs); single != nil && !o.All && len(o.Numbers) == 0 {
		theirs = single
	}
	o = o.WithReason(theirs)
	those, isClear := o.Pick(theirs)
	if !isClear {
		return verdict{sense: senseNotClear}
	}
	if o.Folder && len(c.terms("", "").Folders(those)) == 0 {
		return verdict{sense: senseNotClear}
	}
	said := bind.Said{Approves: o.Approves, ToBot: true, All: len(o.Numbers) == 0, Bare: !o.All && len(o.Numbers) == 0, Names: approval.IDsOf(those)}
	meant := verdict{sense: senseDecide, approves: o.Approves, reason: o.Reason}
	if o.Folder {
		meant.sense, meant.order = senseGrant, o
	}
	v := c.decides(meant, about, theirs, said, false)
	v.toBot = true // a command always addresses the bot
	return v
}

// decideThose decides the requests that a message names.
func (c *Chat) decideThose(msg messages.AcceptIngress, turn journal.Turn, v verdict) bool {
	if c.askOrigins(msg, turn, v) {
		return true
	}
	var facts []journal.ApprovalDecided
	var agreed []journal.Request
	for _, a := range v.those {
		fact, out := c.evaluate(messages.Decision{ApprovalID: a.Request.ID, Approved: v.approves})
		if out.Is != messages.DecisionDone {
			return c.listAgain(msg, turn)
		}
		fact.Reason = cutReason(v.reason)
		facts, agreed = append(facts, fact), append(agreed, c.approves(fact)...)
	}
	c.give(nil, agreed)
	c.decideByIngress(msg, turn, facts, "")
	return true
}

// grantTimed grants rules or folders for a time and approves the open requests that they cover.
func (c *Chat) grantTimed(msg messages.AcceptIngress, turn journal.Turn, v verdict) bool {
	if c.askOrigins(msg, turn, v) {
		return true
	}
	person := turn.Meta.Channel + "-" + turn.Meta.UserID
	terms := c.terms(msg.IngressID, person)
	given, _ := terms.Rules(v.said.Targets, v.said.Minutes, v.those)
	say := grants.RulesAllowed(v.said.Minutes, v.said.Targets)
	if v.order.Folder {
		given = terms.Folders(v.those)
		say = grants.FoldersAllowed(foldersOf(v.those))
	}
	var facts []journal.ApprovalDecided
	for _, a := range v.those {
		fact, out := c.evaluate(messages.Decision{ApprovalID: a.Request.ID, Approved: true})
		if out.Is != messages.DecisionDone || len(given) == 0 {
			return c.listAgain(msg, turn)
		}
		fact.Grant = given[0].ID
		facts = append(facts, fact)
	}
	c.give(given, nil)
	c.tellGranted(msg.RequestID, person, given)
	c.decideByIngress(msg, turn, facts, c.text(say, turn))
	return true
}

// foldersOf returns the folders whose files the requests would send.
func foldersOf(list []journal.Asked) []string {
	var folders []string
	for _, a := range list {
		if !slices.Contains(folders, a.Request.FilesIn) {
			folders = append(folders, a.Request.FilesIn)
		}
	}
	return folders
}

// turnsToBot reports whether a message addresses the bot. While a request is open, this includes messages that consist
// only of a decision, in groups where the bot otherwise sees only messages addressed to it.
func (c *Chat) turnsToBot(msg messages.AcceptIngress) bool {
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
	var facts []journal.Fact
	var rows []journal.Row
	for i, fact := range decided {
		fact.By, fact.ByName, fact.RequestID = turn.Meta.Channel+"-"+turn.Meta.UserID, turn.Meta.Username, msg.RequestID
		if i == 0 {
			fact.Ingress, fact.Rows = &in, c.hostRow(msg, turn, say)
			rows = fact.Rows
		}
		facts = append(facts, fact)
	}
	c.offer(facts...)
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, cmp.Or(say, c.decidedWords(decided, turn)))})
	c.deliverRows(rows)
	c.decided(facts)
	c.settledFrame(turn.ID) // watchers must see the decisions before they may leave
}
