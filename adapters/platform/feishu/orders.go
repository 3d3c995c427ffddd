package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// sayOrder marks the value of a button that sends a command to the host.
const sayOrder = "order"

// ordering is the value of a button that sends a command. It names the chat that it was made for,
// and its type, so that a forwarded card cannot send commands elsewhere.
type ordering struct {
	Say   string `json:"say"`
	Order string `json:"order"`
	Place string `json:"place"`
	spoken
}

// placed adds to the asks the chat in which their commands are valid.
func placed(asks []messages.Ask, to platform.Target) []messages.Ask {
	if !slices.ContainsFunc(asks, func(a messages.Ask) bool { return a.Order != "" }) {
		return asks
	}
	asks = slices.Clone(asks)
	for i := range asks {
		if asks[i].Order != "" {
			asks[i].Digest = to.ChatType + " " + to.Chat
		}
	}
	return asks
}

// orderButton adds a button that sends a command to the elements of a card.
func orderButton(elements []object, a messages.Ask, sameRow bool) []object {
	value := ordering{Say: sayOrder, Order: a.Order, Place: a.Digest, spoken: spokenIn(a.Chinese)}
	button := object{"tag": "button", "text": plainText(a.Label), "type": "default", "behaviors": []object{{"type": "callback", "value": value}}}
	column := object{"tag": "column", "width": "auto", "elements": []object{button}}
	if n := len(elements); sameRow && n > 0 {
		if columns, ok := elements[n-1]["columns"].([]object); ok {
			elements[n-1]["columns"] = append(columns, column)
			return elements
		}
	}
	return append(elements, object{"tag": "column_set", "columns": []object{column}})
}

// ordered hands the command of a button to the chat, as if the person who pressed it had sent it as
// a reply to the card. It passes the same gate as their messages, and the chat answers it. It
// returns false if the button has no command.
func (r *receiver) ordered(ctx context.Context, env envelope) (any, bool) {
	var e press
	var o ordering
	if err := errors.Join(json.Unmarshal(env.Event, &e), json.Unmarshal(e.Action.Value, &o)); err != nil || o.Say != sayOrder {
		return nil, false
	}
	say := o.words(r.p.say)
	name, args, _ := strings.Cut(o.Order, " ")
	kind, chat, _ := strings.Cut(o.Place, " ")
	if e.Context.Chat == "" || chat != e.Context.Chat || len(e.Context.Chat) > maxID || e.Operator.OpenID == "" || env.Header.ID == "" ||
		len(o.Order) > messages.MaxOrder || !slices.Contains(r.p.opts.Commands, name) {
		return toast(botkit.ToneError, say.UnknownRequest), true
	}
	ctx, cancel := context.WithTimeout(ctx, pressDeadline)
	defer cancel()
	in := platform.Inbound{
		ChatKey: messages.NewChatKey("feishu", r.p.opts.Account, chat, 0), IngressID: "button-" + botkit.Tidy(env.Header.ID, maxID), RequestID: botkit.RequestID(),
		Kind: platform.KindCommand, Command: platform.Command{Name: name, Args: args}, Text: "/" + o.Order, Chat: platform.ChatInfo{ID: chat, Type: botkit.Tidy(kind, botkit.MaxName)},
		Sender: r.p.person(ctx, e.Operator.OpenID), MessageID: e.Context.Message, Time: time.Now().UTC(),
	}
	in.TurnID = "u:" + string(in.ChatKey) + ":" + in.IngressID
	in = r.p.admit(ctx, mapped{in: in, facts: botkit.Facts{ChatType: chatType(kind), Addressed: botkit.AddressedCommand}}, received{})
	if !in.Gate.Open {
		return toast(botkit.ToneError, say.MayNotUse), true
	}
	if !r.p.life.Offer(ctx, in) {
		return toast(botkit.ToneWarning, say.TryAgain), true
	}
	return toast(botkit.ToneSuccess, say.Pressed), true
}
