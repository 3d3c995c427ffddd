package machine

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// errNotForgotten is the answer where deleting chats is turned off.
var errNotForgotten = errors.New("chats are not deleted here")

// forgetWithin is how long a yes to the question is accepted.
const forgetWithin = 30 * time.Minute

// forgetCommand handles /forget, which first asks for confirmation. Only a person's own message or button press
// deletes anything; bots do not.
func (c *Chat) forgetCommand(msg messages.AcceptIngress, turn journal.Turn) bool {
	if msg.Command != "forget" || !c.Forgets {
		return false
	}
	answer := func(n notices.Text) { c.Settle(msg, turn, journal.FateAnswered, "forget", c.Text(n, turn)) }
	args := strings.ToLower(strings.TrimSpace(msg.Args))
	switch cmd := c.commandOf(msg, turn); {
	case msg.Bot || c.MayForget == nil || !c.MayForget(cmd):
		answer(notices.ForgetForbidden())
	case slices.Contains([]string{"no", "cancel", "取消", "不"}, args):
		c.forgets = time.Time{}
		answer(notices.ForgetKept())
	case slices.Contains([]string{"yes", "确认", "是"}, args) && c.mayConfirm():
		c.forgetNow(msg, turn)
	default:
		c.forgets = c.Now()
		button := func(order string, label notices.Text) messages.Ask {
			text := c.Text(label, turn)
			return messages.Ask{N: 1, Order: order, Label: text, Chinese: text == label[1]}
		}
		msg.Asks = append(msg.Asks, button("forget yes", notices.Text{"🗑 Delete everything", "🗑 全部删除"}), button("forget no", notices.Text{"Keep", "保留"}))
		answer(notices.ForgetAsk(c.Via.Outbox, c.At()))
	}
	return true
}

// mayConfirm reports whether the question can still be answered. Until then the chat stays loaded, because nothing else
// remembers the question.
func (c *Chat) mayConfirm() bool { return !c.forgets.IsZero() && c.Ago(c.forgets) <= forgetWithin }

// forgetNow deletes everything that is kept of the chat. The command itself is recorded afterwards like any other. The
// words of the answer are chosen first, because their language depends on the messages that are deleted.
func (c *Chat) forgetNow(msg messages.AcceptIngress, turn journal.Turn) {
	c.forgetAll("chat "+turn.Meta.UserID, msg.IngressID, forgetOrder{msg, turn, c.Text(notices.Forgotten(), turn), c.Text(notices.ForgetLater(), turn), c.Text(notices.ForgetFailed(), turn)})
}

// forgetOrder is a person's command to delete the chat, with the words that answer it.
type forgetOrder struct {
	msg         messages.AcceptIngress
	turn        journal.Turn
	done, later string
	never       string // if nothing is deleted, now or later
}

// onForgotten answers whoever asked to delete the chat.
func (c *Chat) onForgotten(f decision.Forgotten) {
	if !errors.Is(f.Err, journal.ErrNotBegun) {
		c.Send(c.Via.Ref, messages.ForgetRows{ChatKey: c.Key})
	}
	switch of := f.Of.(type) {
	case forgetOrder:
		say := of.done
		switch {
		case errors.Is(f.Err, journal.ErrNotBegun):
			say = of.never
		case f.Err != nil:
			say = of.later
		}
		c.Wake()
		of.turn.Meta.Seq = c.State.Seq + 1
		c.Settle(of.msg, of.turn, journal.FateAnswered, "forget", say)
	case messages.ForgetChat:
		answer := messages.ChatForgotten{ChatKey: c.Key}
		if f.Err != nil {
			answer.Err = f.Err.Error()
		}
		c.Answer(answer)
	}
}

// onForget deletes everything that is kept of the chat at the request of an operator.
func (c *Chat) onForget(msg messages.ForgetChat) {
	if !c.Forgets {
		c.Answer(messages.ChatForgotten{ChatKey: c.Key, Err: errNotForgotten.Error()})
		return
	}
	c.forgetAll(msg.By, "", msg)
}

// forgetAll plans the deletion of everything that is kept of the chat.
func (c *Chat) forgetAll(by, order string, of any) {
	intent := c.State.Forgotten(c.Key, c.Now(), by, messages.IsAlone(c.ChatType, c.Addr.Chat), c.Ledger)
	c.Log(slog.LevelInfo, "everything stored for the chat is being deleted", "by", by, "ingress_id", order)
	c.Audit(decision.AuditEntry{Event: "forget", By: by})
	c.Effect(decision.ForgetAll{Intent: intent, Of: of, Sender: c.In.Sender})
}
