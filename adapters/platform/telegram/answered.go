package telegram

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxAnswered is the maximum length passed on of a replied-to message, in characters.
const maxAnswered = 1000

// quote is the passage of a message that its reply refers to.
type quote struct {
	Text string `json:"text"`
}

// answered returns the message that msg replies to, or only the passage that the sender quoted. It
// returns nil if msg is not a reply, or the message has no text.
func (m mapper) answered(msg *message) *uimessage.Quoted {
	r, id := msg.ReplyTo, msg.replyTo()
	out := &uimessage.Quoted{MessageID: id}
	if id != "" {
		out.Text = cmp.Or(r.Text, r.Caption, string(r.Rich))
		if out.Text == "" {
			out.Text = firstText(r.parts())
		}
		switch {
		case r.From != nil && r.From.ID == m.me.ID:
			out.From = "you"
		case r.SenderChat != nil:
			out.From, out.User = r.SenderChat.name(), strconv.FormatInt(r.SenderChat.ID, 10)
		case r.From != nil:
			out.From, out.User = r.From.name(), strconv.FormatInt(r.From.ID, 10)
		}
	}
	if msg.Quote != nil && msg.Quote.Text != "" {
		out.Text = msg.Quote.Text
	}
	if out.Text == "" {
		return nil
	}
	if words := []rune(out.Text); len(words) > maxAnswered {
		out.Text = string(words[:maxAnswered]) + "…"
	}
	return out
}

// pictureOf returns the picture of the message that this one replies to, in a group: people point
// at pictures that were not meant for the bot. In private chats the bot has already seen it.
func pictureOf(msg *message, private bool) []uimessage.Part {
	if private || msg.ReplyTo == nil || msg.replyTo() == "" {
		return nil
	}
	kind, f := msg.ReplyTo.file()
	if f == nil || kind != "photo" && kind != "sticker" && (kind != "document" || !strings.HasPrefix(f.Mime, "image/")) {
		return nil
	}
	parts := msg.ReplyTo.parts()
	if len(parts) < 2 { // it cannot be downloaded
		return nil
	}
	parts[0] = uimessage.Text{Text: "[" + kind + " of the message that this one answers]"}
	of, _ := platform.FileOf(parts[1]) // m.parts has just encoded it
	of.Answered = true
	parts[1] = of.Part()
	return parts
}

func firstText(parts []uimessage.Part) string {
	for _, p := range parts {
		if t, ok := p.(uimessage.Text); ok {
			return t.Text
		}
	}
	return ""
}
