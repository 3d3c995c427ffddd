package request

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// The triggers that clients send.
const (
	triggerSubmit = "submit-message"
	Regenerate    = "regenerate-message"
)

// Chat is a client's request, reduced to what may be trusted: the chat, what the client
// wants, and its last message.
type Chat struct {
	ID        string
	Trigger   string
	MessageID string // the message to regenerate or edit, if any
	Last      uimessage.Message
	Shown     []uimessage.Message // the messages before it, if the client edits it or asks for another answer
	Ingress   string              // the client's idempotency key as an ingress id, or empty
}

// ParseChat parses the body of POST /api/chat: with all messages, or with only the last one, as
// `message`.
func ParseChat(body []byte) (Chat, *respond.Problem) {
	var in struct {
		ID        string            `json:"id"`
		Messages  []json.RawMessage `json:"messages"`
		Message   json.RawMessage   `json:"message"`
		Trigger   string            `json:"trigger"`
		MessageID string            `json:"messageId"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Chat{}, respond.BadRequest("bad_json", "The request is not the JSON of a chat client.")
	}
	last := in.Message
	if len(in.Messages) > 0 {
		last = newest(in.Messages, in.MessageID)
	}
	out := Chat{ID: in.ID, Trigger: in.Trigger, MessageID: in.MessageID}
	switch out.Trigger {
	case "":
		out.Trigger = triggerSubmit
	case triggerSubmit, Regenerate:
	default:
		return Chat{}, respond.BadRequest("bad_trigger", "The trigger is submit-message or regenerate-message.")
	}
	if len(last) == 0 || string(last) == "null" {
		if out.Trigger == Regenerate {
			return out, nil // the trigger is enough
		}
		return Chat{}, respond.BadRequest("no_message", "The request holds no message.")
	}
	var err error
	if out.Last, err = uimessage.Decode(last); err != nil {
		return Chat{}, respond.BadRequest("bad_message", "The last message cannot be read: "+err.Error()+".")
	}
	out.Last = withoutSent(out.Last)
	if out.Last.Role != uimessage.RoleUser && out.Last.Role != uimessage.RoleAssistant {
		return Chat{}, respond.BadRequest("bad_role", "The last message is of the user or of the assistant.")
	}
	if out.Trigger == Regenerate || out.MessageID != "" {
		out.Shown = shownBefore(in.Messages)
	}
	return out, nil
}

// shownBefore returns the messages before the last one that can be decoded.
func shownBefore(list []json.RawMessage) []uimessage.Message {
	var out []uimessage.Message
	for _, raw := range list[:max(len(list)-1, 0)] {
		if m, err := uimessage.Decode(raw); err == nil {
			out = append(out, withoutSent(m))
		}
	}
	return out
}

// newest returns the message that a request brings: the last one, or an earlier assistant message
// that the request names, whose requests for approval were decided late.
func newest(list []json.RawMessage, named string) json.RawMessage {
	for _, raw := range slices.Backward(list) {
		var m struct{ ID, Role string }
		if named != "" && json.Unmarshal(raw, &m) == nil && m.ID == named && m.Role == string(uimessage.RoleAssistant) {
			return raw
		}
	}
	return list[len(list)-1]
}
