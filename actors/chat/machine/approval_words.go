package machine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
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
		n, how, folder := strconv.Itoa(a.Request.N), c.howToAnswer(a), c.howToAllowFolder(a)
		out = append(out, c.inTheirWords(notices.Text{
			"#" + n + ": " + approval.WhatOf(a, false) + approval.ExactOf(a) + "\n\n" + how[0] + folder[0] + " Without an answer it expires in 30 minutes.",
			"#" + n + "：" + approval.WhatOf(a, true) + approval.ExactOf(a) + "\n\n" + how[1] + folder[1] + "30 分钟内没有答复就失效。",
		}))
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
		zh, where := c.text(notices.Text{"", "zh"}, turn) != "", ""
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
	order, folder := "/approve "+strconv.Itoa(a.Request.N)+" folder", visible.Sentence(a.Request.FilesIn)
	return notices.Text{
		" " + order + " also allows all files directly in the folder “" + folder + "” for 60 minutes.",
		"发送 " + order + " 则在 60 分钟内同时允许发送直接位于文件夹“" + folder + "”中的所有文件。",
	}
}

// expiredWords says that a request has expired.
func (c *Chat) expiredWords(a journal.Asked) string {
	return c.inTheirWords(notices.Expired(strconv.Itoa(a.Request.N)))
}

// crowdedWords says that a request was denied because too many are open.
func (c *Chat) crowdedWords(a journal.Asked) string {
	return c.inTheirWords(notices.Crowded(strconv.Itoa(a.Request.N)))
}

// inChinese reports whether people of the chat are asked in Chinese.
func (c *Chat) inChinese() bool { return c.inTheirWords(notices.Text{"", "zh"}) != "" }

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
			if !c.asksOthers(a.Request.Asker) || c.group() && len(c.deciders(a.Request.Asker)) == 0 {
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

// howToAnswer says who can answer a request and how. People who may not decide only read who was asked.
func (c *Chat) howToAnswer(a journal.Asked) notices.Text {
	n := strconv.Itoa(a.Request.N)
	if !c.asksOthers(a.Request.Asker) {
		return notices.Text{"Answer yes or no, or /approve " + n + " or /deny " + n + ".", "请回复“批准”或“拒绝”，也可以发送 /approve " + n + " 或 /deny " + n + "。"}
	}
	list := c.deciders(a.Request.Asker)
	if len(list) > 0 {
		en, zh := approval.WhoIsAsked(list)
		return notices.Text{"You cannot approve this yourself. I asked " + en + " in private.", "你无权自行批准。我已私下询问" + zh + "。"}
	}
	if c.group() {
		return notices.Text{
			"You cannot approve this yourself, and nobody who may approve it has a private chat with me, so I could not ask anyone. " +
				"A person who may approve it can send /approve " + n + " or /deny " + n + " here, or press a button.",
			"你无权自行批准，有权批准的人都没有与我私聊，所以我无法询问任何人。有权批准的人可以在这里发送 /approve " + n + "、/deny " + n + "，或点按钮。",
		}
	}
	return notices.Text{
		"You cannot approve this yourself, and nobody who may approve it has a private chat with me, so I could not ask anyone.",
		"你无权自行批准，有权批准的人都没有与我私聊，所以我无法询问任何人。",
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
