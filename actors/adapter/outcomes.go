package adapter

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	outcomeDeadline = 15 * time.Second
	// maxShowing is how many messages are changed at once. What comes beyond, their chats
	// send again.
	maxShowing = 4
)

// outcomesShown: the call that shows how requests ended has come to its end.
type outcomesShown struct {
	of  messages.ShowOutcomes
	err error
}

// showOutcomes puts in the place of a message's buttons how its requests ended. It goes
// beside the chat's lane: what is owed there is another message.
func (a *adapter) showOutcomes(ac actor.Context, msg messages.ShowOutcomes) {
	if a.outcomer == nil || a.sender == nil {
		a.tellShown(ac, msg, false) // there were no buttons
		return
	}
	if a.showing >= maxShowing || a.closing {
		a.tellShown(ac, msg, true)
		return
	}
	a.showing++
	addr, _ := msg.ChatKey.Address()
	to := platform.Target{ChatKey: msg.ChatKey, Chat: addr.Chat, Topic: addr.Topic, ChatType: msg.ChatType}
	ctx, sender, outcomer := a.ctx, a.sender, a.outcomer
	a.home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, outcomeDeadline)
		defer cancel()
		var part platform.Part
		out := platform.Outbound{To: to, Text: msg.Text}
		for _, o := range msg.Asks {
			out.Asks = append(out.Asks, o.Ask)
		}
		for _, p := range sender.Plan(out) {
			if len(p.Asks) > 0 {
				part = p
			}
		}
		return outcomesShown{msg, outcomer.ShowOutcomes(ctx, to, msg.MessageID, part, msg.Asks)}
	}, func(pipe.Panicked) any { return outcomesShown{of: msg} })
}

// outcomesShown tells the chat. A message that cannot be changed for good, for example
// since it is gone, shows nothing that is wrong for long: a press says what happened.
func (a *adapter) outcomesShown(ac actor.Context, msg outcomesShown) {
	a.showing--
	e, refused := errors.AsType[*platform.Error](msg.err)
	again := msg.err != nil && (!refused || e.Retryable || e.Reason == platform.SendAuth)
	if msg.err != nil && !again {
		a.Logger.Warn("the outcome of a request could not be shown in the place of its buttons", "component", "adapter", "chat_key", string(msg.of.ChatKey), "error", msg.err)
	}
	a.tellShown(ac, msg.of, again)
}

func (a *adapter) tellShown(ac actor.Context, msg messages.ShowOutcomes, again bool) {
	ac.Send(a.Router, messages.OutcomesShown{ChatKey: msg.ChatKey, Row: msg.Row, Ended: msg.Ended, Retry: again})
}
