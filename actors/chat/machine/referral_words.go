package machine

import (
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// maxNamed is how many of those who are asked in private are named.
const maxNamed = 3

// howToAnswer says who answers a request and how. People who may not decide are not told
// to: they read who was asked.
func (c *Chat) howToAnswer(a journal.Asked) notices.Text {
	n := strconv.Itoa(a.Request.N)
	if !c.asksOthers(a.Request.Asker) {
		return notices.Text{"Answer yes or no, or /approve " + n + " or /deny " + n + ".", "请回复“批准”或“拒绝”，也可以发送 /approve " + n + " 或 /deny " + n + "。"}
	}
	list := c.deciders(a.Request.Asker)
	if len(list) > 0 {
		en, zh := WhoIsAsked(list)
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

// WhoIsAsked names those who are asked in private, in English and Chinese; empty: nobody.
// Names are shown as plain words.
func WhoIsAsked(list []Decider) (en, zh string) {
	if len(list) == 0 {
		return "", ""
	}
	var enNames, zhNames []string
	for i, d := range list {
		if i == maxNamed {
			more := strconv.Itoa(len(list) - maxNamed)
			enNames, zhNames = append(enNames, more+" more"), append(zhNames, "另外 "+more+" 人")
			break
		}
		role := d.role()
		name := shortName(d.Name)
		if name == "" {
			enNames, zhNames = append(enNames, role.enAlone), append(zhNames, role.zh)
			continue
		}
		enNames, zhNames = append(enNames, name+" ("+role.en+")"), append(zhNames, name+"（"+role.zh+"）")
	}
	en = strings.Join(enNames, ", ")
	if n := len(enNames); n > 1 {
		en = strings.Join(enNames[:n-1], ", ") + " and " + enNames[n-1]
	}
	zh = strings.Join(zhNames, "、")
	if shortName(list[0].Name) != "" {
		zh = " " + zh // a name is set off from the words before it
	}
	return en, zh
}

type roleWords struct{ en, enAlone, zh string }

func (d Decider) role() roleWords {
	switch d.Role {
	case DeciderOwner:
		return roleWords{"owner", "my owner", "主人"}
	case DeciderAdmin:
		return roleWords{"administrator of this group", "an administrator of this group", "群管理员"}
	case DeciderAsker:
		return roleWords{"whose task it is", "the person whose task it is", "任务的创建者"}
	case DeciderApprover:
	}
	return roleWords{"approver", "an approver", "审批人"}
}
