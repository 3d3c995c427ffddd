package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
)

// chatMember is a person with a role in a group.
type chatMember struct {
	Status    string    `json:"status"`
	User      wire.User `json:"user"`
	Anonymous bool      `json:"is_anonymous"`
}

// Admins implements [platform.Administered]. It leaves out anonymous administrators: they write as
// the group, so their messages cannot be attributed to them.
func (p *Platform) Admins(ctx context.Context, chat string) ([]string, error) {
	if !strings.HasPrefix(chat, "-") {
		return nil, nil // a private chat has no administrators
	}
	members, err := call[[]chatMember](ctx, p.client, "getChatAdministrators", bot.GetChatAdministratorsParams{ChatID: p.moves.current(chat)})
	if e, ok := errors.AsType[*apiError](err); ok && e.MigrateTo != 0 {
		later := strconv.FormatInt(e.MigrateTo, 10)
		if members, err = call[[]chatMember](ctx, p.client, "getChatAdministrators", bot.GetChatAdministratorsParams{ChatID: later}); err == nil {
			p.moves.learn(chat, later)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("administrators of %s: %w", chat, err)
	}
	var ids []string
	for _, m := range members {
		if (m.Status == "creator" || m.Status == "administrator") && !m.User.IsBot && !m.Anonymous && m.User.ID > 0 {
			ids = append(ids, strconv.FormatInt(m.User.ID, 10))
		}
	}
	return ids, nil
}
