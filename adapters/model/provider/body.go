package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// bodyEnd ends every request body. It is separate from the rest, which only ever grows, so that a
// body being sent is never overwritten.
const bodyEnd = "]}"

// Settings are the options that depend on the model.
type Settings struct {
	// MaxTokensField names the field that bounds the output, max_tokens or max_completion_tokens.
	// The default is the latter at OpenAI and Azure, and the former elsewhere.
	MaxTokensField string
	// MaxOutputTokens is used for requests without a value; 0 leaves the field out.
	MaxOutputTokens int
	// Members are additional fields of every request, in this order.
	Members []Member
	// Images and Files control whether pictures and PDF documents are sent to the model.
	Images, Files Takes
	// ReasoningTags name the tags around reasoning in the text of answers, such as think for
	// <think> and </think>; what they enclose becomes reasoning. If empty, text is left unchanged.
	ReasoningTags []string
	// NoTools: the model accepts no tools. Requests omit them, and earlier calls become text. A
	// model that refuses tools is detected even if this is not set.
	NoTools bool
	// FirstByteTimeout replaces that of [Options] if it is set.
	FirstByteTimeout time.Duration
}

// Member is a field of a request, such as temperature.
type Member struct {
	Name  string
	Value json.RawMessage
}

// bodyWriter encodes the request bodies for one model.
type bodyWriter struct {
	encoder
	model    string
	settings Settings
	heads    heads
}

// body is a request body without its end: the head, which chats share, and the chat's own array of
// messages.
type body struct {
	head *head
	own  []byte
}

// encoded is such a body in the memo of a chat. Its bytes are only ever appended to.
type encoded struct {
	body
	system   string
	messages []modelmessage.Message
	sight    int   // revision of what was known about the model
	ends     []int // ends[i] is where message i begins, ends[len(messages)] where the last one ends
}

// write encodes the request; the complete body is the result followed by [bodyEnd]. With a memo
// only what is new is encoded.
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

// resume returns the part of the request that the memo already holds.
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
		own = slices.Clone(own) // the rest may still be being sent
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

// sizeOf estimates the length of a body's messages, so that they are allocated once.
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
	for _, m := range s.Members {
		dst = modelmessage.AppendJSON(appendMember(dst, m.Name), m.Value)
	}
	dst = append(dst, `,"stream":true,"stream_options":{"include_usage":true}`...)
	dst = appendTools(dst, req)
	return append(dst, `,"messages":`...)
}

func appendTools(dst []byte, req model.Request) []byte {
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
		dst = modelmessage.AppendJSON(dst, t.InputSchema)
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
