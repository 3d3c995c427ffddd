package machine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Reasons of requests that ended without a decision, as the model and people read them.
const (
	reasonExpired   = "expired: nobody decided within 30 minutes; not executed"
	reasonWithdrawn = "withdrawn: the run ended before anybody decided; not executed"
	reasonRewound   = "withdrawn: the conversation was changed; not executed"
	reasonCrowded   = "denied: too many requests waited in this chat; not executed"
)

// maxEvent is the longest text of an event, in characters.
const maxEvent = 500

// requestWords asks people about open requests: one plain sentence each, exactly what would take effect, and how to
// answer. Other open requests are only listed by their heads, because they were shown in full before.
func (c *Chat) requestWords(list []journal.Asked) string {
	var out []string
	for _, a := range list {
		if a.Request.Answer != journal.AnswerOpen {
			continue
		}
		asked, others := c.asked(a.Request.Asker)
		out = append(out, c.inTheirWords(approval.Words(a, notices.Text{}, approval.HowToAnswer(a.Request.N, asked, others, c.group()), c.howToAllowFolder(a))))
	}
	if len(out) == 0 {
		return ""
	}
	var beside []string
	for _, a := range c.openHere() {
		if !slices.ContainsFunc(list, func(o journal.Asked) bool { return o.Request.ID == a.Request.ID }) {
			beside = append(beside, "#"+strconv.Itoa(a.Request.N)+" "+approval.HeadOf(a, c.inChinese()))
		}
	}
	if len(beside) > 0 {
		out = append(out, c.inTheirWords(notices.Text{"Also waiting (/approvals shows them whole):", "还在等待的请求（/approvals 可查看全文）："})+"\n\n"+strings.Join(beside, "\n\n"))
	}
	return strings.Join(out, "\n\n")
}

// listWords shows all open requests to a person. Those the person may decide about come first; the others are listed
// as waiting for somebody else's decision.
func (c *Chat) listWords(open []journal.Asked, msg messages.AcceptIngress, turn journal.Turn) string {
	if len(open) == 0 {
		return c.text(notices.Text{"Nothing is waiting for your decision.", "没有等待你决定的请求。"}, turn)
	}
	theirs := c.theirs(askerOf(turn), msg.Admin)
	var lines []string
	if len(theirs) > 0 {
		lines = append(lines, c.text(approval.DecideThese(theirs), turn))
		lines = append(lines, c.shownWhole(theirs, turn)...)
	}
	others := slices.DeleteFunc(slices.Clone(open), func(a journal.Asked) bool { return slices.Contains(approval.IDsOf(theirs), a.Request.ID) })
	if len(others) > 0 {
		lines = append(lines, c.text(notices.Text{
			"These wait for the decision of somebody else. You cannot approve them yourself:",
			"以下请求在等待其他人决定，你无权自行批准：",
		}, turn))
		lines = append(lines, c.shownWhole(others, turn)...)
	}
	return strings.Join(lines, "\n\n")
}

// listAll answers with all open requests and all active grants. It returns false if the chat cannot answer the sender.
func (c *Chat) listAll(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !c.canSay(msg) {
		return false
	}
	others, waits := c.gather(msg)
	if waits {
		return true
	}
	open := c.openHere()
	words := c.listWords(open, msg, turn)
	if others > 0 {
		words += "\n\n" + c.text(notices.OthersWait(others), turn)
	}
	c.settleWith(msg, turn, journal.FateAnswered, "approval", journal.Row{Text: words + c.grantsWords(turn), Shows: approval.IDsOf(open)})
	return true
}

// shownWhole formats requests in full, as a list shows them.
func (c *Chat) shownWhole(list []journal.Asked, turn journal.Turn) []string {
	var lines []string
	for _, a := range list {
		zh, where := c.chinese(turn), ""
		if g, ok := c.state.ReferredRequest(a.Request.ID); ok {
			where = approval.FromWhere(g, zh) + approval.MeansThere(g, zh) + "\n\n"
		}
		lines = append(lines, c.text(notices.Text{"#" + strconv.Itoa(a.Request.N) + ": ", "#" + strconv.Itoa(a.Request.N) + "："}, turn)+where+approval.WhatOf(a, zh)+approval.ExactOf(a))
		if n, ok := c.unseenNotice(a.Request.ID); ok {
			lines = append(lines, c.text(n, turn))
		}
	}
	return lines
}

// howToAllowFolder says how to approve a whole folder at once. It is empty if this is not possible here, or not for
// the person who asked.
func (c *Chat) howToAllowFolder(a journal.Asked) notices.Text {
	if len(c.terms("", "").Folders([]journal.Asked{a})) == 0 || c.asksOthers(a.Request.Asker) || !c.takesWords() {
		return notices.Text{}
	}
	return approval.HowToAllowFolder(a.Request.N, a.Request.FilesIn, "")
}

// asked returns those who are asked in private about requests from someone's turn. It returns false if the person
// themselves may decide.
func (c *Chat) asked(asker string) (list []approval.Decider, others bool) {
	if !c.asksOthers(asker) {
		return nil, false
	}
	return c.deciders(asker), true
}

// withAsks adds buttons to the last of the rows, which is the one that asks. If the person who asked may not decide,
// the row gets no buttons.
func (c *Chat) withAsks(rows []journal.Row, list []journal.Asked) {
	if len(rows) == 0 {
		return
	}
	for _, a := range list {
		if a.Request.Answer == journal.AnswerOpen {
			row := &rows[len(rows)-1]
			// In a group where none of the deciders can be reached in private, the buttons are for those members who
			// may decide.
			if list, others := c.asked(a.Request.Asker); !others || c.group() && len(list) == 0 {
				row.Asks = append(row.Asks, journal.Ask{N: a.Request.N, ApprovalID: a.Request.ID, Digest: a.Request.Digest, Chinese: c.inChinese()})
			}
			row.Shows = append(row.Shows, a.Request.ID)
		}
	}
}

// showAsked reports requests to watchers of a chat without an outbox. They have already received the input with the
// call.
func (c *Chat) showAsked(list []journal.Asked, step int) {
	for _, a := range list {
		if a.Request.Answer != journal.AnswerOpen || c.via.Outbox {
			continue
		}
		said := approval.WordsOf(a, c.inChinese())
		words := "#" + strconv.Itoa(a.Request.N) + ": " + strings.TrimSpace(said.What+" "+said.Risk)
		if r := []rune(words); len(r) > maxEvent {
			words = string(r[:maxEvent-1]) + "…"
		}
		c.eventFrame("asked", step, words)
	}
}

// unseenNotice explains why a request could not be shown yet. It returns false if the request was shown.
func (c *Chat) unseenNotice(approvalID string) (notices.Text, bool) {
	row := c.unseenIn(approvalID)
	switch {
	case row == nil:
		return notices.Text{}, false
	case row.Parked:
		why := notices.UnsentReason(row.Reason)
		return notices.Text{
			"This could not be shown here yet: " + why[0] + ". It stays open. An operator can send it again with sma outbox retry.",
			"这个请求还没能在这里显示：" + why[1] + "。请求保持等待，管理员可以用 sma outbox retry 重新发送。",
		}, true
	}
	why := [2]string{"it is still being sent", "还在发送中"}
	if d, failing := c.delayed[row.Key]; failing {
		why = notices.UnsentReason(d.Reason)
		why[0], why[1] = why[0]+"; it will be tried again", why[1]+"，稍后会重试"
	}
	return notices.Text{"This could not be shown here yet: " + why[0] + ".", "这个请求还没能在这里显示：" + why[1] + "。"}, true
}
