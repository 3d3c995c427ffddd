package telegramtest

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Chat is a chat that a fake knows.
type Chat struct {
	ID     int64
	Type   string // private, group, supergroup, channel
	Title  string
	Forum  bool
	Topics []int64
}

// Sent is a message of the bot as people see it.
type Sent struct {
	ID      int64
	Topic   int64
	Text    string // without markup
	Rich    bool   // a rich message
	ReplyTo int64
	Edits   int
	// Buttons are the rows below it, each as text and data, one after the other.
	Buttons [][]string
}

type botChat struct {
	Chat
	optional

	closed *refused // the error when the bot writes
	member string   // the bot's membership as reported by the last update
	admins []Admin
	ids    []int64 // of all messages
	sent   []*Sent
	forms  map[int64]string // by message id, the sent text with its markup
}

func (c *botChat) object() map[string]any {
	o := map[string]any{"id": c.ID, "type": c.Type}
	if c.Type == messages.ChatPrivate {
		o["first_name"] = "Ann"
	} else {
		o["title"] = c.Title
	}
	if c.Forum {
		o["is_forum"] = true
	}
	return o
}

// maxForm is the longest text with its markup, in bytes.
const maxForm = 1 << 15

// readText applies the parse mode and the limits.
func readText(p Params, field string, limit int) (string, *refused) {
	text := p.Text(field)
	switch {
	case text == "" && field == "text":
		return "", badRequest("message text is empty")
	case len(text) > maxForm:
		return "", badRequest("text is too long")
	}
	switch p.Text("parse_mode") {
	case "":
	case "HTML":
		plain, err := ParseHTML(text)
		if err != nil {
			return "", badRequest("can't parse entities: %v", err)
		}
		text = plain
	default:
		return "", badRequest("unsupported parse_mode")
	}
	text = strings.TrimSpace(text)
	long := len(utf16.Encode([]rune(text))) > limit
	switch {
	case showsNothing(text) && field == "text":
		return "", badRequest("text must be non-empty")
	case long && field == "caption":
		return "", badRequest("message caption is too long")
	case long:
		return "", badRequest("message is too long")
	}
	return text, nil
}

// showsNothing reports texts that the service treats as empty.
func showsNothing(text string) bool {
	return strings.Trim(text, " \n\t\r\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f"+
		"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc") == ""
}

// form returns what is compared to detect an edit that changes nothing.
func form(p Params, field string) string {
	return p.Text("parse_mode") + " " + p.Text(field) + p.Text("rich_message")
}

// mine finds a message that the bot may edit.
func (c *botChat) mine(id int64) (*Sent, *refused) {
	for _, m := range c.sent {
		if m.ID == id {
			return m, nil
		}
	}
	if slices.Contains(c.ids, id) {
		return nil, badRequest("message can't be edited")
	}
	return nil, badRequest("message to edit not found")
}

func notModified() *refused {
	return badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
}

// AddChat makes a chat known.
func (a *API) AddChat(c Chat) {
	a.mu.Do(func() { a.chats[c.ID] = &botChat{Chat: c, forms: map[int64]string{}} })
}

// Block prevents the bot from writing into a chat, as when people have blocked or removed it.
func (a *API) Block(chat int64) {
	a.mu.Do(func() {
		a.chats[chat].closed = &refused{code: http.StatusForbidden, text: "Forbidden: bot was blocked by the user"}
	})
}

// Migrate gives a group another id, as when it becomes a supergroup.
func (a *API) Migrate(from, to int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chats[from].closed = &refused{
		code: http.StatusBadRequest, text: "Bad Request: group chat was upgraded to a supergroup chat", moved: to,
	}
}

// Sent returns the bot's messages in a chat, in order.
func (a *API) Sent(chat int64) []Sent {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Sent
	if c := a.chats[chat]; c != nil {
		for _, m := range c.sent {
			out = append(out, *m)
		}
	}
	return out
}

func (a *API) chatFor(p Params) (*botChat, *refused) {
	c := a.chats[p.Int("chat_id")]
	if c == nil {
		return nil, badRequest("chat not found")
	}
	return c, c.closed
}

func (a *API) send(p Params, field string, limit int) (any, *refused) {
	c, no := a.chatFor(p)
	if no != nil {
		return nil, no
	}
	text, no := readText(p, field, limit)
	if no != nil {
		return nil, no
	}
	topic := p.Int("message_thread_id")
	if topic != 0 && !slices.Contains(c.Topics, topic) { // the general topic, 1, is addressed without id
		return nil, badRequest("message thread not found")
	}
	reply := p.object("reply_parameters")
	to := reply.Int("message_id")
	if to != 0 && !slices.Contains(c.ids, to) {
		if reply.Text("allow_sending_without_reply") != "true" {
			return nil, badRequest("message to be replied not found")
		}
		to = 0
	}
	if a.limits != nil {
		if no := a.limits.take(c.ID, c.Type == messages.ChatPrivate); no != nil {
			return nil, no
		}
	}
	buttons, no := readButtons(p)
	if no != nil {
		return nil, no
	}
	m := &Sent{ID: a.newMessageID(c), Topic: topic, Text: text, ReplyTo: to, Buttons: buttons}
	c.sent, c.forms[m.ID] = append(c.sent, m), form(p, field)
	return map[string]any{
		"message_id": m.ID, "date": 1, "chat": c.object(), "text": text,
		"from": map[string]any{"id": BotID, "is_bot": true, "first_name": "Sample"},
	}, nil
}

func (a *API) newMessageID(c *botChat) int64 {
	a.nextMsg++
	c.ids = append(c.ids, a.nextMsg)
	return a.nextMsg
}

func (a *API) edit(p Params) (any, *refused) {
	c, no := a.chatFor(p)
	if no != nil {
		return nil, no
	}
	rich := !a.noRich && p.Text("rich_message") != "" // ignored by servers that do not know it
	text, no := "", (*refused)(nil)
	switch {
	case rich && p.Text("text") != "":
		no = badRequest("exactly one of text and rich_message must be used")
	case rich:
		text, no = readRich(p)
	default:
		text, no = readText(p, "text", 4096)
	}
	if no != nil {
		return nil, no
	}
	if a.limits != nil {
		if no := a.limits.take(c.ID, c.Type == messages.ChatPrivate); no != nil {
			return nil, no
		}
	}
	buttons, no := readButtons(p)
	if no != nil {
		return nil, no
	}
	m, no := c.mine(p.Int("message_id"))
	switch {
	case no != nil:
		return nil, no
	case c.forms[m.ID] == form(p, "text") && slices.EqualFunc(m.Buttons, buttons, slices.Equal):
		return nil, notModified()
	}
	m.Text, m.Rich, m.Buttons, c.forms[m.ID] = text, rich, buttons, form(p, "text") // an edit without buttons removes them
	m.Edits++
	return map[string]any{"message_id": m.ID, "date": 1, "edit_date": 2, "chat": c.object(), "text": text}, nil
}
