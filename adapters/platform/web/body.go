package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxDepth is the maximum nesting of a request. Tool results in a client's history can be deep;
// messages that people write are not.
const maxDepth = 128

// readJSON reads a whole body, up to its limit, and then removes the read deadline, so that a
// stream may follow.
func readJSON(w http.ResponseWriter, r *http.Request) ([]byte, *respond.Problem) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, respond.Refused(http.StatusUnsupportedMediaType, "not_json", "Send the body as Content-Type: application/json.")
	}
	body, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, respond.Refused(http.StatusRequestEntityTooLarge, "too_large",
			"This is too large to send. Send a smaller file, or start a new chat if the page sends its whole history.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, respond.Refused(http.StatusRequestTimeout, "too_slow", "The request did not arrive in time.")
	case err != nil:
		return nil, respond.BadRequest("cut", "The request was cut.")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if tooDeep(body) {
		return nil, respond.BadRequest("too_deep", "The request nests too deep.")
	}
	return body, nil
}

// tooDeep counts brackets outside strings, before anything recurses into them.
func tooDeep(body []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// The triggers that clients send.
const (
	triggerSubmit     = "submit-message"
	triggerRegenerate = "regenerate-message"
)

// chatRequest is a client's request, reduced to what may be trusted: the chat, what the client
// wants, and its last message.
type chatRequest struct {
	ID        string
	Trigger   string
	MessageID string // the message to regenerate or edit, if any
	Last      uimessage.Message
	Shown     []uimessage.Message // the messages before it, if the client asks for another answer
	Ingress   string              // the client's idempotency key as an ingress id, or empty
}

// parseChat parses the body of POST /api/chat: with all messages, or with only the last one, as
// `message`.
func parseChat(body []byte) (chatRequest, *respond.Problem) {
	var in struct {
		ID        string            `json:"id"`
		Messages  []json.RawMessage `json:"messages"`
		Message   json.RawMessage   `json:"message"`
		Trigger   string            `json:"trigger"`
		MessageID string            `json:"messageId"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return chatRequest{}, respond.BadRequest("bad_json", "The request is not the JSON of a chat client.")
	}
	last := in.Message
	if len(in.Messages) > 0 {
		last = newest(in.Messages, in.MessageID)
	}
	out := chatRequest{ID: in.ID, Trigger: in.Trigger, MessageID: in.MessageID}
	switch out.Trigger {
	case "":
		out.Trigger = triggerSubmit
	case triggerSubmit, triggerRegenerate:
	default:
		return chatRequest{}, respond.BadRequest("bad_trigger", "The trigger is submit-message or regenerate-message.")
	}
	if len(last) == 0 || string(last) == "null" {
		if out.Trigger == triggerRegenerate {
			return out, nil // the trigger is enough
		}
		return chatRequest{}, respond.BadRequest("no_message", "The request holds no message.")
	}
	var err error
	if out.Last, err = uimessage.Decode(last); err != nil {
		return chatRequest{}, respond.BadRequest("bad_message", "The last message cannot be read: "+err.Error()+".")
	}
	out.Last = withoutSent(out.Last)
	if out.Last.Role != uimessage.RoleUser && out.Last.Role != uimessage.RoleAssistant {
		return chatRequest{}, respond.BadRequest("bad_role", "The last message is of the user or of the assistant.")
	}
	if out.Trigger == triggerRegenerate {
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

// tooLong refuses a message whose texts alone exceed the limit for requests without files: larger
// bodies are accepted only for the sake of files.
func (p *Platform) tooLong(req chatRequest) *respond.Problem {
	for _, m := range append(slices.Clip(req.Shown), req.Last) {
		size := 0
		for _, part := range m.Parts {
			if t, ok := part.(uimessage.Text); ok {
				size += len(t.Text)
			}
		}
		if m.Role == uimessage.RoleUser && int64(size) > p.opts.MaxBody {
			return respond.Refused(http.StatusRequestEntityTooLarge, "too_large", "This text is too long to send. Shorten it, or send it as a file.")
		}
	}
	return nil
}

// words are a person's message: the text and what accompanies it.
type words struct {
	text  string
	parts []uimessage.Part
}

// wordsOf extracts from a client's message what people may send: texts, and files that the message
// contains or that were uploaded to its chat. The first text is the message's text; nothing is
// joined or changed, and what clients add to parts is dropped.
func wordsOf(chat string, m uimessage.Message) (words, *respond.Problem) {
	var out words
	said := false
	for _, part := range m.Parts {
		switch p := part.(type) {
		case uimessage.Text:
			if !said && strings.TrimSpace(p.Text) != "" {
				out.text, said = p.Text, true
			} else if p.Text != "" {
				out.parts = append(out.parts, uimessage.Text{Text: p.Text})
			}
		case uimessage.File:
			if _, uploaded := storedName(chat, p.URL); !uploaded && !strings.HasPrefix(p.URL, "data:") {
				return words{}, respond.BadRequest("remote_file", "Files are sent as data URLs, or uploaded to this chat first.")
			}
			out.parts = append(out.parts, uimessage.File{MediaType: p.MediaType, URL: p.URL, Filename: p.Filename})
		case uimessage.Reasoning, uimessage.Tool, uimessage.SourceURL, uimessage.SourceDocument,
			uimessage.Data, uimessage.StepStart, uimessage.Unknown:
			return words{}, respond.BadRequest("bad_part", "A user message holds texts and files only.")
		}
	}
	if !said && len(out.parts) == 0 {
		return words{}, respond.BadRequest("empty", "The message is empty.")
	}
	return out, nil
}

// sameWords reports whether a stored turn equals a client's message: the same texts and the same
// number of files. The store may have added parts of its own.
func sameWords(turn uimessage.Message, w words) bool {
	texts, files := wordLists(turn.Parts)
	want, wantFiles := wordLists(w.parts)
	if w.text != "" {
		want = append([]string{w.text}, want...)
	}
	if files != wantFiles || len(texts) < len(want) {
		return false
	}
	for i := range want {
		if texts[i] != want[i] {
			return false
		}
	}
	return true
}

func wordLists(parts []uimessage.Part) (texts []string, files int) {
	for _, part := range parts {
		if t, ok := part.(uimessage.Text); ok && strings.TrimSpace(t.Text) != "" {
			texts = append(texts, t.Text)
		}
		if _, ok := part.(uimessage.File); ok {
			files++
		}
	}
	return texts, files
}
