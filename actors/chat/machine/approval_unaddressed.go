package machine

import (
	"slices"
	"strconv"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

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
	case ruling.None:
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
