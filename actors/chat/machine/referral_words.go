package machine

import (
	"strconv"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

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
