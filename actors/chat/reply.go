package chat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// reply is what a person's words say about requests.
type reply struct {
	approved bool
	command  bool // a command, which never goes to the model
	n        int  // of the request; 0: the only one there is
}

// parseReply reads the few words that decide: `/approve 2` and `/deny 2`, or one
// exact word. Everything else is for the model.
func parseReply(text string) (reply, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		name, arg, _ := strings.Cut(rest, " ")
		name, _, _ = strings.Cut(name, "@") // /approve@bot
		if name != "approve" && name != "deny" {
			return reply{}, false
		}
		r := reply{approved: name == "approve", command: true}
		if arg = strings.TrimPrefix(strings.TrimSpace(arg), "#"); arg == "" {
			return r, true
		}
		n, err := strconv.ParseUint(arg, 10, 31)
		r.n = int(n) // 31 bits
		if err != nil || n == 0 {
			r.n = -1 // names none
		}
		return r, true
	}
	switch text {
	case "yes", "approve", "同意":
		return reply{approved: true}, true
	case "no", "deny", "拒绝":
		return reply{}, true
	}
	return reply{}, false
}

// pick finds the request that a reply is about. Without a number that is clear
// only while exactly one is open.
func (r reply) pick(open []persistence.Asked) (persistence.Asked, bool) {
	for _, a := range open {
		if r.n == a.Request.N || r.n == 0 && len(open) == 1 {
			return a, true
		}
	}
	return persistence.Asked{}, false
}

// takesWords: where people have no buttons, words decide.
func (c *chat) takesWords() bool {
	a, ok := c.key.Address()
	return ok && a.Platform != "web" && a.Platform != "api" && a.Platform != "task"
}

// decideInWords takes a message that decides a request; false: it is none, and
// goes its ordinary way.
func (c *chat) decideInWords(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn) bool {
	words, ok := onlyWords(msg)
	if !ok || !c.takesWords() || msg.Bot {
		return false
	}
	by := messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username}
	said, ok := parseReply(words)
	if !ok || !c.mayDecide(by) {
		return false
	}
	open := c.state.OpenRequests()
	a, found := said.pick(open)
	if found {
		fact, out := c.judge(messages.Decision{ApprovalID: a.Request.ID, Approved: said.approved})
		if found = out.Is == messages.DecisionDone; found {
			c.decideByIngress(ac, msg, turn, fact)
			return true
		}
	}
	if !said.command || !c.via.Outbox {
		return false
	}
	c.settleAtOnce(ac, msg, turn, persistence.FateAnswered, "approval", c.listWords(open, turn))
	return true
}

// onlyWords is the text of a message that is nothing but words.
func onlyWords(msg messages.AcceptIngress) (string, bool) {
	if msg.Verdict == messages.VerdictCommand {
		return "/" + msg.Command + " " + msg.Args, true
	}
	if msg.EditOf != "" || len(msg.Turn.Parts) != 1 {
		return "", false
	}
	t, ok := msg.Turn.Parts[0].(uimessage.Text)
	return t.Text, ok
}

// decideByIngress makes decision and message durable in one fact.
func (c *chat) decideByIngress(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn, fact persistence.ApprovalDecided) {
	in := c.ingressOf(msg, turn)
	in.Text, _ = onlyWords(msg)
	fact.By, fact.RequestID, fact.Ingress = turn.Meta.Channel+"-"+turn.Meta.UserID, msg.RequestID, &in
	if c.offer(ac, fact) != nil {
		c.refuse(ac, msg)
		return
	}
	c.answer(ac, messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID})
	c.decided(ac, []persistence.Fact{fact})
	c.settledFrame(ac, turn.ID) // readers see what follows before they may leave
	if c.state != nil && c.state.Run == nil {
		c.restLater()
	}
}

// What the model and people read of requests that nobody decided.
const (
	reasonExpired   = "expired: nobody decided within 30 minutes; not executed"
	reasonWithdrawn = "withdrawn: the run ended before anybody decided; not executed"
	reasonRewound   = "withdrawn: the conversation was changed; not executed"
)

// requestWords ask people: one plain sentence, the exact input, how to answer.
func (c *chat) requestWords(list []persistence.Asked) string {
	var out []string
	for _, a := range list {
		if a.Request.Answer != persistence.AnswerOpen {
			continue
		}
		call, _ := a.Turn.Call(a.Request.CallID)
		n := strconv.Itoa(a.Request.N)
		out = append(out, c.inTheirWords(notice{
			"#" + n + ": May I use " + toolTitle(call) + " with exactly this input? It runs only if you agree.\n\n" + shown(call) +
				"\n\nAnswer yes or no, or /approve " + n + " or /deny " + n + ". Without an answer it expires in 30 minutes.",
			"#" + n + "：可以用下面的输入使用 " + toolTitle(call) + " 吗？得到同意后才会执行。\n\n" + shown(call) +
				"\n\n请回复 同意 或 拒绝，或 /approve " + n + "、/deny " + n + "。30 分钟内没有答复则失效。",
		}))
	}
	return strings.Join(out, "\n\n")
}

// listWords answer a reply that names no open request.
func (c *chat) listWords(open []persistence.Asked, turn persistence.Turn) string {
	if len(open) == 0 {
		return text(notice{"Nothing is waiting for your decision.", "没有等待你决定的请求。"}, turn)
	}
	lines := []string{text(notice{"Please name one of these, for example /approve 1:", "请指明其中一个，例如 /approve 1："}, turn)}
	for _, a := range open {
		call, _ := a.Turn.Call(a.Request.CallID)
		lines = append(lines, "#"+strconv.Itoa(a.Request.N)+" "+toolTitle(call)+"\n\n"+shown(call))
	}
	return strings.Join(lines, "\n\n")
}

// expiredWords tell people that a request is over.
func (c *chat) expiredWords(a persistence.Asked) string {
	n := strconv.Itoa(a.Request.N)
	return c.inTheirWords(notice{"Request #" + n + " has expired. Nothing was done.", "请求 #" + n + " 已失效，没有执行任何操作。"})
}

// toolTitle is what people know a tool by.
func toolTitle(call uimessage.Tool) string {
	if title := call.Title.Or(""); title != "" {
		return "**" + title + "** (`" + call.Name + "`)"
	}
	return "`" + call.Name + "`"
}

// shown is the exact input of a call as a block that nothing in it can end or
// hide: what cannot be seen is written as an escape, which is the same JSON.
func shown(call uimessage.Tool) string {
	var b strings.Builder
	longest, ticks := 2, 0
	for _, r := range string(call.Input) {
		if ticks++; r != '`' {
			ticks = 0
		}
		longest = max(longest, ticks)
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "json\n" + b.String() + "\n" + fence
}
