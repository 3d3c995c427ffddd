package telegram

import (
	"encoding/json"

	"github.com/go-telegram/bot/models"
)

// identity is the bot's own account.
type identity struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	// ReadsAll: privacy mode is off, so the bot gets all messages of its groups, not only of those
	// that it administers.
	ReadsAll bool `json:"can_read_all_group_messages"`
}

// update holds the fields of an update that we use; decoding more would cost time for every
// message.
type update struct {
	ID            int64    `json:"update_id"`
	Message       *message `json:"message"`
	Edited        *message `json:"edited_message"`
	ChannelPost   *message `json:"channel_post"`
	EditedChannel *message `json:"edited_channel_post"`
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

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
	Language  string `json:"language_code"`
}

type chat struct {
	ID        int64           `json:"id"`
	Type      models.ChatType `json:"type"`
	Title     string          `json:"title"`
	FirstName string          `json:"first_name"`
	LastName  string          `json:"last_name"`
	Username  string          `json:"username"`
}

// entity marks a range of a text, in UTF-16 units.
type entity struct {
	Type   models.MessageEntityType `json:"type"`
	Offset int                      `json:"offset"`
	Length int                      `json:"length"`
	User   *user                    `json:"user"`
}

// replied is the message that another one replies to.
type replied struct {
	ID           int64           `json:"message_id"`
	From         *user           `json:"from"`
	SenderChat   *chat           `json:"sender_chat"`
	Text         string          `json:"text"`
	Caption      string          `json:"caption"`
	Rich         richWords       `json:"rich_message"`
	TopicCreated json.RawMessage `json:"forum_topic_created,omitempty"`
	media
}

type message struct {
	ID         int64    `json:"message_id"`
	Date       int64    `json:"date"`
	EditDate   int64    `json:"edit_date"`
	Chat       chat     `json:"chat"`
	From       *user    `json:"from"`
	SenderChat *chat    `json:"sender_chat"`
	Thread     int64    `json:"message_thread_id"`
	IsTopic    bool     `json:"is_topic_message"`
	ReplyTo    *replied `json:"reply_to_message"`
	Quote      *quote   `json:"quote"`
	// External and Story are set for a reply to something outside this chat.
	External        json.RawMessage `json:"external_reply,omitempty"`
	Story           json.RawMessage `json:"reply_to_story,omitempty"`
	Text            string          `json:"text"`
	Entities        []entity        `json:"entities"`
	Caption         string          `json:"caption"`
	CaptionEntities []entity        `json:"caption_entities"`
	// Rich is the text of a message that has neither text nor caption.
	Rich richWords `json:"rich_message"`
	// ForwardOrigin and ViaBot indicate that the text is not the sender's own.
	ForwardOrigin json.RawMessage `json:"forward_origin,omitempty"` // empty, not null, when it is encoded
	ViaBot        *user           `json:"via_bot"`
	// MigrateTo and MigrateFrom report that a group became a supergroup, in the old and the new
	// chat.
	MigrateTo   int64 `json:"migrate_to_chat_id"`
	MigrateFrom int64 `json:"migrate_from_chat_id"`
	// Group is the id that the messages of an album share.
	Group string `json:"media_group_id"`
	media
}

// file has the fields that photos, documents, voices and similar files share.
type file struct {
	ID       string `json:"file_id"`
	Unique   string `json:"file_unique_id"`
	Name     string `json:"file_name"`
	Mime     string `json:"mime_type"`
	Size     int64  `json:"file_size"`
	Duration int    `json:"duration"`
	Title    string `json:"title"`
	Emoji    string `json:"emoji"`
	// Animated and Moving stickers are not pictures; their Thumbnail is.
	Animated  bool  `json:"is_animated"`
	Moving    bool  `json:"is_video"`
	Thumbnail *file `json:"thumbnail"`
}

type media struct {
	Photo     []file `json:"photo"`
	Document  *file  `json:"document"`
	Voice     *file  `json:"voice"`
	Audio     *file  `json:"audio"`
	Video     *file  `json:"video"`
	VideoNote *file  `json:"video_note"`
	Animation *file  `json:"animation"`
	Sticker   *file  `json:"sticker"`
	Contact   *struct {
		Phone     string `json:"phone_number"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
	} `json:"contact"`
	Location *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Live      int     `json:"live_period"`
	} `json:"location"`
	Venue *struct {
		Title   string `json:"title"`
		Address string `json:"address"`
	} `json:"venue"`
	Poll *struct {
		Question string `json:"question"`
	} `json:"poll"`
	Dice *struct {
		Emoji string `json:"emoji"`
		Value int    `json:"value"`
	} `json:"dice"`
	Checklist *struct {
		Title string `json:"title"`
		Tasks []struct {
			Text string `json:"text"`
		} `json:"tasks"`
	} `json:"checklist"`
	Game *struct {
		Title string `json:"title"`
	} `json:"game"`
	Invoice *struct {
		Title string `json:"title"`
	} `json:"invoice"`
	PaidMedia json.RawMessage `json:"paid_media,omitempty"`
	Giveaway  json.RawMessage `json:"giveaway,omitempty"`
	Story     json.RawMessage `json:"story,omitempty"` // empty, not null, when it is encoded
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
