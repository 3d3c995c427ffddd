package machine

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// errNotForgotten: nobody deletes anything here.
var errNotForgotten = errors.New("chats are not deleted here")

// forgetWithin is how long a yes to the question counts.
const forgetWithin = 30 * time.Minute

// forgetCommand obeys /forget: it asks first. Only what a person sends, or presses,
// deletes anything.
func (c *Chat) forgetCommand(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != "forget" || !c.Forgets {
		return false
	}
	answer := func(n notices.Text) { c.settleAtOnce(msg, turn, journal.FateAnswered, "forget", c.text(n, turn)) }
	args := strings.ToLower(strings.TrimSpace(msg.Args))
	switch cmd := c.commandOf(msg, turn); {
	case msg.Forwarded || msg.Bot || c.MayForget == nil || !c.MayForget(cmd):
		answer(notices.ForgetForbidden())
	case slices.Contains([]string{"no", "cancel", "取消", "不"}, args):
		c.forgets = time.Time{}
		answer(notices.ForgetKept())
	case slices.Contains([]string{"yes", "确认", "是"}, args) && !c.forgets.IsZero() && c.ago(c.forgets) <= forgetWithin:
		c.forgetNow(msg, turn)
	default:
		c.forgets = c.now()
		button := func(order string, label notices.Text) messages.Ask {
			text := c.text(label, turn)
			return messages.Ask{N: 1, Order: order, Label: text, Chinese: text == label[1]}
		}
		msg.Asks = append(msg.Asks, button("forget yes", notices.Text{"🗑 Delete everything", "🗑 全部删除"}), button("forget no", notices.Text{"Keep", "保留"}))
		answer(notices.ForgetAsk())
	}
	return true
}

// forgetNow deletes what is kept of the chat and says so. The order itself is known then,
// as all others are. The words are chosen before those that people wrote are gone.
func (c *Chat) forgetNow(msg messages.AcceptIngress, turn journal.Turn) {
	c.forgetAll("chat "+turn.Meta.UserID, msg.IngressID, forgetOrder{msg, turn, c.text(notices.Forgotten(), turn), c.text(notices.ForgetLater(), turn)})
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
