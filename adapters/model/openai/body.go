package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// bodyEnd closes every request body. It is kept apart from the rest, which only
// ever grows, so that a body on its way is never written to.
const bodyEnd = "]}"

// Settings are the members of a request body that depend on the model.
type Settings struct {
	// MaxTokensField names the member that bounds the output, max_tokens or
	// max_completion_tokens. Empty: the latter where the address is OpenAI's or
	// Azure's, the former elsewhere.
	MaxTokensField string
	// MaxOutputTokens is used by requests that do not say; 0: the member is left out.
	MaxOutputTokens int

	Temperature, TopP                 *float64
	FrequencyPenalty, PresencePenalty *float64
	Stop                              []string
	Seed                              *int64
	ReasoningEffort                   string
	ParallelToolCalls                 *bool

	// ExtraBody holds further members, written in the order of their names.
	ExtraBody map[string]json.RawMessage
	// NoStreamOptions leaves out stream_options, which a few servers refuse; the
	// usage of tokens is then unknown.
	NoStreamOptions bool
	// Images and Files say whether the model is sent pictures and PDF documents.
	Images, Files Takes
	// NoReasoning never sends earlier reasoning back.
	NoReasoning bool
	// ReasoningTags name the tags around reasoning in the text of answers, such as
	// think for <think> and </think>; what they enclose becomes reasoning. Empty: text
	// is text.
	ReasoningTags []string
	// NoTools: the model takes no tools. Requests leave them out, and earlier calls are
	// text. A model that refuses tools is found out without this.
	NoTools bool
	// FirstByteTimeout replaces that of [Options] if it is set.
	FirstByteTimeout time.Duration
}

// bodyWriter puts request bodies of one model together.
type bodyWriter struct {
	encoder
	model    string
	settings Settings
	stream   bool
	heads    heads
}

// body is a request body without its end: the head, which chats share, and the
// chat's own array of messages.
type body struct {
	head *head
	own  []byte
}

// encoded is such a body in the memo of a chat. Its bytes are only ever appended to.
type encoded struct {
	body
	system   string
	messages []modelmessage.Message
	sight    int   // revision of what was known of the model
	ends     []int // ends[i] is where message i begins, ends[len(messages)] where the last one ends
}

// write encodes the request; the body is the result followed by [bodyEnd]. With a
// memo only what is new is encoded.
func (w *bodyWriter) write(ctx context.Context, req model.Request) (body, error) {
	if len(req.Messages) == 0 {
		return body{}, errNoMessages
	}
	if err := checkResults(req.Messages); err != nil {
		return body{}, err
	}
	e := w.resume(req)
	for _, m := range req.Messages[len(e.messages):] {
		var err error
		if e.own, err = w.appendMessage(ctx, e.own, m); err != nil {
			return body{}, err
		}
		e.ends = append(e.ends, len(e.own))
	}
	if len(e.own) == len("[") {
		return body{}, errNoMessages
	}
	e.messages = req.Messages
	req.Memo.Keep(e)
	return e.body, nil
}

// resume finds how much of the request the memo already holds.
func (w *bodyWriter) resume(req model.Request) *encoded {
	h := w.heads.of(w, req)
	e, ok := req.Memo.Take().(*encoded)
	known := w.sight.revision()
	if !ok || e.head != h || e.system != req.System || e.sight != known {
		fresh := begin(req, h)
		fresh.sight = known
		return fresh
	}
	n := 0
	for n < len(e.messages) && n < len(req.Messages) && equalMessages(e.messages[n], req.Messages[n]) {
		n++
	}
	own := e.own[:e.ends[n]]
	if n < len(e.messages) {
		own = slices.Clone(own) // the rest may still be on its way
	}
	return &encoded{body: body{h, own}, system: req.System, sight: known, messages: req.Messages[:n], ends: e.ends[: n+1 : n+1]}
}

func begin(req model.Request, h *head) *encoded {
	own := append(make([]byte, 0, sizeOf(req)), '[')
	if req.System != "" {
		own = appendSystemText(own, req.System)
	}
	return &encoded{body: body{h, own}, system: req.System, ends: []int{len(own)}}
}

// sizeOf guesses the length of a body's messages, so that they are allocated once.
func sizeOf(req model.Request) int {
	n := 64 + len(req.System)
	for _, m := range req.Messages {
		n += len(m.Text) + 64
		for _, p := range m.Parts {
			n += 128 + partSize(p)
		}
	}
	return n + n/8
}

func partSize(p modelmessage.Part) int {
	switch p := p.(type) {
	case modelmessage.Text:
		return len(p.Text)
	case modelmessage.Reasoning:
		return len(p.Text)
	case modelmessage.Image:
		return len(p.Image)
	case modelmessage.File:
		return len(p.Data)
	case modelmessage.ToolCall:
		return len(p.Input)
	case modelmessage.ToolResult:
		return len(p.Output.Text) + len(p.Output.JSON)
	case modelmessage.ApprovalRequest, modelmessage.ApprovalResponse: // never sent
	}
	return 0
}

// appendHead appends everything up to the first message.
func (w *bodyWriter) appendHead(dst []byte, req model.Request) []byte {
	s := &w.settings
	dst = appendString(append(dst, `{"model":`...), w.model)
	if limit := cmp.Or(req.MaxOutputTokens, s.MaxOutputTokens); limit > 0 {
		dst = appendMember(dst, cmp.Or(s.MaxTokensField, "max_tokens"))
		dst = strconv.AppendInt(dst, int64(limit), 10)
	}
	dst = appendOptional(dst, "temperature", s.Temperature)
	dst = appendOptional(dst, "top_p", s.TopP)
	dst = appendOptional(dst, "frequency_penalty", s.FrequencyPenalty)
	dst = appendOptional(dst, "presence_penalty", s.PresencePenalty)
	if len(s.Stop) > 0 {
		dst = appendMember(dst, "stop")
		for i, stop := range s.Stop {
			dst = appendString(append(dst, "[,"[min(i, 1)]), stop)
		}
		dst = append(dst, ']')
	}
	if s.Seed != nil {
		dst = strconv.AppendInt(appendMember(dst, "seed"), *s.Seed, 10)
	}
	if s.ReasoningEffort != "" {
		dst = appendString(appendMember(dst, "reasoning_effort"), s.ReasoningEffort)
	}
	for _, name := range slices.Sorted(maps.Keys(s.ExtraBody)) {
		dst = appendCompact(appendMember(dst, name), s.ExtraBody[name])
	}
	if w.stream {
		dst = append(dst, `,"stream":true`...)
		if !s.NoStreamOptions {
			dst = append(dst, `,"stream_options":{"include_usage":true}`...)
		}
	}
	dst = w.appendTools(dst, req)
	return append(dst, `,"messages":`...)
}

func appendOptional(dst []byte, name string, value *float64) []byte {
	if value == nil {
		return dst
	}
	return strconv.AppendFloat(appendMember(dst, name), *value, 'f', -1, 64)
}

func (w *bodyWriter) appendTools(dst []byte, req model.Request) []byte {
	if len(req.Tools) == 0 {
		return dst
	}
	dst = append(dst, `,"tools":[`...)
	for i, t := range req.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTool(dst, t)
	}
	dst = append(dst, ']')
	if p := w.settings.ParallelToolCalls; p != nil {
		dst = append(dst, `,"parallel_tool_calls":`...)
		if *p {
			dst = append(dst, "true"...)
		} else {
			dst = append(dst, "false"...)
		}
	}
	return appendToolChoice(dst, req.ToolChoice)
}

func appendTool(dst []byte, t model.ToolSpec) []byte {
	dst = append(dst, `{"type":"function","function":{"name":`...)
	dst = appendString(dst, t.Name)
	if t.Description != "" {
		dst = appendString(appendMember(dst, "description"), t.Description)
	}
	dst = appendMember(dst, "parameters")
	if isNull(t.InputSchema) || !json.Valid(t.InputSchema) {
		dst = append(dst, `{"type":"object","properties":{}}`...)
	} else {
		dst = appendCompact(dst, t.InputSchema)
	}
	return append(dst, '}', '}')
}

func appendToolChoice(dst []byte, choice string) []byte {
	dst = append(dst, `,"tool_choice":`...)
	if name, ok := strings.CutPrefix(choice, "tool:"); ok {
		dst = append(dst, `{"type":"function","function":{"name":`...)
		return append(appendString(dst, name), '}', '}')
	}
	return appendString(dst, cmp.Or(choice, "auto"))
}
