package feishu

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxName is the longest name of a person that is passed on, in runes.
const maxName = 128

// mapped is a message as the core takes it, with what the gate needs.
type mapped struct {
	in    platform.Inbound
	facts botkit.Facts
}

// mapper makes inbounds of messages. It is pure but for the random request id.
type mapper struct {
	account  string
	bot      string // open id
	commands map[string]bool
}

func (m mapper) inbound(r received) mapped {
	msg := r.Message
	c := readContent(msg)
	c.text = m.named(c.text, msg.Mentions)
	in := platform.Inbound{
		ChatKey:   messages.NewChatKey("feishu", m.account, msg.Chat, 0),
		IngressID: msg.ID, RequestID: newRequestID(), Kind: platform.KindMessage,
		Chat:      platform.ChatInfo{ID: msg.Chat, Type: tidy(msg.ChatType, maxName), ThreadID: tidy(msg.Thread, maxName)},
		Sender:    platform.Person{ID: r.Sender.ID.OpenID, Name: m.name(r), IsBot: r.Sender.Type != "user"},
		MessageID: msg.ID, Order: orderOf(msg.Created), ReplyTo: msg.Parent, Time: msg.time(), Text: c.text, Parts: c.parts, Forwarded: c.forwarded,
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
	// A command that nobody knows is the host's to answer where it is for this bot. In a
	// group it may be another bot's.
	turned := (f.Private() || f.Addressed != botkit.AddressedNot) && !c.forwarded
	if name, args, ok := parseCommand(c.text); ok && msg.Kind == "text" && (m.commands[name] || turned && !strings.ContainsFunc(name, notInName)) {
		in.Kind, in.Command = platform.KindCommand, platform.Command{Name: name, Args: args}
	}
	return mapped{in: in, facts: f}
}

// takenBack is the withdrawal of a message. It goes to the chat whoever wrote the
// message: nobody is told anything by it.
func (m mapper) takenBack(msg message) platform.Inbound {
	return platform.Inbound{
		ChatKey:   messages.NewChatKey("feishu", m.account, msg.Chat, 0),
		IngressID: messages.TakenBackID(msg.ID), RequestID: newRequestID(), Kind: platform.KindTakenBack, Chat: platform.ChatInfo{ID: msg.Chat},
		MessageID: msg.ID, EditOf: msg.ID, Time: msg.time(), Gate: platform.Gate{Open: true, Reason: "taken_back"},
	}
}

// name is what to call a sender. Events do not tell, unless somebody names themselves.
func (m mapper) name(r received) string {
	for _, x := range r.Message.Mentions {
		if x.ID.OpenID == r.Sender.ID.OpenID && x.ID.OpenID != "" {
			if name := tidy(x.Name, maxName); name != "" {
				return name
			}
		}
	}
	return cmp.Or(tidy(r.Sender.ID.OpenID, maxName), "somebody")
}

// time is when a message was written; unreadable times are now.
func (msg message) time() time.Time {
	ms, err := strconv.ParseInt(msg.Created, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<43 {
		return time.Now().UTC()
	}
	return time.UnixMilli(ms).UTC()
}

// named puts names in the place of the keys of mentions, and nothing in the place
// of the bot's. Who is meant is known by the ids that the service gives, never by
// what a text looks like.
func (m mapper) named(text string, mentions []mention) string {
	if len(mentions) == 0 || text == "" {
		return text
	}
	mentions = slices.Clone(mentions)
	// @_user_1 begins @_user_10 too.
	slices.SortStableFunc(mentions, func(a, b mention) int { return cmp.Compare(len(b.Key), len(a.Key)) })
	var pairs []string
	me := ""
	for _, x := range mentions {
		switch {
		case x.Key == "":
		case m.bot != "" && x.ID.OpenID == m.bot:
			pairs, me = append(pairs, x.Key+" ", "", x.Key, ""), "@"+tidy(x.Name, maxName)
		default:
			pairs = append(pairs, x.Key, "@"+tidy(x.Name, maxName))
		}
	}
	// Who says nothing but the bot's name has said that.
	return cmp.Or(strings.TrimSpace(strings.NewReplacer(pairs...).Replace(text)), me)
}

// parseCommand reads "/name args".
func parseCommand(text string) (name, args string, ok bool) {
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	name = text[1:]
	if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
		name, args = name[:i], strings.TrimSpace(name[i:])
	}
	if name = strings.ToLower(name); name == "stop" {
		args = strings.ToLower(args)
	}
	return name, args, name != "" && len(name) <= 32
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
}

// tidy makes one line of at most n runes of a name that somebody chose.
func tidy(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		s = string(r[:n])
	}
	return s
}

// newRequestID is short and random.
func newRequestID() string { return strings.ToLower(rand.Text()[:12]) }
