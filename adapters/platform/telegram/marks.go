package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// reaction is a reaction in setMessageReaction.
type reaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

// reactionParams are the parameters of setMessageReaction. An empty list removes the bot's own.
type reactionParams struct {
	Chat      json.RawMessage `json:"chat_id"`
	Message   int64           `json:"message_id"`
	Reactions []reaction      `json:"reaction"`
}

// reactionsOf returns the reactions for a mark, from those that the service allows.
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

// Mark implements [platform.Marker] with reactions. Chats that refuse them are not tried for a
// while.
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
	if e, ok := errors.AsType[*apiError](err); ok && !isMessageGone(e) && p.noMarks.learn(chat, e) {
		p.log.Info("reactions are not allowed here; none are tried for a day", "chat", chat, "error", err)
	}
	return sendError(err)
}

// isMessageGone reports that the message was deleted, which says nothing about its chat.
func isMessageGone(e *apiError) bool {
	return says(e, "message to react not found", "message not found", "message_id_invalid")
}
