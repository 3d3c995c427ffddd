package chat

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

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
func (c *chat) forgetCommand(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != "forget" || c.Forget == nil {
		return false
	}
	answer := func(n notice) { c.settleAtOnce(ac, msg, turn, journal.FateAnswered, "forget", c.text(n, turn)) }
	args := strings.ToLower(strings.TrimSpace(msg.Args))
	switch cmd := c.commandOf(msg, turn); {
	case msg.Forwarded || msg.Bot || c.MayForget == nil || !c.MayForget(cmd):
		answer(noticeForgetForbidden())
	case slices.Contains([]string{"no", "cancel", "取消", "不"}, args):
		c.forgets = time.Time{}
		answer(noticeForgetKept())
	case slices.Contains([]string{"yes", "确认", "是"}, args) && !c.forgets.IsZero() && time.Since(c.forgets) <= forgetWithin:
		c.forgetNow(ac, msg, turn)
	default:
		c.forgets = time.Now()
		button := func(order string, label notice) messages.Ask {
			text := c.text(label, turn)
			return messages.Ask{N: 1, Order: order, Label: text, Chinese: text == label.zh}
		}
		msg.Asks = append(msg.Asks, button("forget yes", notice{"🗑 Delete everything", "🗑 全部删除"}), button("forget no", notice{"Keep", "保留"}))
		answer(noticeForgetAsk())
	}
	return true
}

// forgetNow deletes what is kept of the chat and says so. The order itself is known then,
// as all others are.
func (c *chat) forgetNow(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) {
	// The words are chosen before the ones that people wrote are gone.
	done, later := c.text(noticeForgotten(), turn), c.text(noticeForgetLater(), turn)
	say := done
	if err := c.forgetAll(ac, "chat "+turn.Meta.UserID, msg.IngressID); err != nil {
		say = later
	}
	if c.state == nil {
		c.refuse(ac, msg)
		return
	}
	if c.wake(ac) != nil {
		c.refuse(ac, msg)
		return
	}
	turn.Meta.Seq = c.state.Seq + 1
	c.settleAtOnce(ac, msg, turn, journal.FateAnswered, "forget", say)
}

// takeAway obeys orders that take away what was said.
func (c *chat) takeAway(ac actor.Context, msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.RewindChat:
		c.rewind(ac, msg)
	case messages.ForgetChat:
		c.onForget(ac, msg)
	default: // only these take anything away
	}
}

// onForget deletes what is kept of the chat, for an operator.
func (c *chat) onForget(ac actor.Context, msg messages.ForgetChat) {
	answer := messages.ChatForgotten{ChatKey: c.key}
	if err := c.forgetAll(ac, msg.By, ""); err != nil {
		answer.Err = err.Error()
	}
	c.answer(ac, answer)
	if c.state != nil {
		c.restLater()
	}
}

// forgetAll ends what is under way, has everything deleted, and reads the chat anew: it
// then holds the ids and numbers of before and nothing else.
func (c *chat) forgetAll(ac actor.Context, by, order string) error {
	if c.Forget == nil {
		return errNotForgotten
	}
	intent := c.state.Forgotten(c.key, time.Now(), by, !c.group())
	c.log.Info("all that is kept of the chat is being deleted", "by", by, "ingress_id", order)
	c.audit(AuditEntry{Event: "forget", By: by})
	c.release(ac)
	clear(c.watchers)
	clear(c.receipts)
	clear(c.asks)
	clear(c.marked)
	c.quoted, c.pages, c.moved = quoting{}, paging{}, nil
	c.since, c.holding, c.flooded, c.forgets = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	err := c.Forget(intent)
	if err != nil {
		c.log.Error("not all that is kept of the chat could be deleted; the next start goes on with it", "error", err)
	}
	c.ready(ac)
	return err
}
