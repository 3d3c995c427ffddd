package telegramtest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// reactionEmojis are those that bots may react with.
const reactionEmojis = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 " +
	"🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"

// optional are the drafts and reactions of a chat.
type optional struct {
	reactions   map[int64]string // of the bot, by message
	noReactions bool
	noDrafts    bool
	drafts      []Draft
}

// Draft is an unfinished text as people saw it.
type Draft struct {
	ID    int64
	Topic int64
	Text  string // without markup
}

// unknownOf finds a parameter that a method does not have. The service ignores such parameters, but the fake refuses them.
func unknownOf(p Params, known ...string) *refused {
	for name := range p {
		if !slices.Contains(known, name) {
			return badRequest("unknown parameter %s", name)
		}
	}
	return nil
}

// ForbidReactions makes a chat refuse reactions, as its administrators can.
func (a *API) ForbidReactions(chat int64) { a.mu.Do(func() { a.chats[chat].noReactions = true }) }

// ForbidDrafts makes a private chat refuse drafts, as with a bot that may not send any.
func (a *API) ForbidDrafts(chat int64) { a.mu.Do(func() { a.chats[chat].noDrafts = true }) }

// Reaction is the bot's reaction to a message, or empty.
func (a *API) Reaction(chat, message int64) string {
	return faketest.Get(&a.mu, func() string { return a.chats[chat].reactions[message] })
}

// Drafts are the unfinished texts that were shown in a chat, in order.
func (a *API) Drafts(chat int64) []Draft {
	return faketest.Get(&a.mu, func() []Draft { return slices.Clone(a.chats[chat].drafts) })
}

// react is called with the lock held.
func (a *API) react(p Params) (any, *refused) {
	c, no := a.chatFor(p)
	if no != nil {
		return nil, no
	}
	if no := unknownOf(p, "chat_id", "message_id", "reaction", "is_big"); no != nil {
		return nil, no
	}
	var list []struct{ Type, Emoji string }
	if raw := p.Text("reaction"); raw != "" && json.Unmarshal([]byte(raw), &list) != nil {
		return nil, badRequest("can't parse reaction types JSON object")
	}
	switch {
	case !slices.Contains(c.ids, p.Int("message_id")):
		return nil, badRequest("message to react not found")
	case len(list) > 1:
		return nil, badRequest("REACTIONS_TOO_MANY")
	case len(list) == 1 && (list[0].Type != "emoji" || c.noReactions || !slices.Contains(strings.Fields(reactionEmojis), list[0].Emoji)):
		return nil, badRequest("REACTION_INVALID")
	}
	if c.reactions == nil {
		c.reactions = map[int64]string{}
	}
	delete(c.reactions, p.Int("message_id"))
	if len(list) == 1 {
		c.reactions[p.Int("message_id")] = list[0].Emoji
	}
	return true, nil
}

// draft is called with the lock held.
func (a *API) draft(p Params) (any, *refused) {
	c, no := a.chatFor(p)
	if no != nil {
		return nil, no
	}
	if no := unknownOf(p, "chat_id", "message_thread_id", "draft_id", "text", "parse_mode", "entities"); no != nil {
		return nil, no
	}
	text := p.Text("text")
	if p.Text("parse_mode") != "" {
		if text, no = readText(p, "text", 4096); no != nil {
			return nil, no
		}
	}
	topic := p.Int("message_thread_id")
	switch {
	case c.Type != messages.ChatPrivate || c.noDrafts:
		return nil, badRequest("TEXTDRAFT_PEER_INVALID")
	case p.Int("draft_id") == 0:
		return nil, badRequest("RANDOM_ID_INVALID")
	case topic != 0 && !slices.Contains(c.Topics, topic):
		return nil, badRequest("message thread not found")
	case len(utf16.Encode([]rune(text))) > 4096:
		return nil, badRequest("message is too long")
	}
	c.drafts = append(c.drafts, Draft{ID: p.Int("draft_id"), Topic: topic, Text: text})
	return true, nil
}
