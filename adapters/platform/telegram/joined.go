package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
)

// membership is the content of a my_chat_member update.
type membership struct {
	Chat wire.Chat  `json:"chat"`
	From *wire.User `json:"from"`
	Date int64      `json:"date"`
	Old  member     `json:"old_chat_member"`
	New  member     `json:"new_chat_member"`
}

// member is the bot's status in a chat.
type member struct {
	Status models.ChatMemberType `json:"status"`
	// Is is meaningful only for restricted members.
	Is bool `json:"is_member"`
}

// in reports whether the bot receives messages there.
func (m member) in() bool {
	switch m.Status {
	case models.ChatMemberTypeOwner, models.ChatMemberTypeAdministrator, models.ChatMemberTypeMember:
		return true
	case models.ChatMemberTypeRestricted:
		return m.Is
	case models.ChatMemberTypeLeft, models.ChatMemberTypeBanned:
	}
	return false
}

// membershipOf returns what an update means for access; ok is false if it means nothing. People in
// a group may change the bot's rights as often as they like.
func (p *Platform) membershipOf(m membership) (botkit.Membership, bool) {
	group := m.Chat.Type == models.ChatTypeGroup || m.Chat.Type == models.ChatTypeSupergroup
	if !group || m.Chat.ID == 0 || m.Old.in() == m.New.in() {
		return botkit.Membership{}, false
	}
	wire := strconv.FormatInt(m.Chat.ID, 10)
	if !m.New.in() && p.moves.current(wire) != wire {
		return botkit.Membership{}, false // the group became a supergroup, and the bot is in that
	}
	out := botkit.Membership{
		Group: platform.ChatInfo{ID: p.moves.origin(wire), Type: string(m.Chat.Type), Title: m.Chat.Name()},
		In:    m.New.in(), At: time.Unix(m.Date, 0),
	}
	if m.From != nil {
		out.By = platform.Person{ID: strconv.FormatInt(m.From.ID, 10), Name: m.From.Name(), IsBot: m.From.IsBot}
	}
	return out, true
}

// member handles that the bot was added to or removed from a group. If it cannot be recorded, the
// owner is asked when somebody addresses the bot there.
func (p *Platform) member(ctx context.Context, u update) {
	defer func() {
		if v := recover(); v != nil {
			p.metrics.unread.Inc()
			p.log.Error("an update about a group made the platform panic and is skipped", "update_id", u.ID, "panic", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
		}
	}()
	m, ok := p.membershipOf(*u.Mine)
	if !ok {
		return
	}
	if err := p.admission.Joined(ctx, m); err != nil {
		p.log.Warn("it could not be stored that the bot was added to a group or removed from it", "chat", m.Group.ID, "in", m.In, "error", err)
	}
}

// settle replaces the buttons of a question to the owner by the outcome.
func (p *Platform) settle(ctx context.Context, q botkit.Question) error {
	chat, err := strconv.ParseInt(q.Chat, 10, 64)
	id, idErr := strconv.ParseInt(q.Message, 10, 64)
	if err := errors.Join(err, idErr); err != nil {
		return &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	return p.setKeyboard(ctx, json.RawMessage(strconv.FormatInt(chat, 10)), id, onlyButton(q.Outcome))
}
