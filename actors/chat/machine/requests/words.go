package requests

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Reasons of requests that ended without a decision, as the model and people read them.
const (
	reasonExpired   = "expired: nobody decided within 30 minutes; not executed"
	ReasonWithdrawn = "withdrawn: the run ended before anybody decided; not executed"
	ReasonRewound   = "withdrawn: the conversation was changed; not executed"
	reasonCrowded   = "denied: too many requests waited in this chat; not executed"
)

// Words asks people about open requests: one plain sentence each, exactly what would take effect, and how to
// answer. Other open requests are only listed by their heads, because they were shown in full before.
func (q *Requests) Words(list []journal.Asked) string {
	var out []string
	for _, a := range list {
		if a.Request.Answer != journal.AnswerOpen {
			continue
		}
		asked, others := q.asked(a.Request.Asker)
		out = append(out, q.Localized(approval.Words(a, notices.Text{}, approval.HowToAnswer(a.Request.N, asked, others, q.Group(), q.At()), q.howToAllowFolder(a))))
	}
	if len(out) == 0 {
		return ""
	}
	var beside []string
	for _, a := range q.openHere() {
		if !slices.ContainsFunc(list, func(o journal.Asked) bool { return o.Request.ID == a.Request.ID }) {
			beside = append(beside, "#"+strconv.Itoa(a.Request.N)+" "+approval.HeadOf(a, q.InChinese()))
		}
	}
	if len(beside) > 0 {
		out = append(out, q.Localized(notices.Text{"Also waiting (/approvals" + q.At() + " shows them whole):", "还在等待的请求（/approvals" + q.At() + " 可查看全文）："})+"\n\n"+strings.Join(beside, "\n\n"))
	}
	return strings.Join(out, "\n\n")
}

// listWords shows all open requests to a person. Those the person may decide about come first; the others are listed
// as waiting for somebody else's decision.
func (q *Requests) listWords(open []journal.Asked, turn journal.Turn) string {
	if len(open) == 0 {
		return q.Text(notices.Text{"Nothing is waiting for your decision.", "没有等待你决定的请求。"}, turn)
	}
	theirs := q.theirs(decision.AskerOf(turn))
	var lines []string
	if len(theirs) > 0 {
		lines = append(lines, q.Text(approval.DecideThese(theirs, q.At()), turn))
		lines = append(lines, q.shownWhole(theirs, turn)...)
	}
	others := slices.DeleteFunc(slices.Clone(open), func(a journal.Asked) bool { return slices.Contains(approval.IDsOf(theirs), a.Request.ID) })
	if len(others) > 0 {
		lines = append(lines, q.Text(approval.OthersDecide(others), turn))
		lines = append(lines, q.shownWhole(others, turn)...)
	}
	return strings.Join(lines, "\n\n")
}

// shownWhole formats requests in full, as a list shows them.
func (q *Requests) shownWhole(list []journal.Asked, turn journal.Turn) []string {
	var lines []string
	for _, a := range list {
		zh, where := q.Chinese(turn), ""
		if g, ok := q.State.ReferredRequest(a.Request.ID); ok {
			where = approval.FromWhere(g, zh) + approval.MeansThere(g, zh) + "\n\n"
		}
		lines = append(lines, q.Text(notices.Text{"#" + strconv.Itoa(a.Request.N) + ": ", "#" + strconv.Itoa(a.Request.N) + "："}, turn)+where+approval.WhatOf(a, zh)+approval.ExactOf(a))
		if n, ok := q.unseenNotice(a.Request.ID); ok {
			lines = append(lines, q.Text(n, turn))
		}
	}
	return lines
}

// howToAllowFolder says how to approve a whole folder at once. It is empty if this is not possible here, or not for
// the person who asked.
func (q *Requests) howToAllowFolder(a journal.Asked) notices.Text {
	if len(q.terms("", "").Folders([]journal.Asked{a})) == 0 || q.asksOthers(a.Request.Asker) || !q.TakesWords() {
		return notices.Text{}
	}
	return approval.HowToAllowFolder(a.Request.N, a.Request.FilesIn, "", q.At())
}

// WithAsks adds buttons to the last of the rows, which is the one that asks. If the person who asked may not decide,
// the row gets no buttons.
func (q *Requests) WithAsks(rows []journal.Row, list []journal.Asked) {
	if len(rows) == 0 {
		return
	}
	for _, a := range list {
		if a.Request.Answer == journal.AnswerOpen {
			row := &rows[len(rows)-1]
			// In a group where none of the deciders can be reached in private, the buttons are for those members who
			// may decide.
			if list, others := q.asked(a.Request.Asker); !others || q.Group() && len(list) == 0 {
				row.Asks = append(row.Asks, journal.Ask{N: a.Request.N, ApprovalID: a.Request.ID, Digest: a.Request.Digest, Chinese: q.InChinese()})
			}
			row.Shows = append(row.Shows, a.Request.ID)
		}
	}
}

// unseenNotice explains why a request could not be shown yet. It returns false if the request was shown.
func (q *Requests) unseenNotice(approvalID string) (notices.Text, bool) {
	row := q.State.Unseen(approvalID)
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
	if d, failing := q.Delayed[row.Key]; failing {
		why = notices.UnsentReason(d.Reason)
		why[0], why[1] = why[0]+"; it will be tried again", why[1]+"，稍后会重试"
	}
	return notices.Text{"This could not be shown here yet: " + why[0] + ".", "这个请求还没能在这里显示：" + why[1] + "。"}, true
}

// listAgain answers with the list of requests. It returns false if the chat cannot answer the sender.
func (q *Requests) listAgain(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !q.CanSay(msg) {
		return false
	}
	open := q.openHere()
	q.SettleWith(msg, turn, journal.FateAnswered, "approval", journal.Row{Text: q.listWords(open, turn), Shows: approval.IDsOf(open)})
	return true
}
