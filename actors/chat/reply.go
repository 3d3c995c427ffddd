package chat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// maxReason is what is kept of a person's reason, in characters.
const maxReason = 300

// takesWords: people are here, so words decide, also where there are buttons. Programs
// and tasks have no words of their own.
func (c *chat) takesWords() bool {
	a, ok := c.key.Address()
	return ok && a.Platform != "api" && a.Platform != "task"
}

// decideInWords takes a message that decides requests; false: it is none, and goes
// its ordinary way. What others wrote, forwarded or changed later decides nothing.
func (c *chat) decideInWords(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn) bool {
	words, ok := onlyWords(msg)
	if !ok || !c.takesWords() && msg.Verdict != messages.VerdictCommand || msg.Bot || msg.Forwarded {
		return false
	}
	by := messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username}
	if o, ok := parseOrder(words); ok {
		return c.obey(ac, msg, turn, by, o)
	}
	if !c.takesWords() {
		return false
	}
	open := c.theirs(by, msg.Admin)
	if len(open) == 0 {
		return c.sayUnknown(ac, msg, turn, words)
	}
	said, again := c.meaning(words, by, msg.Admin, open)
	if said.Kind == reply.Unclear {
		return false
	}
	if again {
		return c.listAgain(ac, msg, turn)
	}
	switch said.Kind {
	case reply.ApproveAll:
		return c.decideThose(ac, msg, turn, open, persistence.AnswerApproved, "")
	case reply.DenyAll:
		return c.decideThose(ac, msg, turn, open, persistence.AnswerDenied, words)
	case reply.ApproveSome:
		var some []persistence.Asked
		for _, i := range said.Places {
			some = append(some, open[i])
		}
		return c.decideThose(ac, msg, turn, some, persistence.AnswerApproved, "")
	case reply.GrantTimed:
		return c.grantTimed(ac, msg, turn, open, said.Reply)
	case reply.Unclear: // it was above
	}
	return false
}

// meaning is what words say about the requests that a person may decide. Again: it
// depends on a list, and the one that people saw last is not what is open now.
func (c *chat) meaning(words string, by messages.Asker, admin bool, open []persistence.Asked) (said reply.Meaning, again bool) {
	var shown []reply.Shown
	for _, a := range open {
		shown = append(shown, reply.Shown{N: a.Request.N, Command: nameOf(a)})
	}
	byNumber, byPlace := reply.ParseNumbered(words, shown)
	fresh := c.isListed(by, admin, open)
	switch {
	case byNumber.Kind == reply.Unclear:
		return byPlace, !fresh
	case byPlace.Kind == reply.Unclear:
		return byNumber, false // a number that is no place
	case byNumber.Kind != byPlace.Kind || !slices.Equal(byNumber.Places, byPlace.Places):
		return byNumber, true
	case strings.Contains(words, "#"), slices.ContainsFunc(byNumber.Targets, func(t string) bool { return t != "" && strings.Contains(words, t) }):
		return byNumber, false // by name
	}
	return byNumber, !fresh
}

// nameOf is what people may call a request by beside its number.
func nameOf(a persistence.Asked) string {
	call, _ := a.Turn.Call(a.Request.CallID)
	switch {
	case a.Request.Command != "":
		return a.Request.Command
	case pathOf(call.Input) != "":
		return pathOf(call.Input)
	}
	return call.Name
}

// isListed reports whether the list that people saw last is what is open now, as
// far as a person may decide about it.
func (c *chat) isListed(by messages.Asker, admin bool, open []persistence.Asked) bool {
	var theirs []string
	for _, id := range c.lastListed() {
		if c.mayDecide(by, c.askerOf(id), admin) {
			theirs = append(theirs, id)
		}
	}
	return slices.EqualFunc(theirs, open, func(id string, a persistence.Asked) bool { return id == a.Request.ID })
}

// lastListed are the requests in the list that people saw last. After a restart
// that is what was open when a request was asked last.
func (c *chat) lastListed() []string {
	if c.listed != nil {
		return c.listed
	}
	all := c.state.Requests(func(persistence.Request) bool { return true })
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1].Request.Asked
	var ids []string
	for _, a := range all {
		if a.Request.Answer == persistence.AnswerOpen || a.Request.At >= last && a.Request.Reason != reasonCrowded {
			ids = append(ids, a.Request.ID)
		}
	}
	return ids
}

// list notes that people are shown all that is open.
func (c *chat) list() []persistence.Asked {
	open := c.state.OpenRequests()
	c.listed = []string{}
	for _, a := range open {
		c.listed = append(c.listed, a.Request.ID)
	}
	return open
}

// listAgain answers with the list; false: there is no way to.
func (c *chat) listAgain(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn) bool {
	if !c.canSay(msg) {
		return false
	}
	c.settleAtOnce(ac, msg, turn, persistence.FateAnswered, "approval", c.listWords(c.list(), turn))
	return true
}

// obey takes a command. It never goes to the model.
func (c *chat) obey(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn, by messages.Asker, o order) bool {
	open := c.state.OpenRequests()
	theirs := c.theirs(by, msg.Admin)
	switch {
	case o.revokes:
		return c.obeyRevoke(ac, msg, turn, by, o)
	case o.lists:
		return c.listAll(ac, msg, turn)
	case len(open) == 0:
		return c.listAgain(ac, msg, turn)
	case len(theirs) == 0:
		if c.canSay(msg) {
			c.settleAtOnce(ac, msg, turn, persistence.FateAnswered, "approval", c.text(c.noSay(), turn))
		}
		return c.canSay(msg)
	}
	those, isClear := o.pick(theirs)
	if !isClear || o.all && !c.isListed(by, msg.Admin, theirs) {
		return c.listAgain(ac, msg, turn)
	}
	answer := persistence.AnswerDenied
	if o.approves {
		answer = persistence.AnswerApproved
	}
	return c.decideThose(ac, msg, turn, those, answer, o.reason)
}

// decideThose decides requests by a message.
func (c *chat) decideThose(
	ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn, those []persistence.Asked, answer persistence.Answer, reason string,
) bool {
	var facts []persistence.ApprovalDecided
	var agreed []persistence.Request
	for _, a := range those {
		fact, out := c.judge(messages.Decision{ApprovalID: a.Request.ID, Approved: answer == persistence.AnswerApproved})
		if out.Is != messages.DecisionDone {
			return c.listAgain(ac, msg, turn)
		}
		fact.Reason = cutReason(reason)
		facts, agreed = append(facts, fact), append(agreed, c.approves(fact)...)
	}
	if list := c.standing(agreed); len(list) > 0 && c.give(list...) != nil {
		c.refuse(ac, msg)
		return true
	}
	c.decideByIngress(ac, msg, turn, facts, "")
	return true
}

// grantTimed lets rules count for a time, and runs what they cover of what waits.
func (c *chat) grantTimed(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn, open []persistence.Asked, said reply.Reply) bool {
	person := turn.Meta.Channel + "-" + turn.Meta.UserID
	given, covered := c.timed(msg.IngressID, person, said.Targets, said.Minutes, open)
	if len(given) == 0 {
		return false
	}
	var facts []persistence.ApprovalDecided
	for _, a := range covered {
		fact, out := c.judge(messages.Decision{ApprovalID: a.Request.ID, Approved: true})
		if out.Is != messages.DecisionDone {
			return c.listAgain(ac, msg, turn)
		}
		fact.Grant = given[0].ID
		facts = append(facts, fact)
	}
	if c.give(given...) != nil {
		c.refuse(ac, msg)
		return true
	}
	c.tellGranted(msg, person, given)
	c.decideByIngress(ac, msg, turn, facts, c.grantedWords(said, turn))
	return true
}

func cutReason(s string) string {
	r := []rune(s)
	return string(r[:min(len(r), maxReason)])
}

// onlyWords is the text of a message that is nothing but words.
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

// decideByIngress makes decisions and message durable in one write, and says what
// there is to say.
func (c *chat) decideByIngress(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn, decided []persistence.ApprovalDecided, say string) {
	in := c.ingressOf(msg, turn)
	in.Text, _ = onlyWords(msg)
	var facts []persistence.Fact
	var rows []persistence.Row
	for i, fact := range decided {
		fact.By, fact.RequestID = turn.Meta.Channel+"-"+turn.Meta.UserID, msg.RequestID
		if i == 0 {
			fact.Ingress, fact.Rows = &in, c.hostRow(msg, turn, say)
			rows = fact.Rows
		}
		facts = append(facts, fact)
	}
	if c.offer(ac, facts...) != nil {
		c.refuse(ac, msg)
		return
	}
	c.answer(ac, messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, cmp.Or(say, c.decidedWords(decided, turn)))})
	c.deliverRows(ac, rows)
	c.decided(ac, facts)
	c.settledFrame(ac, turn.ID) // readers see what follows before they may leave
	if c.state != nil && c.state.Run == nil {
		c.restLater()
	}
}

// order is a command about requests.
type order struct {
	approves, lists, revokes, all bool

	numbers []int
	reason  string
	unclear bool
}

// parseOrder reads `/approvals`, `/approvals revoke g1`, `/approve 1 2`, `/approve all`, `/deny 2 reason`.
// Without a number it is about the only request that there is.
func parseOrder(text string) (o order, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return o, false
	}
	name, args, _ := strings.Cut(rest, " ")
	name, _, _ = strings.Cut(strings.ToLower(name), "@") // /approve@bot
	switch name {
	case "approvals":
		return parseAboutGrants(args), true
	case "approve":
		o.approves = true
	case "deny":
	default:
		return o, false
	}
	words := strings.Fields(strings.NewReplacer(",", " ", "，", " ", "、", " ").Replace(args))
	for i, word := range words {
		n, err := strconv.ParseUint(strings.TrimPrefix(word, "#"), 10, 31)
		switch {
		case err == nil && n > 0 && !o.all:
			o.numbers = append(o.numbers, int(n)) // 31 bits
			continue
		case i == 0 && strings.EqualFold(word, "all"):
			o.all = true
			continue
		}
		if o.unclear = o.approves || i == 0; !o.unclear {
			_, o.reason, _ = strings.Cut(args, words[i-1])
			o.reason = strings.Trim(o.reason, " ,，、")
		}
		break
	}
	return o, true
}

// pick finds the requests that a command is about; false: they are not clear.
func (o order) pick(open []persistence.Asked) ([]persistence.Asked, bool) {
	switch {
	case o.unclear:
		return nil, false
	case o.all:
		return open, len(open) > 0
	case len(o.numbers) == 0:
		return open, len(open) == 1
	}
	var those []persistence.Asked
	for _, n := range o.numbers {
		i := slices.IndexFunc(open, func(a persistence.Asked) bool { return a.Request.N == n })
		if i < 0 {
			return nil, false
		}
		if !slices.ContainsFunc(those, func(a persistence.Asked) bool { return a.Request.N == n }) {
			those = append(those, open[i])
		}
	}
	return those, true
}
