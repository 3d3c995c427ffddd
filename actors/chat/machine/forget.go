package machine

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// errNotForgotten: nobody deletes anything here.
var errNotForgotten = errors.New("chats are not deleted here")

// forgetWithin is how long a yes to the question counts.
const forgetWithin = 30 * time.Minute

func noticeForgetAsk() notice {
	return notice{
		"This deletes everything that I keep of this chat, for good: messages, archived conversations and summaries, what I remember of it, its files and recordings, its tasks, and what was allowed here. " +
			"In a private chat it also deletes what I remember of you. What was remembered for the whole project stays, and so do the messages that you see here.\n\n" +
			"To delete, press the button or send /forget yes within 30 minutes. To keep everything, do nothing.",
		"这会永久删除我保存的关于这个聊天的全部内容：消息、已归档的对话和摘要、我记住的内容、文件和录音、任务，以及这里授予的权限。" +
			"在私聊中还会删除我记住的关于你的内容。为整个项目记住的内容会保留，你在这里看到的消息也不会消失。\n\n" +
			"要删除，请在 30 分钟内按下按钮或发送 /forget 确认。要保留，不用做任何事。",
	}
}

func noticeForgotten() notice {
	return notice{"Done. Everything that I kept of this chat is deleted.", "已完成。我保存的关于这个聊天的全部内容都已删除。"}
}

func noticeForgetKept() notice {
	return notice{"Nothing was deleted.", "没有删除任何内容。"}
}

func noticeForgetForbidden() notice {
	return notice{
		"Nothing was deleted. In a group, only my owner or somebody else who decides here can delete what I keep of it.",
		"没有删除任何内容。在群里，只有主人或其他有权在这里做决定的人可以删除我保存的内容。",
	}
}

func noticeForgetLater() notice {
	return notice{
		"Not everything could be deleted just now. It will be finished when I am started the next time; the operator finds the reason in the log.",
		"现在还不能全部删除，我下次启动时会继续完成。管理员可以查看日志中的原因。",
	}
}

// forgetCommand obeys /forget: it asks first. Only what a person sends, or presses,
// deletes anything.
func (c *Chat) forgetCommand(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != "forget" || !c.Forgets {
		return false
	}
	answer := func(n notice) { c.settleAtOnce(msg, turn, journal.FateAnswered, "forget", c.text(n, turn)) }
	args := strings.ToLower(strings.TrimSpace(msg.Args))
	switch cmd := c.commandOf(msg, turn); {
	case msg.Forwarded || msg.Bot || c.MayForget == nil || !c.MayForget(cmd):
		answer(noticeForgetForbidden())
	case slices.Contains([]string{"no", "cancel", "取消", "不"}, args):
		c.forgets = time.Time{}
		answer(noticeForgetKept())
	case slices.Contains([]string{"yes", "确认", "是"}, args) && !c.forgets.IsZero() && c.ago(c.forgets) <= forgetWithin:
		c.forgetNow(msg, turn)
	default:
		c.forgets = c.now()
		button := func(order string, label notice) messages.Ask {
			text := c.text(label, turn)
			return messages.Ask{N: 1, Order: order, Label: text, Chinese: text == label[1]}
		}
		msg.Asks = append(msg.Asks, button("forget yes", notice{"🗑 Delete everything", "🗑 全部删除"}), button("forget no", notice{"Keep", "保留"}))
		answer(noticeForgetAsk())
	}
	return true
}

// forgetNow deletes what is kept of the chat and says so. The order itself is known then,
// as all others are. The words are chosen before those that people wrote are gone.
func (c *Chat) forgetNow(msg messages.AcceptIngress, turn journal.Turn) {
	c.forgetAll("chat "+turn.Meta.UserID, msg.IngressID, forgetOrder{msg, turn, c.text(noticeForgotten(), turn), c.text(noticeForgetLater(), turn)})
}

// forgetOrder is a person's order to delete the chat, with the words that answer it.
type forgetOrder struct {
	msg         messages.AcceptIngress
	turn        journal.Turn
	done, later string
}

// onForgotten answers who ordered to delete the chat.
func (c *Chat) onForgotten(f Forgotten) {
	switch of := f.Of.(type) {
	case forgetOrder:
		say := of.done
		if f.Err != nil {
			say = of.later
		}
		c.wake()
		of.turn.Meta.Seq = c.state.Seq + 1
		c.settleAtOnce(of.msg, of.turn, journal.FateAnswered, "forget", say)
	case messages.ForgetChat:
		answer := messages.ChatForgotten{ChatKey: c.key}
		if f.Err != nil {
			answer.Err = f.Err.Error()
		}
		c.answer(answer)
	}
}

// takeAway obeys orders that take away what was said.
func (c *Chat) takeAway(msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.RewindChat:
		c.rewind(msg)
	case messages.ForgetChat:
		c.onForget(msg)
	default: // only these take anything away
	}
}

// onForget deletes what is kept of the chat, for an operator.
func (c *Chat) onForget(msg messages.ForgetChat) {
	if !c.Forgets {
		c.answer(messages.ChatForgotten{ChatKey: c.key, Err: errNotForgotten.Error()})
		return
	}
	c.forgetAll(msg.By, "", msg)
}

// forgetAll has everything deleted that is kept of the chat.
func (c *Chat) forgetAll(by, order string, of any) {
	intent := c.state.Forgotten(c.key, c.now(), by, !c.group())
	c.log(slog.LevelInfo, "all that is kept of the chat is being deleted", "by", by, "ingress_id", order)
	c.audit(AuditEntry{Event: "forget", By: by})
	c.effect(ForgetAll{intent, of, c.in.Sender})
}
