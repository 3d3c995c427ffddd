package machine

import (
	"cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// unseenNotice says that a request could not be shown yet, and why; false: it was shown.
func (c *Chat) unseenNotice(approvalID string) (notice, bool) {
	row := c.unseenIn(approvalID)
	switch {
	case row == nil:
		return notice{}, false
	case row.Parked:
		why := UnsentReason(row.Reason)
		return notice{
			"This could not be shown here yet: " + why[0] + ". It stays open. An operator can send it again with sma outbox retry.",
			"这个请求还没能在这里显示：" + why[1] + "。请求保持等待，管理员可以用 sma outbox retry 重新发送。",
		}, true
	}
	why := [2]string{"it is still being sent", "还在发送中"}
	if d, failing := c.delayed[row.Key]; failing {
		why = UnsentReason(d.Reason)
		why[0], why[1] = why[0]+"; it will be tried again", why[1]+"，稍后会重试"
	}
	return notice{"This could not be shown here yet: " + why[0] + ".", "这个请求还没能在这里显示：" + why[1] + "。"}, true
}

// UnsentReason says why a message could not be sent, in English and Chinese.
func UnsentReason(reason string) [2]string {
	known := map[string][2]string{
		string(platform.SendRate):      {"the service asks to wait", "平台要求稍后再发"},
		string(platform.SendNetwork):   {"the service cannot be reached", "无法连接平台"},
		string(platform.SendServer):    {"the service has a fault", "平台出现故障"},
		string(platform.SendAuth):      {"the service refuses the bot's token", "平台拒绝了机器人的凭证"},
		string(platform.SendForbidden): {"the bot may not write here", "机器人无权在这里发消息"},
		string(platform.SendNotFound):  {"the service does not find the chat", "平台找不到这个聊天"},
	}
	words := known[reason]
	return [2]string{cmp.Or(words[0], "the service refused it"), cmp.Or(words[1], "平台拒绝了这条消息")}
}
