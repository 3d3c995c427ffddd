package responses

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// minTokens is the smallest bound of the output that the service accepts.
const minTokens = 16

// form writes the pieces of a body; it implements [protocol.Form].
type form struct {
	*protocol.Prompter
	opts *Options
}

func (f *form) AppendHead(dst []byte, req model.Request) []byte {
	dst = protocol.AppendString(append(dst, `{"model":`...), f.opts.Name())
	dst = append(dst, `,"store":false,"stream":true`...)
	if limit := cmp.Or(req.MaxOutputTokens, f.opts.MaxOutputTokens); limit > 0 {
		dst = strconv.AppendInt(append(dst, `,"max_output_tokens":`...), int64(max(limit, minTokens)), 10)
	}
	for _, m := range f.opts.Members {
		dst = modelmessage.AppendJSON(protocol.AppendMember(dst, m.Name), m.Value)
	}
	if len(req.Tools) == 0 {
		return dst
	}
	dst = protocol.AppendList(append(dst, `,"tools":`...), req.Tools, appendTool)
	dst = append(dst, `,"tool_choice":`...)
	if name, ok := strings.CutPrefix(req.ToolChoice, "tool:"); ok {
		return append(protocol.AppendString(append(dst, `{"type":"function","name":`...), name), '}')
	}
	return protocol.AppendString(dst, cmp.Or(req.ToolChoice, "auto"))
}

// appendTool appends a tool. Without strict the service would change the schema, which makes
// optional properties mandatory.
func appendTool(dst []byte, t model.ToolSpec) []byte {
	dst = protocol.AppendString(append(dst, `{"type":"function","name":`...), t.Name)
	if t.Description != "" {
		dst = protocol.AppendString(protocol.AppendMember(dst, "description"), t.Description)
	}
	return append(protocol.AppendSchema(append(dst, `,"strict":false,"parameters":`...), t.InputSchema), '}')
}

func (*form) AppendStart(dst []byte, req model.Request) []byte {
	if req.System != "" {
		dst = protocol.AppendString(append(dst, `,"instructions":`...), req.System)
	}
	return append(dst, `,"input":[`...)
}

// AppendMessage implements [protocol.Form]. A message may become none, one or several items.
func (f *form) AppendMessage(ctx context.Context, dst []byte, _ protocol.Mark, m modelmessage.Message) ([]byte, protocol.Mark, error) {
	pm, err := f.Message(ctx, m)
	if err != nil {
		return dst, protocol.Mark{}, err //nolint:wrapcheck // the caller describes it
	}
	switch m.Role {
	case modelmessage.RoleAssistant:
		dst = f.appendAnswer(dst, pm)
	case modelmessage.RoleTool:
		dst = appendOutputs(dst, pm)
	case modelmessage.RoleUser, modelmessage.RoleSystem:
		dst = appendInput(dst, pm)
	}
	return dst, protocol.Mark{}, nil
}

// open begins the next element of the list at the end of dst.
func open(dst []byte, begin string) []byte {
	if dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	return append(dst, begin...)
}

func appendInput(dst []byte, m protocol.Message) []byte {
	start := len(dst)
	dst = open(dst, `{"role":"`+string(m.Role)+`","content":[`)
	empty := len(dst)
	for _, p := range m.Parts {
		if p.File != nil {
			dst = appendFile(dst, p.File)
		} else if t, ok := p.Part.(modelmessage.Text); ok && t.Text != "" {
			dst = appendText(dst, t.Text)
		}
	}
	if len(dst) == empty {
		return dst[:start]
	}
	return append(dst, ']', '}')
}

func appendText(dst []byte, text string) []byte {
	return append(protocol.AppendString(open(dst, `{"type":"input_text","text":`), text), '}')
}

// appendAnswer appends what the model said. Items have no ids, except for reasoning: the service
// does not need them, and would insist on the exact neighbors of an item with one. Reasoning is
// only sent if an item follows it.
func (f *form) appendAnswer(dst []byte, m protocol.Message) []byte {
	var held []thought
	item := func(begin string) {
		for _, t := range held {
			dst = t.append(dst)
		}
		held = nil
		dst = open(dst, begin)
	}
	for _, p := range m.Parts {
		switch part := p.Part.(type) {
		case modelmessage.Reasoning:
			if t, ok := thoughtOf(part); ok && f.Sight.TakesThought(t.id) {
				held = join(held, t)
			}
		case modelmessage.Text:
			if part.Text == "" {
				continue
			}
			item(`{"role":"assistant","content":[{"type":"output_text","text":`)
			dst = append(protocol.AppendString(dst, part.Text), '}', ']')
			if phase := own(part.ProviderOptions, "phase"); phase != "" {
				dst = protocol.AppendString(protocol.AppendMember(dst, "phase"), phase)
			}
			dst = append(dst, '}')
		case modelmessage.ToolCall:
			if !part.ProviderExecuted.Value {
				item(`{"type":"function_call","call_id":`)
				dst = appendCall(dst, part)
			}
		case modelmessage.ToolResult, modelmessage.Image, modelmessage.File, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
		}
	}
	return dst
}

func appendCall(dst []byte, c modelmessage.ToolCall) []byte {
	dst = protocol.AppendString(dst, wireID(c.ToolCallID))
	dst = protocol.AppendString(protocol.AppendMember(dst, "name"), c.ToolName)
	dst = protocol.AppendMember(dst, "arguments")
	if len(c.Input) > 0 && json.Valid(c.Input) {
		return append(protocol.AppendQuotedJSON(dst, c.Input), '}')
	}
	return append(dst, `"{}"}`...)
}

func appendOutputs(dst []byte, m protocol.Message) []byte {
	for _, p := range m.Parts {
		r, ok := p.Part.(modelmessage.ToolResult)
		if !ok {
			continue
		}
		dst = protocol.AppendString(open(dst, `{"type":"function_call_output","call_id":`), wireID(r.ToolCallID))
		dst = append(appendOutput(protocol.AppendMember(dst, "output"), r.Output), '}')
	}
	return dst
}

func appendOutput(dst []byte, o modelmessage.Output) []byte {
	if o.Type != modelmessage.OutputContent {
		return protocol.AppendOutput(dst, o, protocol.EmptyResult)
	}
	start := len(dst)
	dst = append(dst, '[')
	protocol.Content(o.JSON, func(text string, file *protocol.File) {
		if file != nil {
			dst = appendFile(dst, file)
		} else {
			dst = appendText(dst, text)
		}
	})
	if len(dst) == start+1 {
		return protocol.AppendString(dst[:start], protocol.EmptyResult)
	}
	return append(dst, ']')
}

// appendFile appends a file as the kind of part for its media type, or a note about it.
func appendFile(dst []byte, f *protocol.File) []byte {
	kind := f.MediaType
	switch {
	case f.Missing || f.Link == "" && f.Base64 == "" && len(f.Bytes) == 0:
	case kind == "image/*":
		return appendImage(dst, f, "image/jpeg")
	case kind == "image/jpeg", kind == "image/png", kind == "image/gif", kind == "image/webp":
		return appendImage(dst, f, kind)
	case isDocument(kind) && f.Link != "":
		return append(protocol.AppendString(open(dst, `{"type":"input_file","file_url":`), f.Link), '}')
	case kind == "application/pdf", isDocument(kind) && f.Filename.Value != "":
		dst = protocol.AppendString(open(dst, `{"type":"input_file","filename":`), cmp.Or(f.Filename.Value, "document.pdf"))
		return append(appendData(protocol.AppendMember(dst, "file_data"), f, kind), '}')
	case strings.HasPrefix(kind, "text/") && f.Link == "":
		text, err := f.Decoded()
		if text = bytes.TrimPrefix(text, []byte("\uFEFF")); err == nil && len(text) > 0 {
			return appendText(dst, string(text))
		}
	}
	return appendText(dst, f.Note())
}

// isDocument reports whether the service extracts the text of a file, which it recognizes by its
// name.
func isDocument(kind string) bool {
	switch kind {
	case "application/pdf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/rtf", "application/vnd.oasis.opendocument.text":
		return true
	}
	return strings.HasPrefix(kind, "application/vnd.openxmlformats-officedocument.")
}

func appendImage(dst []byte, f *protocol.File, kind string) []byte {
	dst = open(dst, `{"type":"input_image","image_url":`)
	if f.Link != "" {
		return append(protocol.AppendString(dst, f.Link), '}')
	}
	return append(appendData(dst, f, kind), '}')
}

func appendData(dst []byte, f *protocol.File, kind string) []byte {
	return protocol.AppendString(dst, f.DataURL(kind))
}
