package telegram

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxAnswered is the maximum length passed on of a replied-to message, in characters.
const maxAnswered = 1000

// answered returns the message that msg replies to, or only the passage that the sender quoted. It
// returns nil if msg is not a reply, or the message has no text.
func (m mapper) answered(msg *wire.Message) *uimessage.Quoted {
	r, id := msg.ReplyTo, msg.RepliesTo()
	out := &uimessage.Quoted{MessageID: id}
	if id != "" {
		out.Text = cmp.Or(r.Text, r.Caption, string(r.Rich))
		if out.Text == "" {
			out.Text = wire.FirstText(r.Parts())
		}
		switch {
		case r.From != nil && r.From.ID == m.me.ID:
			out.From = "you"
		case r.SenderChat != nil:
			out.From, out.User = r.SenderChat.Name(), strconv.FormatInt(r.SenderChat.ID, 10)
		case r.From != nil:
			out.From, out.User = r.From.Name(), strconv.FormatInt(r.From.ID, 10)
		}
	}
	if out.User != "" && strings.EqualFold(out.From, "you") { // a name that somebody chose
		out.From = ""
	}
	if msg.Quote != nil && msg.Quote.Text != "" {
		out.Text = msg.Quote.Text
	}
	if out.Text == "" {
		return nil
	}
	if r != nil && len(r.ForwardOrigin) > 0 {
		out.Text = botkit.Placeholder("forwarded") + " " + out.Text
	}
	if words := []rune(out.Text); len(words) > maxAnswered {
		out.Text = string(words[:maxAnswered]) + "…"
	}
	return out
}
