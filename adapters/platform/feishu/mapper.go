package feishu

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// mapped is a message as an inbound, with the facts for the gate.
type mapped struct {
	in    platform.Inbound
	facts botkit.Facts
}

// mapper turns messages into inbounds. It is pure except for the random request id.
type mapper struct {
	account  string
	bot      string // open id
	commands []string
}

func (m mapper) inbound(r received) mapped {
	msg := r.Message
	c := readContent(msg)
	c.text = m.named(c.text, msg.Mentions)
	in := platform.Inbound{
		ChatKey:   messages.NewChatKey("feishu", m.account, msg.Chat, 0),
		IngressID: msg.ID, RequestID: botkit.RequestID(), Kind: platform.KindMessage,
		Chat:      platform.ChatInfo{ID: msg.Chat, Type: botkit.Tidy(msg.ChatType, botkit.MaxName), ThreadID: botkit.Tidy(msg.Thread, botkit.MaxName)},
		Sender:    platform.Person{ID: r.Sender.ID.OpenID, Name: m.name(r), IsBot: r.Sender.Type != "user"},
		MessageID: msg.ID, Order: orderOf(msg.Created), ReplyTo: msg.repliesTo(), ToBot: msg.ToUs != nil && *msg.ToUs,
		Time: msg.time(), Text: c.text, Parts: c.parts, Forwarded: c.forwarded,
	}
	f := botkit.Facts{ChatType: chatType(msg.ChatType), Bot: in.Sender.IsBot || r.Sender.ID.OpenID == "" || r.Sender.ID.OpenID == m.bot}
	if c.text == "" && len(c.parts) == 0 {
		f.Content = botkit.ContentService
	}
	f.Named = slices.ContainsFunc(msg.Mentions, func(x mention) bool { return m.bot == "" || x.ID.OpenID != m.bot })
	switch {
	case slices.ContainsFunc(msg.Mentions, func(x mention) bool { return m.bot != "" && x.ID.OpenID == m.bot }):
		f.Addressed = botkit.AddressedMention
	case msg.ToUs != nil && *msg.ToUs:
		f.Addressed = botkit.AddressedReply
	}
	// The host answers an unknown command if it is addressed to this bot. In a group it may be
	// meant for another bot.
	turned := (f.Private() || f.Addressed != botkit.AddressedNot) && !c.forwarded
	if name, bot, args, ok := botkit.ParseCommand(c.text); ok && bot == "" && msg.Kind == "text" && (slices.Contains(m.commands, name) || turned) {
		in.Kind, in.Command = platform.KindCommand, platform.Command{Name: name, Args: args}
	}
	return mapped{in: in, facts: f}
}

// recalled maps the recall of a message. It goes to the chat whoever wrote the message, because it
// does not reveal anything new.
func (m mapper) recalled(msg message) platform.Inbound {
	return platform.Inbound{
		ChatKey:   messages.NewChatKey("feishu", m.account, msg.Chat, 0),
		IngressID: messages.RecallID(msg.ID), RequestID: botkit.RequestID(), Kind: platform.KindRecalled, Chat: platform.ChatInfo{ID: msg.Chat},
		MessageID: msg.ID, EditOf: msg.ID, Time: msg.time(), Gate: platform.Gate{Open: true, Reason: "taken_back"},
	}
}

// name returns a sender's name: the one that the service gave, the one in a mention if people mention
// themselves, or the id.
func (m mapper) name(r received) string {
	if name := botkit.Tidy(r.Sender.Name, botkit.MaxName); name != "" {
		return name
	}
	for _, x := range r.Message.Mentions {
		if x.ID.OpenID == r.Sender.ID.OpenID && x.ID.OpenID != "" {
			if name := botkit.Tidy(x.Name, botkit.MaxName); name != "" {
				return name
			}
		}
	}
	return cmp.Or(botkit.Tidy(r.Sender.ID.OpenID, botkit.MaxName), "somebody")
}

// repliesTo returns the message that msg replies to. In a topic a message that replies to nothing is still a reply
// to the one that opened the topic, so such a reply says nothing about what the message means.
func (msg message) repliesTo() string {
	if msg.Thread != "" && (msg.Root == "" || msg.Parent == msg.Root) {
		return ""
	}
	return msg.Parent
}

// time returns when a message was written, or now if that cannot be parsed.
func (msg message) time() time.Time {
	ms, err := strconv.ParseInt(msg.Created, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<43 {
		return time.Now().UTC()
	}
	return time.UnixMilli(ms).UTC()
}

// named replaces the keys of mentions by names, and those of the bot by nothing. It relies on the
// ids that the service provides, never on what a text looks like.
func (m mapper) named(text string, mentions []mention) string {
	if len(mentions) == 0 || text == "" {
		return text
	}
	mentions = slices.Clone(mentions)
	// @_user_1 is a prefix of @_user_10.
	sort.SliceStable(mentions, func(i, j int) bool { return len(mentions[i].Key) > len(mentions[j].Key) })
	var pairs []string
	me := ""
	for _, x := range mentions {
		switch {
		case x.Key == "":
		case m.bot != "" && x.ID.OpenID == m.bot:
			pairs, me = append(pairs, x.Key+" ", "", x.Key, ""), "@"+botkit.Tidy(x.Name, botkit.MaxName)
		default:
			pairs = append(pairs, x.Key, "@"+botkit.Tidy(x.Name, botkit.MaxName))
		}
	}
	// A message that consists only of the bot's name keeps it.
	return cmp.Or(strings.TrimSpace(strings.NewReplacer(pairs...).Replace(text)), me)
}
