package telegram

import (
	"cmp"
	"strconv"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/door"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxAnswered is the longest that is passed on of a message which another one
// answers, in characters.
const maxAnswered = 1000

// quote is the stretch of a message that its answer is about.
type quote struct {
	Text string `json:"text"`
}

// answered is the message that a message answers: of all of it the stretch that the
// sender chose, if they chose one. Nil: it answers none, or one without words.
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

func firstText(parts []uimessage.Part) string {
	for _, p := range parts {
		if t, ok := p.(uimessage.Text); ok {
			return t.Text
		}
	}
	return ""
}

// mayQuote tells whether the words of an answered message may come along: those of
// people who are not heard in the group may not, whoever points at them.
func (p *Platform) mayQuote(in platform.Inbound, r rules) bool {
	if in.Answers.User == "" || in.Answers.User == in.Sender.ID || r.member == AccessOpen {
		return true
	}
	role, _ := p.door.Standing(platform.Inbound{Sender: platform.Person{ID: in.Answers.User}}, true)
	return door.Lets(r.member, role)
}
