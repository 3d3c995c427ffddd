package access

import (
	"context"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// maxPrivate is how many private chats of an account are kept, the latest ones. If more people write, almost every message
// is of an unknown chat and causes a write of the file, so there is room for as many chats as a host has at once.
const maxPrivate = 10_000

// PrivateChat is a person's private chat with the bot.
type PrivateChat struct {
	Person string    `json:"person"`
	Name   string    `json:"name,omitempty"`
	Chat   string    `json:"chat"` // the platform's id
	At     time.Time `json:"at,omitzero"`
}

// NotePrivate records a person's private chat with the bot, and their name. It writes nothing if
// both are already known.
func (s *Store) NotePrivate(ctx context.Context, bot string, who platform.Person, chat string) error {
	if who.ID == "" || chat == "" {
		return nil
	}
	if known, ok := s.Private(bot, who.ID); ok && known.Chat == chat && (who.Name == "" || known.Name == who.Name) {
		return nil
	}
	return s.change(ctx, bot, func(a *Account) error {
		a.Private = slices.DeleteFunc(a.Private, func(p PrivateChat) bool { return p.Person == who.ID })
		a.Private = append(a.Private, PrivateChat{Person: who.ID, Name: who.Name, Chat: chat, At: s.now().UTC()})
		if n := len(a.Private); n > maxPrivate {
			a.Private = slices.Clone(a.Private[n-maxPrivate:])
		}
		return nil
	})
}

// Private returns a person's private chat with the bot, if it is known.
func (s *Store) Private(bot, person string) (chat PrivateChat, ok bool) {
	s.view(bot, func(a *Account) {
		for _, p := range a.Private {
			if p.Person == person && person != "" {
				chat, ok = p, true
			}
		}
	})
	return chat, ok
}
