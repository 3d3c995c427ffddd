package machine

import "github.com/shipmyagent/shipmyagent/actors/chat/notices"

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
