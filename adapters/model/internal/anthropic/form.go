package anthropic

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

const (
	// defaultMaxTokens bounds answers of models about which nothing is known.
	defaultMaxTokens = 4096
	// lead is the first message of a conversation that begins with a summary: the first message has
	// to be a user's.
	lead = `{"role":"user","content":[{"type":"text","text":"[The conversation was compacted. A summary follows.]"}]},`
)

// form writes the pieces of a body; it implements [protocol.Form].
type form struct {
	*protocol.Prompter
	opts *Options
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

func (f *form) AppendHead(dst []byte, req model.Request) []byte {
	limit := cmp.Or(req.MaxOutputTokens, f.opts.MaxOutputTokens, defaultMaxTokens) + f.opts.Efforts.For(req).Budget
	if most := f.opts.OutputLimit; most > 0 {
		limit = min(limit, most)
	}
	dst = protocol.AppendString(append(dst, `{"model":`...), f.opts.Model)
	dst = appendInt(append(dst, `,"max_tokens":`...), limit)
	for _, m := range f.opts.Members {
		dst = modelmessage.AppendJSON(protocol.AppendMember(dst, m.Name), m.Value)
	}
	dst = append(dst, `,"stream":true`...)
	if len(req.Tools) == 0 {
		return dst
	}
	dst = protocol.AppendList(append(dst, `,"tools":`...), req.Tools, appendTool)
	dst = append(append(dst[:len(dst)-len(`}]`)], cacheMark...), '}', ']')
	return appendChoice(dst, req.ToolChoice)
}

func appendTool(dst []byte, t model.ToolSpec) []byte {
	dst = protocol.AppendString(append(dst, `{"name":`...), t.Name)
	if t.Description != "" {
		dst = protocol.AppendString(protocol.AppendMember(dst, "description"), t.Description)
	}
	return append(protocol.AppendSchema(protocol.AppendMember(dst, "input_schema"), t.InputSchema), '}')
}

func appendChoice(dst []byte, choice string) []byte {
	name, isTool := strings.CutPrefix(choice, "tool:")
	switch {
	case isTool:
		return append(protocol.AppendString(append(dst, `,"tool_choice":{"type":"tool","name":`...), name), '}')
	case choice == "required":
		return append(dst, `,"tool_choice":{"type":"any"}`...)
	case choice == "none":
		return append(dst, `,"tool_choice":{"type":"none"}`...)
	}
	return append(dst, `,"tool_choice":{"type":"auto"}`...)
}

func (*form) AppendStart(dst []byte, req model.Request) []byte {
	if strings.TrimSpace(req.System) != "" {
		dst = protocol.AppendString(append(dst, `,"system":[{"type":"text","text":`...), req.System)
		dst = append(append(dst, cacheMark...), '}', ']')
	}
	return append(dst, `,"messages":[`...)
}

// AppendMessage implements [protocol.Form]: consecutive messages of one side become one. The last
// message stays open.
func (f *form) AppendMessage(ctx context.Context, dst []byte, at protocol.Mark, m modelmessage.Message) ([]byte, protocol.Mark, error) {
	pm, err := f.Message(ctx, m)
	if err != nil {
		return dst, at, err //nolint:wrapcheck // the caller describes it
	}
	side := modelmessage.RoleUser // also for a system message after others
	if m.Role == modelmessage.RoleAssistant {
		side = modelmessage.RoleAssistant
	}
	w := &blocks{dst: dst, at: at, side: side}
	for _, p := range pm.Parts {
		if p.File != nil {
			if side == modelmessage.RoleUser {
				w.add(fileBlock(p.File), true)
			}
			continue
		}
		switch part := p.Part.(type) {
		case modelmessage.Text:
			w.text(part.Text)
		case modelmessage.Reasoning:
			if t, ok := thoughtOf(part); ok && f.Sight.TakesThought(t.id()) {
				w.flush()
				w.thoughts = append(w.thoughts, t)
			}
		case modelmessage.ToolCall:
			if !part.ProviderExecuted.Value {
				w.calls = append(w.calls, part)
			}
		case modelmessage.ToolResult:
			if m.Role == modelmessage.RoleTool {
				w.add(appendResult(nil, part), true)
			}
		case modelmessage.Image, modelmessage.File, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
		}
	}
	w.flush()
	return w.dst, w.at, nil
}

// blocks appends blocks to the messages of a body.
type blocks struct {
	dst      []byte
	at       protocol.Mark
	side     modelmessage.Role
	thoughts []thought               // they are left out if nothing follows them, as in an answer that was stopped
	calls    []modelmessage.ToolCall // they follow the other blocks of their step
}

func (w *blocks) flush() {
	for _, c := range w.calls {
		w.add(appendCall(nil, c), true)
	}
	w.calls = nil
}

// add appends a block after the thinking that led to it. cacheable says that a mark may follow the block.
func (w *blocks) add(block []byte, cacheable bool) {
	thoughts := w.thoughts
	w.thoughts = nil
	for _, t := range thoughts {
		w.add(t.append(nil), false)
	}
	switch w.at.Open {
	case w.side:
		w.dst = append(w.dst, ',')
	case "":
		if w.side == modelmessage.RoleAssistant {
			w.dst = append(w.dst, lead...)
			w.at.Blocks++
		}
		w.open()
	default:
		w.dst = append(w.dst, "]},"...)
		w.open()
	}
	w.dst = append(w.dst, block...)
	w.at.Blocks++
	w.at.Cacheable = cacheable
}

func (w *blocks) open() {
	w.dst = append(protocol.AppendString(append(w.dst, `{"role":`...), string(w.side)), `,"content":[`...)
	w.at.Open = w.side
}

// text appends a text, unless it is one that the service refuses as empty.
func (w *blocks) text(s string) {
	if strings.TrimSpace(s) != "" {
		w.add(textBlock(s), true)
	}
}

func textBlock(s string) []byte {
	return append(protocol.AppendString([]byte(`{"type":"text","text":`), s), '}')
}

func appendCall(dst []byte, c modelmessage.ToolCall) []byte {
	dst = protocol.AppendString(append(dst, `{"type":"tool_use","id":`...), wireID(c.ToolCallID))
	dst = protocol.AppendString(protocol.AppendMember(dst, "name"), c.ToolName)
	dst = protocol.AppendMember(dst, "input")
	if input := bytes.TrimSpace(c.Input); len(input) > 0 && input[0] == '{' && json.Valid(input) {
		return append(modelmessage.AppendJSON(dst, input), '}')
	}
	return append(dst, `{}}`...)
}

func appendResult(dst []byte, r modelmessage.ToolResult) []byte {
	dst = protocol.AppendString(append(dst, `{"type":"tool_result","tool_use_id":`...), wireID(r.ToolCallID))
	dst = appendOutput(protocol.AppendMember(dst, "content"), r.Output)
	if r.Output.Type == modelmessage.OutputErrorText || r.Output.Type == modelmessage.OutputErrorJSON {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}

func appendOutput(dst []byte, o modelmessage.Output) []byte {
	if o.Type != modelmessage.OutputContent {
		return protocol.AppendOutput(dst, o, protocol.EmptyResult)
	}
	start := len(dst)
	protocol.Content(o.JSON, func(text string, file *protocol.File) {
		block := textBlock(text)
		if file != nil {
			block = fileBlock(file)
		}
		dst = append(append(dst, ','), block...)
	})
	if len(dst) == start {
		return protocol.AppendString(dst, protocol.EmptyResult)
	}
	dst[start] = '['
	return append(dst, ']')
}

// wireID returns an id in the alphabet of the protocol; other services make ids with other letters.
// Different ids stay different, because ids that begin like converted ones are converted, too.
func wireID(id string) string {
	const hex = "0123456789abcdef"
	plain := func(c byte) bool {
		return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	if id != "" && !strings.HasPrefix(id, "x_") && strings.IndexFunc(id, func(r rune) bool { return r > 127 || r != '_' && !plain(byte(r)) }) < 0 {
		return id
	}
	out := []byte("x_")
	for i := range len(id) {
		if c := id[i]; plain(c) {
			out = append(out, c)
		} else {
			out = append(out, '_', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}
