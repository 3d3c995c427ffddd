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
)

// membership is what an update of the kind my_chat_member contains.
type membership struct {
	Chat chat   `json:"chat"`
	From *user  `json:"from"`
	Date int64  `json:"date"`
	Old  member `json:"old_chat_member"`
	New  member `json:"new_chat_member"`
}

// member is what the bot is in a chat.
type member struct {
	Status models.ChatMemberType `json:"status"`
	// Is counts for somebody restricted alone.
	Is bool `json:"is_member"`
}

// in: it gets messages there.
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

// membershipOf is what an update means for who is let in; false: nothing. Who has the bot in
// a group may give it other rights as often as they like.
func (p *Platform) membershipOf(m membership) (botkit.Membership, bool) {
	group := m.Chat.Type == models.ChatTypeGroup || m.Chat.Type == models.ChatTypeSupergroup
	if !group || m.Chat.ID == 0 || m.Old.in() == m.New.in() {
		return botkit.Membership{}, false
	}
	wire := strconv.FormatInt(m.Chat.ID, 10)
	if !m.New.in() && p.moves.current(wire) != wire {
		return botkit.Membership{}, false // it became a supergroup, which the bot is in
	}
	out := botkit.Membership{
		Group: platform.ChatInfo{ID: p.moves.origin(wire), Type: string(m.Chat.Type), Title: m.Chat.name()},
		In:    m.New.in(), At: time.Unix(m.Date, 0),
	}
	if m.From != nil {
		out.By = platform.Person{ID: strconv.FormatInt(m.From.ID, 10), Name: m.From.name(), IsBot: m.From.IsBot}
	}
	return out, true
}

// member takes up that the bot was added to a group or taken out of it. What cannot be kept
// is made up for when somebody addresses the bot there.
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
		p.log.Warn("that the bot was added to a group or taken out of it could not be kept", "chat", m.Group.ID, "in", m.In, "error", err)
	}
}

// settle puts the outcome of a question to the owner in the place of its buttons.
func (p *Platform) settle(ctx context.Context, q botkit.Question) error {
	chat, err := strconv.ParseInt(q.Chat, 10, 64)
	id, idErr := strconv.ParseInt(q.Message, 10, 64)
	if err := errors.Join(err, idErr); err != nil {
		return &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	return p.setKeyboard(ctx, json.RawMessage(strconv.FormatInt(chat, 10)), id, keyboard{Rows: [][]button{{{q.Outcome, pressNothing}}}})
}

// beside runs in the background what takes longer than updates may wait. It ends with the receiver.
func (p *Platform) beside(do func(ctx context.Context)) {
	p.pressing.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				p.log.Error("a question to the owner made the platform panic and is left as it is", "panic", v)
			}
		}()
		do(*p.life.Load())
	})
}
