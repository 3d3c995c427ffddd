package wire

import (
	"encoding/json"
	"strconv"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// Quote is the passage of a message that its reply refers to.
type Quote struct {
	Text string `json:"text"`
}

// Slice cuts a substring, given in UTF-16 units, out of a text.
func Slice(s string, offset, length int) (string, bool) {
	if offset < 0 || length <= 0 {
		return "", false
	}
	at, start := 0, -1
	for i, r := range s {
		if at == offset {
			start = i
		}
		if start >= 0 && at == offset+length {
			return s[start:i], true
		}
		at++
		if r > 0xFFFF {
			at++
		}
	}
	if start >= 0 && at == offset+length {
		return s[start:], true
	}
	return "", false
}

// GeneralTopic is the forum topic that must be addressed without its id.
const GeneralTopic = 1

// Topic returns the forum topic of a message. Replies in ordinary supergroups also carry a thread
// id, and the general topic is the chat itself.
func (msg *Message) Topic() int64 {
	if !msg.IsTopic || msg.Thread <= GeneralTopic {
		return 0
	}
	return msg.Thread
}

// RepliesTo returns the message that msg replies to. In a topic every message is formally a reply to
// the message that opened it; that one is ignored.
func (msg *Message) RepliesTo() string {
	r := msg.ReplyTo
	if r == nil || r.ID == 0 || len(r.TopicCreated) > 0 || msg.IsTopic && r.ID == msg.Thread {
		return ""
	}
	return strconv.FormatInt(r.ID, 10)
}

// Elsewhere reports whether a message replies to a story or to a message of another chat or topic.
func (msg *Message) Elsewhere() bool {
	return len(msg.External) > 0 || len(msg.Story) > 0 || msg.Quote != nil && msg.ReplyTo == nil
}

// Sender returns who wrote the message.
func (msg *Message) Sender() platform.Person {
	switch {
	case msg.From != nil:
		return platform.Person{ID: strconv.FormatInt(msg.From.ID, 10), Name: msg.From.Name(), IsBot: msg.From.IsBot}
	case msg.SenderChat != nil:
		return platform.Person{ID: strconv.FormatInt(msg.SenderChat.ID, 10), Name: msg.SenderChat.Name()}
	}
	return platform.Person{ID: strconv.FormatInt(msg.Chat.ID, 10), Name: msg.Chat.Name()}
}

// Name returns the name of a person, for people.
func (u *User) Name() string { return personName(u.FirstName, u.LastName, u.Username, u.ID) }

// Name returns the name of a chat, for people.
func (c *Chat) Name() string {
	if c.Title != "" {
		return botkit.Tidy(c.Title, botkit.MaxName)
	}
	return personName(c.FirstName, c.LastName, c.Username, c.ID)
}

func personName(first, last, username string, id int64) string {
	if full := botkit.Tidy(first+" "+last, botkit.MaxName); full != "" {
		return full
	}
	if username != "" {
		return "@" + botkit.Tidy(username, botkit.MaxName)
	}
	return strconv.FormatInt(id, 10)
}

// User is a person or a bot.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
	Language  string `json:"language_code"`
}

// Chat is a chat, or a chat in whose name somebody writes.
type Chat struct {
	ID        int64           `json:"id"`
	Type      models.ChatType `json:"type"`
	Title     string          `json:"title"`
	FirstName string          `json:"first_name"`
	LastName  string          `json:"last_name"`
	Username  string          `json:"username"`
}

// Entity marks a range of a text, in UTF-16 units.
type Entity struct {
	Type   models.MessageEntityType `json:"type"`
	Offset int                      `json:"offset"`
	Length int                      `json:"length"`
	User   *User                    `json:"user"`
}

// Replied is the message that another one replies to.
type Replied struct {
	ID           int64           `json:"message_id"`
	From         *User           `json:"from"`
	SenderChat   *Chat           `json:"sender_chat"`
	Text         string          `json:"text"`
	Caption      string          `json:"caption"`
	Rich         RichWords       `json:"rich_message"`
	TopicCreated json.RawMessage `json:"forum_topic_created,omitempty"`
	// ForwardOrigin indicates that the text is not the sender's own.
	ForwardOrigin json.RawMessage `json:"forward_origin,omitempty"`
	Media
}

// Message is a message.
type Message struct {
	ID         int64    `json:"message_id"`
	Date       int64    `json:"date"`
	EditDate   int64    `json:"edit_date"`
	Chat       Chat     `json:"chat"`
	From       *User    `json:"from"`
	SenderChat *Chat    `json:"sender_chat"`
	Thread     int64    `json:"message_thread_id"`
	IsTopic    bool     `json:"is_topic_message"`
	ReplyTo    *Replied `json:"reply_to_message"`
	Quote      *Quote   `json:"quote"`
	// External and Story are set for a reply to something outside this chat.
	External        json.RawMessage `json:"external_reply,omitempty"`
	Story           json.RawMessage `json:"reply_to_story,omitempty"`
	Text            string          `json:"text"`
	Entities        []Entity        `json:"entities"`
	Caption         string          `json:"caption"`
	CaptionEntities []Entity        `json:"caption_entities"`
	// Rich is the text of a message that has neither text nor caption.
	Rich RichWords `json:"rich_message"`
	// ForwardOrigin and ViaBot indicate that the text is not the sender's own.
	ForwardOrigin json.RawMessage `json:"forward_origin,omitempty"` // empty, not null, when it is encoded
	ViaBot        *User           `json:"via_bot"`
	// MigrateTo and MigrateFrom report that a group became a supergroup, in the old and the new
	// chat.
	MigrateTo   int64 `json:"migrate_to_chat_id"`
	MigrateFrom int64 `json:"migrate_from_chat_id"`
	// Group is the id that the messages of an album share.
	Group string `json:"media_group_id"`
	Media
}
