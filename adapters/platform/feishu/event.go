package feishu

import (
	"encoding/json"
	"errors"
)

// The kinds of events that we handle; others are answered and ignored.
const (
	eventMessage = "im.message.receive_v1"
	eventRecall  = "im.message.recalled_v1"
	eventPress   = "card.action.trigger"
	// The bot was added to a group, was removed from it, and the group was dissolved.
	eventAdded     = "im.chat.member.bot.added_v1"
	eventDeleted   = "im.chat.member.bot.deleted_v1"
	eventDisbanded = "im.chat.disbanded_v1"
)

// errEvent is an event that cannot be decoded. It is answered, because a redelivery would fail as
// well.
var errEvent = errors.New("the event cannot be read")

// envelope is what the service delivers, decrypted.
type envelope struct {
	Schema string `json:"schema"`
	Header struct {
		ID    string `json:"event_id"`
		Kind  string `json:"event_type"`
		Token string `json:"token"`
		App   string `json:"app_id"`
		// Created is when the event was made, in milliseconds.
		Created string `json:"create_time"`
	} `json:"header"`
	Event json.RawMessage `json:"event"`

	// Fields of the request that verifies our URL.
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	Token     string `json:"token"`
}

// person identifies a user to this app.
type person struct {
	OpenID string `json:"open_id"`
}

// received is the event of a message. It has the fields that we use, and is also the stored form of
// a message that is set aside.
type received struct {
	Sender struct {
		ID   person `json:"sender_id"`
		Type string `json:"sender_type"`
		// Name is requested from the service; events do not contain it.
		Name string `json:"name,omitempty"`
	} `json:"sender"`
	Message message `json:"message"`
}

type message struct {
	ID       string    `json:"message_id"`
	Parent   string    `json:"parent_id,omitempty"`
	Root     string    `json:"root_id,omitempty"`
	Created  string    `json:"create_time"` // in milliseconds
	Chat     string    `json:"chat_id"`
	Thread   string    `json:"thread_id,omitempty"`
	ChatType string    `json:"chat_type"`
	Kind     string    `json:"message_type"`
	Content  string    `json:"content"` // JSON, by kind
	Mentions []mention `json:"mentions,omitempty"`
	found
}

// found is what an event does not contain: the platform determines and stores it.
type found struct {
	// ToUs: the message replies to one of ours.
	ToUs *bool `json:"to_us,omitempty"`
	// Recalled is set if the message was recalled; nothing else of it is known.
	Recalled bool `json:"taken_back,omitempty"`
	// Forwards are the forwarded messages that it contains.
	Forwards []forward `json:"forwards,omitempty"`
}

// mention is a person whom a text mentions by a key.
type mention struct {
	Key  string `json:"key"`
	ID   person `json:"id"`
	Name string `json:"name"`
}

// membership is the event that the bot was added to a group, or removed from it.
type membership struct {
	Chat     string `json:"chat_id"`
	Name     string `json:"name"`
	Operator person `json:"operator_id"`
}

// decodeMembership decodes such an event; one without the id of a chat is an error.
func decodeMembership(raw []byte) (membership, error) {
	var m membership
	if json.Unmarshal(raw, &m) != nil || m.Chat == "" || len(m.Chat) > maxID || len(m.Operator.OpenID) > maxID {
		return membership{}, errEvent
	}
	return m, nil
}

// pressed is the event of a press on a button.
type press struct {
	Operator person `json:"operator"`
	Action   struct {
		Value json.RawMessage `json:"value"`
	} `json:"action"`
	Context struct {
		Message string `json:"open_message_id"`
		Chat    string `json:"open_chat_id"`
	} `json:"context"`
}

// decodeReceived decodes the event of a message; one without ids is an error.
func decodeReceived(raw []byte) (received, error) {
	var r received
	if json.Unmarshal(raw, &r) != nil || r.Message.ID == "" || r.Message.Chat == "" || len(r.Message.ID) > maxID || len(r.Message.Chat) > maxID {
		return received{}, errEvent
	}
	return r, nil
}

// decodeRecall decodes the event that a message was recalled. The event does not say who did it.
func decodeRecall(raw []byte) (received, error) {
	var e struct {
		ID   string `json:"message_id"`
		Chat string `json:"chat_id"`
		Time string `json:"recall_time"`
	}
	if json.Unmarshal(raw, &e) != nil || e.ID == "" || e.Chat == "" || len(e.ID) > maxID || len(e.Chat) > maxID {
		return received{}, errEvent
	}
	return received{Message: message{ID: e.ID, Chat: e.Chat, Created: e.Time, found: found{Recalled: true}}}, nil
}

// decodeArrived decodes an event of the kinds that go to chats. It sets none of the fields that the
// platform determines itself.
func decodeArrived(kind string, raw []byte) (received, error) {
	if kind == eventRecall {
		return decodeRecall(raw)
	}
	r, err := decodeReceived(raw)
	r.Message.found, r.Sender.Name = found{}, ""
	return r, err
}

// maxID is the maximum length of the id of a message or a chat, in bytes. The service's own are
// about 40.
const maxID = 256
