package telegram

import (
	"encoding/json"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
)

// update holds the fields of an update that we use; decoding more would cost time for every
// message.
type update struct {
	ID            int64         `json:"update_id"`
	Message       *wire.Message `json:"message"`
	Edited        *wire.Message `json:"edited_message"`
	ChannelPost   *wire.Message `json:"channel_post"`
	EditedChannel *wire.Message `json:"edited_channel_post"`
	// Callback is a press on a button. It is never stored: people who get no answer press again.
	Callback *callback `json:"callback_query,omitempty"`
	// Mine reports a change of the bot's own status in a chat.
	Mine *membership `json:"my_chat_member,omitempty"`
}

// pollParams are the parameters of getUpdates.
type pollParams struct {
	Offset  int64    `json:"offset,omitempty"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"`
	Allowed []string `json:"allowed_updates"`
}

// allowedUpdates lists the kinds of updates that the mapper handles.
func allowedUpdates() []string {
	return []string{models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateChannelPost, models.AllowedUpdateEditedChannelPost, models.AllowedUpdateCallbackQuery, models.AllowedUpdateMyChatMember}
}

// decodeUpdates decodes a batch. Updates that cannot be decoded are left out and their ids returned
// in bad, with 0 for an unreadable id.
func decodeUpdates(raw json.RawMessage) (good []update, bad []int64, err error) {
	if err = json.Unmarshal(raw, &good); err == nil {
		return good, nil, nil
	}
	good = nil
	var each []json.RawMessage
	if err = json.Unmarshal(raw, &each); err != nil {
		return nil, nil, err
	}
	for _, one := range each {
		var u update
		if json.Unmarshal(one, &u) == nil {
			good = append(good, u)
			continue
		}
		var id struct {
			ID int64 `json:"update_id"`
		}
		_ = json.Unmarshal(one, &id) // if undecodable, id stays 0
		bad = append(bad, id.ID)
	}
	return good, bad, nil
}
