package messages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxChatKey is the longest chat key in bytes.
const MaxChatKey = 1024

// ErrChatKey is wrapped by every error of [ParseChatKey].
var ErrChatKey = errors.New("bad chat key")

// ChatKey is the address of one chat, for example
//
//	telegram-chat-42            a private chat or a group
//	telegram-chat--100123-topic-7   a forum topic
//	telegram@work-chat-42       the same on a second account
//	web-chat-x, cli-chat-x, api-chat-x, feishu-chat-x
//	task-daily-20260102T0900    one fire of a scheduled task
//
// It is chosen once by the platform that received a message and never changes.
type ChatKey string

// ParseChatKey accepts any non-empty valid UTF-8 of at most [MaxChatKey] bytes
// without NUL. Stores can hold every key that it accepts.
func ParseChatKey(s string) (ChatKey, error) {
	switch {
	case s == "":
		return "", fmt.Errorf("%w: empty", ErrChatKey)
	case len(s) > MaxChatKey:
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrChatKey, len(s), MaxChatKey)
	case !utf8.ValidString(s):
		return "", fmt.Errorf("%w: not UTF-8", ErrChatKey)
	case strings.ContainsRune(s, 0):
		return "", fmt.Errorf("%w: holds NUL", ErrChatKey)
	}
	return ChatKey(s), nil
}

// NewChatKey builds the key of a chat on a platform. An empty account is the platform's only one;
// topic 0 means no topic.
func NewChatKey(platform, account, chat string, topic int64) ChatKey {
	head := platform
	if account != "" {
		head += "@" + account
	}
	key := head + "-chat-" + chat
	if topic > 0 {
		key += "-topic-" + strconv.FormatInt(topic, 10)
	}
	return ChatKey(key)
}

// Address is a parsed chat key.
type Address struct {
	Platform string // telegram, feishu, web, cli, api, task
	Account  string // empty for the platform's only account
	Chat     string // the platform's own id of the chat
	Topic    int64  // 0 if the chat has no topic
}

// Address parses the key; ok is false for a key of another form.
func (k ChatKey) Address() (a Address, ok bool) {
	s := string(k)
	if rest, found := strings.CutPrefix(s, "task-"); found {
		return Address{Platform: "task", Chat: rest}, rest != ""
	}
	head, chat, found := strings.Cut(s, "-chat-")
	if !found || head == "" || chat == "" {
		return Address{}, false
	}
	a.Platform, a.Account, _ = strings.Cut(head, "@")
	a.Chat = chat
	if i := strings.LastIndex(chat, "-topic-"); i > 0 {
		if n, err := strconv.ParseInt(chat[i+len("-topic-"):], 10, 64); err == nil && n > 0 {
			a.Chat, a.Topic = chat[:i], n
		}
	}
	return a, true
}

// The types of chats, in the platforms' own words. Platforms may have others, whose chats are no groups.
const (
	ChatPrivate    = "private"     // with one person
	ChatP2P        = "p2p"         // with one person, on Feishu
	ChatGroup      = "group"       // with several people
	ChatSupergroup = "supergroup"  // a large group of Telegram
	ChatTopicGroup = "topic_group" // a group of Feishu in which every message belongs to a topic
	ChatChannel    = "channel"     // of Telegram, with posts for many readers
)

// IsPrivate reports whether a chat of a type is with one person.
func IsPrivate(chatType string) bool { return chatType == ChatPrivate || chatType == ChatP2P }

// IsGroup reports whether several people may write in a chat, by its type and by the platform's id of it. While the
// type is unknown, a negative id counts as that of a group, as it is one on Telegram.
func IsGroup(chatType, chat string) bool {
	switch chatType {
	case ChatGroup, ChatSupergroup, ChatTopicGroup, ChatChannel:
		return true
	case "":
		return strings.HasPrefix(chat, "-")
	default:
		return false
	}
}

// IsAlone reports whether a chat is certainly with one person. While its type is unknown, only an id that is a number
// tells, as on Telegram.
func IsAlone(chatType, chat string) bool {
	if chatType == "" {
		n, err := strconv.ParseInt(chat, 10, 64)
		return err == nil && n > 0
	}
	return !IsGroup(chatType, chat)
}

// PersonKey names a person on a platform, independent of the account they write to; it is empty
// without an id.
func PersonKey(platform, id string) string {
	if id == "" {
		return ""
	}
	kind, _, _ := strings.Cut(platform, "@")
	return kind + "-" + id
}
