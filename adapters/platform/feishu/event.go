package feishu

import (
	"encoding/json"
	"errors"
)

// The kinds of events that we understand; others are answered and left alone.
const (
	eventMessage = "im.message.receive_v1"
	eventRecall  = "im.message.recalled_v1"
	eventPress   = "card.action.trigger"
	// The bot was added to a group, was taken out of it, and the group was dissolved.
	eventAdded     = "im.chat.member.bot.added_v1"
	eventDeleted   = "im.chat.member.bot.deleted_v1"
	eventDisbanded = "im.chat.disbanded_v1"
)

// errEvent is an event that cannot be read. It is answered: it would not be
// readable the next time either.
var errEvent = errors.New("the event cannot be read")

// envelope is what the service brings, decrypted.
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

	// Of the question whether an address is ours.
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	Token     string `json:"token"`
}

// person is who somebody is to this app.
type person struct {
	OpenID string `json:"open_id"`
}

// received is the event of a message. It has the fields that we read, and is also what is
// written down of a message that is set aside.
type received struct {
	Sender struct {
		ID   person `json:"sender_id"`
		Type string `json:"sender_type"`
	} `json:"sender"`
	Message message `json:"message"`
}

type message struct {
	ID       string    `json:"message_id"`
	Parent   string    `json:"parent_id,omitempty"`
	Created  string    `json:"create_time"` // in milliseconds
	Chat     string    `json:"chat_id"`
	Thread   string    `json:"thread_id,omitempty"`
	ChatType string    `json:"chat_type"`
	Kind     string    `json:"message_type"`
	Content  string    `json:"content"` // JSON, by kind
	Mentions []mention `json:"mentions,omitempty"`
	found
}

// found is what an event does not contain. We find it out and write it down.
type found struct {
	// ToUs: the message answers one of ours.
	ToUs *bool `json:"to_us,omitempty"`
	// TakenBack: somebody took the message back; nothing else of it is known.
	TakenBack bool `json:"taken_back,omitempty"`
	// Forwards are the messages that it contains.
	Forwards []forward `json:"forwards,omitempty"`
}

// mention is a person whom a text names by a key.
type mention struct {
	Key  string `json:"key"`
	ID   person `json:"id"`
	Name string `json:"name"`
}

// membership is the event that the bot was added to a group, or taken out of it.
type membership struct {
	Chat     string `json:"chat_id"`
	Name     string `json:"name"`
	Operator person `json:"operator_id"`
}

// decodeMembership reads such an event; one without the id of a chat is an error.
func decodeMembership(raw []byte) (membership, error) {
	var m membership
	if json.Unmarshal(raw, &m) != nil || m.Chat == "" || len(m.Chat) > maxID || len(m.Operator.OpenID) > maxID {
		return membership{}, errEvent
	}
	return m, nil
}

// pressed is the event of a button.
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

// decodeReceived reads the event of a message; one without ids is an error.
func decodeReceived(raw []byte) (received, error) {
	var r received
	if json.Unmarshal(raw, &r) != nil || r.Message.ID == "" || r.Message.Chat == "" || len(r.Message.ID) > maxID || len(r.Message.Chat) > maxID {
		return received{}, errEvent
	}
	return r, nil
}

// decodeRecall reads the event that a message was taken back. The event does not say who did it.
func decodeRecall(raw []byte) (received, error) {
	var e struct {
		ID   string `json:"message_id"`
		Chat string `json:"chat_id"`
		Time string `json:"recall_time"`
	}
	if json.Unmarshal(raw, &e) != nil || e.ID == "" || e.Chat == "" || len(e.ID) > maxID || len(e.Chat) > maxID {
		return received{}, errEvent
	}
	return received{Message: message{ID: e.ID, Chat: e.Chat, Created: e.Time, found: found{TakenBack: true}}}, nil
}

// decodeArrived reads an event of the kinds that go to chats; what only we find out
// is no part of it.
func decodeArrived(kind string, raw []byte) (received, error) {
	if kind == eventRecall {
		return decodeRecall(raw)
	}
	r, err := decodeReceived(raw)
	r.Message.found = found{}
	return r, err
}

// maxID is the longest id of a message or a chat, in bytes. The service's own are about 40.
const maxID = 256
