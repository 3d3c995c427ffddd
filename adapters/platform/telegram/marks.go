package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// reaction of setMessageReaction.
type reaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

// reactionParams of setMessageReaction. No reactions take the bot's own away.
type reactionParams struct {
	Chat      json.RawMessage `json:"chat_id"`
	Message   int64           `json:"message_id"`
	Reactions []reaction      `json:"reaction"`
}

// reactionsOf are the reactions that show a mark, of those that the service allows.
func reactionsOf(m messages.Mark) []reaction {
	switch m {
	case messages.MarkSeen:
		return []reaction{{"emoji", "👀"}}
	case messages.MarkMerged:
		return []reaction{{"emoji", "✍"}}
	case messages.MarkNone:
	}
	return []reaction{}
}

// Mark implements [platform.Marker] by reactions. Chats that refuse them are left
// alone for a while.
func (p *Platform) Mark(ctx context.Context, to platform.Target, messageID string, mark messages.Mark) error {
	if !p.opts.Reactions {
		return nil
	}
	out, err := p.address(to)
	if err != nil {
		return err
	}
	chat := string(out.Chat)
	message, err := strconv.ParseInt(messageID, 10, 64)
	if err != nil || p.noMarks.holds(chat) || p.pauses.check(chat) != nil {
		return nil //nolint:nilerr // a mark that cannot be is none
	}
	_, err = call[bool](ctx, p.client, "setMessageReaction", reactionParams{Chat: out.Chat, Message: message, Reactions: reactionsOf(mark)})
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok && !isMessageGone(e) && p.noMarks.learn(chat, e) {
		p.log.Info("reactions are not wanted here; none are tried for a day", "chat", chat, "error", err)
	}
	return sendError(err)
}

// isMessageGone: somebody deleted it, which says nothing of its chat.
func isMessageGone(e *apiError) bool {
	return says(e, "message to react not found", "message not found", "message_id_invalid")
}
