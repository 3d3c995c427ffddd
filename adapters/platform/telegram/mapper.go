package telegram

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// mapped is an update as an inbound, with the facts for the gate.
type mapped struct {
	in        platform.Inbound
	facts     botkit.Facts
	continues bool // it reads like a continuation of what was said before
	language  string
	msg       *wire.Message
}

// mapper turns updates into inbounds. It is pure except for the random request id.
type mapper struct {
	account  string
	me       models.User // the bot
	commands []string
	// origin returns the id from which a chat's key is made. If nil, that is the chat's own id.
	origin func(chat string) string
}

// inbound maps an update; ok is false if it is not a message.
func (m mapper) inbound(u update) (out mapped, ok bool) {
	for _, x := range []struct {
		msg  *wire.Message
		edit bool
	}{{u.Message, false}, {u.Edited, true}, {u.ChannelPost, false}, {u.EditedChannel, true}} {
		if x.msg != nil && x.msg.ID != 0 && x.msg.Chat.ID != 0 {
			return m.message(x.msg, x.edit), true
		}
	}
	return mapped{}, false
}

func (m mapper) message(msg *wire.Message, edit bool) mapped {
	id := strconv.FormatInt(msg.ID, 10)
	topic := msg.Topic()
	wire := strconv.FormatInt(msg.Chat.ID, 10)
	chatID := wire
	if m.origin != nil {
		chatID = m.origin(wire)
	}
	in := platform.Inbound{
		ChatKey:   messages.NewChatKey("telegram", m.account, chatID, topic),
		IngressID: id, RequestID: botkit.RequestID(), Kind: platform.KindMessage,
		Chat: platform.ChatInfo{ID: chatID, Type: string(msg.Chat.Type), Title: msg.Chat.Name()}, Sender: msg.Sender(),
		MessageID: id, Order: orderOf(msg.ID, wire != chatID),
		ReplyTo: msg.RepliesTo(), ToBot: m.toBot(msg), Elsewhere: msg.Elsewhere(), Answers: m.answered(msg), Time: time.Unix(msg.Date, 0).UTC(), Text: msg.Text,
		Forwarded: len(msg.ForwardOrigin) > 0 || msg.ViaBot != nil, Album: botkit.Tidy(msg.Group, botkit.MaxName),
	}
	if topic != 0 {
		in.Chat.ThreadID = strconv.FormatInt(topic, 10)
	}
	if edit {
		in.Kind, in.EditOf = platform.KindEdit, id
		in.IngressID = id + "@" + strconv.FormatInt(msg.EditDate, 10)
		in.Time = time.Unix(max(msg.EditDate, msg.Date), 0).UTC()
	}
	if wire != chatID { // the message ids started over
		in.IngressID = wire + "/" + in.IngressID
		in.TurnID = "u:" + string(in.ChatKey) + ":" + strings.ReplaceAll(in.IngressID, "/", "-")
	}
	text, entities := msg.Text, msg.Entities
	if text == "" {
		text, entities = msg.Caption, msg.CaptionEntities
		in.Text = text
		in.Parts = msg.Parts()
	}
	if text == "" && len(in.Parts) == 0 {
		text = string(msg.Rich)
		in.Text = text
	}
	out := mapped{in: in, msg: msg, continues: !edit && m.continues(msg, text, entities), facts: botkit.Facts{
		ChatType: string(msg.Chat.Type), Bot: in.Sender.IsBot, Anonymous: msg.SenderChat != nil, Addressed: m.addressed(msg, text, entities),
		Named: m.namesOthers(text, entities),
	}}
	switch {
	case edit && msg.Location != nil:
		out.facts.Content = botkit.ContentLive
	case text == "" && len(in.Parts) == 0:
		out.facts.Content = botkit.ContentService
	}
	if msg.From != nil {
		out.language = msg.From.Language
		out.in.Sender.Language = msg.From.Language
	}
	m.command(&out, msg.Text, edit)
	return out
}

// command turns a text into a command, if it is one for the bot.
func (m mapper) command(out *mapped, text string, edit bool) {
	name, bot, args, ok := botkit.ParseCommand(m.withoutMention(text))
	if !ok || edit {
		return
	}
	ours := strings.EqualFold(bot, m.me.Username)
	switch {
	case bot != "" && !ours:
		out.facts.Addressed = botkit.AddressedOtherBot
		return
	case bot != "":
		out.facts.Addressed = botkit.AddressedCommand
	}
	// The host answers an unknown command if it is addressed to this bot. In a group it may be
	// meant for another bot.
	turned := out.facts.Private() || out.facts.Addressed != botkit.AddressedNot
	if slices.Contains(m.commands, name) || turned && !out.in.Forwarded {
		out.in.Kind, out.in.Command = platform.KindCommand, platform.Command{Name: name, Args: m.withoutLastMention(args)}
	}
}

// withoutLastMention removes the bot's own name from the end of a command's arguments, so that "/stop all @bot" is read
// as the command.
func (m mapper) withoutLastMention(args string) string {
	before := len(args) - len(m.me.Username) - 1
	if m.me.Username == "" || before < 0 || !strings.EqualFold(args[before:], "@"+m.me.Username) {
		return args
	}
	if before > 0 && args[before-1] != ' ' {
		return args
	}
	return strings.TrimRight(args[:before], " ")
}

// withoutMention removes the bot's own name from the beginning of a text, so that "@bot /stop" is
// read as the command.
func (m mapper) withoutMention(text string) string {
	if m.me.Username == "" || len(text) <= len(m.me.Username)+1 || text[0] != '@' {
		return text
	}
	name, rest := text[1:len(m.me.Username)+1], text[len(m.me.Username)+1:]
	if !strings.EqualFold(name, m.me.Username) || !strings.HasPrefix(rest, " ") {
		return text
	}
	return strings.TrimLeft(rest, " ")
}

// addressed returns how a message addresses the bot. It relies on the entities, which the server
// made, and never on what a text looks like.
func (m mapper) addressed(msg *wire.Message, text string, entities []wire.Entity) botkit.Addressing {
	for _, e := range entities {
		if _, us := m.mentions(text, e); us {
			return botkit.AddressedMention
		}
	}
	if m.toBot(msg) {
		return botkit.AddressedReply
	}
	return botkit.AddressedNot
}

// mentions reports whether an entity mentions somebody, and whether that is the bot.
func (m mapper) mentions(text string, e wire.Entity) (somebody, us bool) {
	switch e.Type {
	case models.MessageEntityTypeTextMention:
		return true, e.User != nil && e.User.ID == m.me.ID
	case models.MessageEntityTypeMention:
		name, ok := wire.Slice(text, e.Offset, e.Length)
		return true, ok && m.me.Username != "" && strings.EqualFold(name, "@"+m.me.Username)
	default: // formatting
		return false, false
	}
}

// namesOthers reports whether a message mentions somebody other than the bot.
func (m mapper) namesOthers(text string, entities []wire.Entity) bool {
	return slices.ContainsFunc(entities, func(e wire.Entity) bool {
		somebody, us := m.mentions(text, e)
		return somebody && !us
	})
}

// continues reports whether a message that does not address the bot may continue a recent exchange: it
// looks like a question or a continuation, and addresses nobody else.
func (m mapper) continues(msg *wire.Message, text string, entities []wire.Entity) bool {
	mentioned := slices.ContainsFunc(entities, func(e wire.Entity) bool {
		somebody, _ := m.mentions(text, e)
		return somebody
	})
	return !mentioned && msg.RepliesTo() == "" && looksLikeMore(text)
}

// toBot reports whether a message replies to one of the bot's.
func (m mapper) toBot(msg *wire.Message) bool {
	return msg.RepliesTo() != "" && msg.ReplyTo.From != nil && msg.ReplyTo.From.ID == m.me.ID
}
