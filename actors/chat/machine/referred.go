package machine

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
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
)

// deciding is a message that decides requests of other chats and waits for their answers.
type deciding struct {
	verdict  ruling.Verdict
	left     map[messages.ChatKey]bool // chats that have not answered
	outcomes map[string]messages.DecisionOutcome
	unknown  bool
	failed   bool
}

func (d *deciding) copy() *deciding {
	w := *d
	w.left, w.outcomes = maps.Clone(d.left), maps.Clone(d.outcomes)
	return &w
}

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
	g := journal.ReferredRequest{
		Request: journal.Request{
			ID: r.ApprovalID, CallID: r.CallID, N: c.state.NextRequest(), Digest: r.Digest, Asker: r.Asker, Asked: r.Asked, Expires: r.Expires,
			Explained: journal.Explained{Words: r.Words, Chinese: r.Chinese, Exact: r.Exact, Command: r.Command, Folder: r.Folder, Bind: r.Bind, FilesIn: r.FilesIn},
		},
		Origin: r.From, Person: r.Person, Tool: r.Tool, Name: r.Title, Input: r.Input,
		AskerName: r.AskerName, ChatTitle: r.ChatTitle, Group: r.Group, Task: r.Task, TaskTitle: r.TaskTitle,
	}
	f := journal.ReferredRequestShown{Request: g}
	if !msg.Quiet {
		zh := c.readsChinese(r)
		f.Rows = []journal.Row{{
			Key: journal.RowKey{MessageID: "g:" + r.ApprovalID, N: 1}, Text: approval.ReferredWords(g, zh),
			Asks: []journal.Ask{{N: g.N, ApprovalID: g.ID, Digest: g.Digest, Chinese: zh}}, Shows: []string{g.ID},
		}}
	}
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

// referredAmong returns the requests in a list that belong to other chats.
func referredAmong(list []journal.Asked) []journal.Asked {
	return slices.DeleteFunc(slices.Clone(list), func(a journal.Asked) bool { return a.Origin == "" })
}

// askOrigins passes a decision on to the chats that asked, and holds back the message until they have answered. It
// returns false if none of the requests belongs to another chat.
func (c *Chat) askOrigins(msg messages.AcceptIngress, turn journal.Turn, v ruling.Verdict) bool {
	referred := referredAmong(v.Those)
	if len(referred) == 0 {
		return false
	}
	order := messages.DecideReferred{ID: msg.IngressID, Via: msg.IngressID, RequestID: msg.RequestID, By: askerOf(turn)}
	if v.Sense == ruling.Grant {
		order.Rules, order.Minutes, order.Folders = v.Said.Targets, v.Said.Minutes, v.Order.Folder
		if len(referred) != len(v.Those) || slices.ContainsFunc(referred, func(a journal.Asked) bool { return a.Origin != referred[0].Origin }) {
			return c.listAgain(msg, turn) // rules and folders apply to one chat only
		}
	}
	say := map[messages.ChatKey][]messages.Decision{}
	for _, a := range referred {
		say[a.Origin] = append(say[a.Origin], messages.Decision{ApprovalID: a.Request.ID, Digest: a.Request.Digest, Approved: v.Approves, Reason: v.Reason})
	}
	c.sendOrders(order, say, v)
	c.holdBack(msg.IngressID, msg, originWait)
	return true
}

// sendOrders sends decisions to the chats that asked.
func (c *Chat) sendOrders(order messages.DecideReferred, say map[messages.ChatKey][]messages.Decision, v ruling.Verdict) {
	d := &deciding{verdict: v, left: map[messages.ChatKey]bool{}, outcomes: map[string]messages.DecisionOutcome{}}
	for _, origin := range slices.Sorted(maps.Keys(say)) {
		d.left[origin] = true
		order.ChatKey, order.From, order.Say = origin, c.key, say[origin]
		c.effect(Route{Msg: order, Asks: true})
	}
	put(&c.elsewhere, order.ID, d)
}

// referredDecided handles the answer of a chat that asked.
func (c *Chat) referredDecided(msg messages.ReferredDecided) {
	d := c.elsewhere[msg.ID]
	if d == nil || !d.left[msg.From] {
		return
	}
	delete(d.left, msg.From)
	for _, out := range msg.Outcomes {
		if g, ok := c.state.ReferredRequest(out.ApprovalID); ok && g.Origin == msg.From {
			d.outcomes[out.ApprovalID] = out
		}
	}
	d.unknown, d.failed = d.unknown || msg.Unknown, d.failed || msg.Err != ""
	if len(d.left) == 0 {
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
	case len(d.left) > 0 && c.holdBack(msg.IngressID, msg, originWait):
		return true
	}
	delete(c.elsewhere, msg.IngressID)
	delete(c.waits.until, msg.IngressID)
	if len(d.left) > 0 || d.failed {
		c.refuse(msg) // the sender repeats it, and decisions that were made are known then
		return true
	}
	turn.Meta.Seq = c.state.Seq + 1
	by := askerOf(turn)
	settled := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: journal.FateAnswered, Reason: "approval"}
	settled.Ingress.Text, _ = onlyWords(msg)
	own, agreed := c.ownDecisions(d.verdict, by, msg.RequestID)
	ended := c.endedBy(d, by)
	say := c.elsewhereWords(d, turn)
	settled.Rows = c.hostRow(msg, turn, say)
	c.give(nil, agreed)
	c.wake()
	c.offer(slices.Concat([]journal.Fact{settled}, own, ended)...)
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, say)})
	c.deliverRows(settled.Rows)
	c.tellEnds(ended)
	c.decided(own)
	c.settledFrame(turn.ID)
	return true
}

// ownDecisions returns the decisions of the same message about this chat's own requests.
func (c *Chat) ownDecisions(v ruling.Verdict, by messages.Asker, requestID string) (facts []journal.Fact, agreed []journal.Request) {
	for _, a := range v.Those {
		if a.Origin != "" {
			continue
		}
		fact, out := c.evaluate(messages.Decision{ApprovalID: a.Request.ID, Approved: v.Approves, Digest: a.Request.Digest})
		if out.Is != messages.DecisionDone {
			continue
		}
		fact.By, fact.ByName, fact.RequestID, fact.Reason = by.Platform+"-"+by.ID, by.Name, requestID, cutReason(v.Reason)
		facts, agreed = append(facts, fact), append(agreed, c.approves(fact)...)
	}
	return facts, agreed
}

// endedBy returns the facts for requests of other chats that have ended according to those chats.
func (c *Chat) endedBy(d *deciding, by messages.Asker) []journal.Fact {
	var facts []journal.Fact
	for _, id := range slices.Sorted(maps.Keys(d.outcomes)) {
		out := d.outcomes[id]
		g, ok := c.state.ReferredRequest(id)
		if !ok || g.Answer != journal.AnswerOpen {
			continue
		}
		f := journal.ReferredRequestEnded{Origin: g.Origin, ApprovalID: id, By: out.By}
		switch out.Is {
		case messages.DecisionDone:
			f.By, f.ByName, f.Answer = by.Platform+"-"+by.ID, by.Name, journal.AnswerDenied
			if d.verdict.Approves {
				f.Answer = journal.AnswerApproved
			}
		case messages.DecisionExpired:
			f.Answer = journal.AnswerExpired
		case messages.DecisionAlready, messages.DecisionForbidden, messages.DecisionUnknown, messages.DecisionUnseen:
			continue // the other chat reports how it ended, if it has
		}
		facts = append(facts, f)
	}
	return facts
}

// tellEnds confirms to the chats that asked that this chat knows how their requests ended.
func (c *Chat) tellEnds(ended []journal.Fact) {
	for _, f := range ended {
		if e, ok := f.(journal.ReferredRequestEnded); ok {
			c.route(messages.RequestEnded{ChatKey: e.Origin, From: c.key, ApprovalID: e.ApprovalID})
		}
	}
}

// elsewhereWords says what became of decisions about requests of other chats.
func (c *Chat) elsewhereWords(d *deciding, turn journal.Turn) string {
	if d.unknown {
		return c.text(notices.AdminsUnknown(), turn)
	}
	var lines []string
	for _, a := range referredAmong(d.verdict.Those) {
		out, n := d.outcomes[a.Request.ID], strconv.Itoa(a.Request.N)
		lines = append(lines, c.text(c.elsewhereNotice(d.verdict, out, n), turn))
	}
	if d.verdict.Sense == ruling.Grant && len(d.outcomes) > 0 && !slices.ContainsFunc(referredAmong(d.verdict.Those), func(a journal.Asked) bool {
		return d.outcomes[a.Request.ID].Is != messages.DecisionDone
	}) {
		lines = append(lines, c.grantedElsewhere(d.verdict, turn))
	}
	return strings.Join(lines, "\n")
}

func (c *Chat) elsewhereNotice(v ruling.Verdict, out messages.DecisionOutcome, n string) notices.Text {
	g, _ := c.state.ReferredRequest(out.ApprovalID)
	who := approval.Quoted(g.AskerName, g.Asker)
	switch out.Is {
	case messages.DecisionDone:
		if v.Approves {
			return notices.Text{"Request #" + n + approval.ForWhom(g.Task, who) + " is approved.", "请求 #" + n + "（" + approval.FromZh(g.Task, who) + "）已批准。"}
		}
		return notices.Text{"Request #" + n + approval.ForWhom(g.Task, who) + " is denied.", "请求 #" + n + "（" + approval.FromZh(g.Task, who) + "）已拒绝。"}
	case messages.DecisionAlready:
		switch out.Answer {
		case string(journal.AnswerApproved):
			return notices.Text{"Request #" + n + " was approved before.", "请求 #" + n + " 之前已被批准。"}
		case string(journal.AnswerDenied):
			return notices.Text{"Request #" + n + " was denied before.", "请求 #" + n + " 之前已被拒绝。"}
		}
		return notices.Text{"Request #" + n + " was withdrawn. Nothing was done.", "请求 #" + n + " 已撤回，没有执行任何操作。"}
	case messages.DecisionExpired:
		return notices.Text{"Request #" + n + " has expired. Nothing was done.", "请求 #" + n + " 已失效，没有执行任何操作。"}
	case messages.DecisionForbidden:
		return notices.Text{"You may not decide about request #" + n + " any more. It stays as it is.", "你已无权决定请求 #" + n + "，请求保持不变。"}
	case messages.DecisionUnknown, messages.DecisionUnseen:
	}
	return notices.Text{"I could not decide request #" + n + " that way. It stays as it is.", "无法这样决定请求 #" + n + "，请求保持不变。"}
}

// grantedElsewhere says what a person allowed for a time in another chat.
func (c *Chat) grantedElsewhere(v ruling.Verdict, turn journal.Turn) string {
	g, _ := c.state.ReferredRequest(referredAmong(v.Those)[0].Request.ID)
	say, who := notices.Text{}, approval.Quoted(g.AskerName, g.Asker)
	if v.Order.Folder {
		say = grants.FoldersAllowedThere(foldersOf(v.Those), who)
	} else {
		say = grants.RulesAllowedThere(v.Said.Minutes, v.Said.Targets, who)
	}
	return c.text(say, turn)
}

// pressElsewhere handles a button press on a request of another chat. It returns false if it is not on such a request.
func (c *Chat) pressElsewhere(msg messages.DecideApproval) bool {
	say, v := map[messages.ChatKey][]messages.Decision{}, ruling.Verdict{Sense: ruling.Decide}
	answer := messages.ApprovalDecided{ChatKey: c.key}
	for _, d := range msg.Say {
		g, ok := c.state.ReferredRequest(d.ApprovalID)
		if !ok {
			continue
		}
		out := messages.DecisionOutcome{ApprovalID: g.ID, Is: messages.DecisionDone}
		switch {
		case !c.mayAbout(msg.By, g.ID, msg.Admin):
			out.Is = messages.DecisionForbidden
		case d.Digest == "" || !strings.HasPrefix(g.Digest, d.Digest):
			out.Is = messages.DecisionUnknown
		case g.Answer == journal.AnswerExpired:
			out.Is = messages.DecisionExpired
		case g.Answer != journal.AnswerOpen:
			out.Is, out.By, out.ByName, out.Answer = messages.DecisionAlready, g.By, g.ByName, string(g.Answer)
		case c.unseenIn(g.ID) != nil:
			out.Is = messages.DecisionUnseen
		default:
			d.Digest, v.Approves = g.Digest, d.Approved
			say[g.Origin] = append(say[g.Origin], d)
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
	case len(say) == 0:
		c.answer(answer)
	default:
		c.sendOrders(messages.DecideReferred{ID: msg.RequestID, RequestID: msg.RequestID, By: msg.By}, say, v)
		c.holdBack(msg.RequestID, msg, pressWait)
	}
	return true
}

// pressDecided answers a button press whose request another chat has decided.
func (c *Chat) pressDecided(msg messages.DecideApproval, d *deciding) {
	if len(d.left) > 0 && c.holdBack(msg.RequestID, msg, pressWait) {
		return
	}
	delete(c.elsewhere, msg.RequestID)
	delete(c.waits.until, msg.RequestID)
	out, ok := d.outcomes[msg.Say[0].ApprovalID]
	ended := c.endedBy(d, msg.By)
	if len(d.left) > 0 || d.failed || d.unknown || !ok {
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
