package chat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// optionsKey is the field of provider options for this protocol.
const optionsKey = "openaiCompatible"

// form writes model messages as chat-completions messages, and implements [protocol.Form]. If it is
// not exact, messages without content are omitted, empty results and arguments get a placeholder,
// and files that cannot be shown become a line of text, so that one file never disables a chat.
type form struct {
	*protocol.Prompter
	opts *Options
}

// openMessage begins the next message of the array at the end of dst.
func openMessage(dst []byte, role string) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	dst = append(dst, `{"role":"`...)
	return append(append(dst, role...), '"')
}

// AppendStart implements [protocol.Form]: the system text begins the array of messages.
func (*form) AppendStart(dst []byte, req model.Request) []byte {
	dst = append(dst, '[')
	if req.System == "" {
		return dst
	}
	dst = append(openMessage(dst, "system"), `,"content":`...)
	return append(protocol.AppendString(dst, req.System), '}')
}

// read follows results for services that refuse a user's message there.
const read = `,"content":"OK."}`

// AppendMessage implements [protocol.Form]. A message may become none, one or, for tool results,
// several.
func (e *form) AppendMessage(ctx context.Context, dst []byte, at protocol.Mark, m modelmessage.Message) ([]byte, protocol.Mark, error) {
	pm, err := e.Message(ctx, m)
	start := len(dst)
	if at.Open == modelmessage.RoleTool && m.Role == modelmessage.RoleUser && !e.TakesThought(protocol.Unread) {
		dst = append(openMessage(dst, "assistant"), read...)
	}
	begun := len(dst)
	if err == nil && e.opts.Exact {
		dst, err = e.appendExact(dst, pm)
	} else if err == nil {
		dst, err = e.appendWire(dst, pm)
	}
	if len(dst) == begun {
		return dst[:start], at, err //nolint:wrapcheck // the caller describes it
	}
	return dst, protocol.Mark{Open: m.Role}, err //nolint:wrapcheck // the caller describes it
}

// callID returns an id of a call that the service accepts. Some refuse long ids, or accept only nine letters and digits.
func (e *form) callID(id string) string {
	if e.TakesThought(protocol.CallIDs) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// appendExact appends m as the SDK encodes it: a field of the provider options replaces one of the
// protocol's own. The last of equal names wins.
func (e *form) appendExact(dst []byte, pm protocol.Message) ([]byte, error) {
	own, err := e.appendWire([]byte{'['}, pm)
	if err != nil {
		return dst, err
	}
	dec := json.NewDecoder(bytes.NewReader(append(own, ']')))
	dec.UseNumber()
	var list []any
	if err := dec.Decode(&list); err != nil {
		return dst, fmt.Errorf("encode message: %w", err)
	}
	for _, message := range list {
		raw, err := json.Marshal(message)
		if err != nil {
			return dst, fmt.Errorf("encode message: %w", err)
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(dst, raw...)
	}
	return dst, nil
}

func (e *form) appendWire(dst []byte, pm protocol.Message) ([]byte, error) {
	switch pm.Role {
	case modelmessage.RoleSystem:
		return e.appendSystem(dst, pm), nil
	case modelmessage.RoleUser:
		return e.appendUser(dst, pm)
	case modelmessage.RoleAssistant:
		return e.appendAssistant(dst, pm), nil
	case modelmessage.RoleTool:
		return e.appendResults(dst, pm), nil
	default:
		return dst, fmt.Errorf("%w: role %q", protocol.ErrUnsupported, pm.Role)
	}
}

func (e *form) appendSystem(dst []byte, m protocol.Message) []byte {
	text := textOf[modelmessage.Text](m)
	if text == "" && !e.opts.Exact {
		return dst
	}
	dst = append(openMessage(dst, "system"), `,"content":`...)
	dst = protocol.AppendString(dst, text)
	return append(e.appendOptions(dst, m.Options), '}')
}

// textOf joins the texts, or the reasoning, of a message.
func textOf[P modelmessage.Text | modelmessage.Reasoning](m protocol.Message) (text string) {
	for _, p := range m.Parts {
		if part, ok := p.Part.(P); ok {
			text += modelmessage.Text(part).Text
		}
	}
	return text
}

func (e *form) appendUser(dst []byte, m protocol.Message) ([]byte, error) {
	if len(m.Parts) == 1 {
		if t, ok := m.Parts[0].Part.(modelmessage.Text); ok {
			if t.Text == "" && !e.opts.Exact {
				return dst, nil
			}
			dst = append(openMessage(dst, "user"), `,"content":`...)
			dst = protocol.AppendString(dst, t.Text)
			return append(e.appendOptions(dst, t.ProviderOptions), '}'), nil
		}
	}
	if len(m.Parts) == 0 && !e.opts.Exact {
		return dst, nil
	}
	dst = append(openMessage(dst, "user"), `,"content":[`...)
	for i, p := range m.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = e.appendUserPart(dst, p); err != nil {
			return dst, err
		}
	}
	dst = append(dst, ']')
	return append(e.appendOptions(dst, m.Options), '}'), nil
}

func (e *form) appendUserPart(dst []byte, p protocol.Part) ([]byte, error) {
	if p.File != nil {
		return e.appendFile(dst, p.File)
	}
	t, ok := p.Part.(modelmessage.Text)
	if !ok {
		return dst, fmt.Errorf("%w: %s part in a user message", protocol.ErrUnsupported, p.Part.Type())
	}
	return e.appendTextPart(dst, t.Text, t.ProviderOptions), nil
}

func (e *form) appendTextPart(dst []byte, text string, options json.RawMessage) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	dst = protocol.AppendString(dst, text)
	return append(e.appendOptions(dst, options), '}')
}

// appendFile appends a file as the kind of part for its media type. A file that cannot be sent is
// an error if exact, a note otherwise.
func (e *form) appendFile(dst []byte, f *protocol.File) ([]byte, error) {
	start := len(dst)
	dst, err := e.appendFilePart(dst, f)
	if err == nil || e.opts.Exact {
		return dst, err
	}
	return e.appendTextPart(dst[:start], f.Note(), nil), nil
}

func (e *form) appendFilePart(dst []byte, f *protocol.File) ([]byte, error) {
	switch {
	case f.Missing:
		return dst, fmt.Errorf("%w: links to %s files", protocol.ErrUnsupported, f.MediaType)
	case strings.HasPrefix(f.MediaType, "image/"):
		return e.appendImage(dst, f), nil
	case strings.HasPrefix(f.MediaType, "audio/"):
		return e.appendAudio(dst, f)
	case f.MediaType == "application/pdf":
		return e.appendPDF(dst, f)
	case strings.HasPrefix(f.MediaType, "text/"):
		text := f.Link
		if text == "" {
			b, err := f.Decoded()
			if err != nil {
				return dst, err
			}
			text = string(bytes.TrimPrefix(b, []byte("\uFEFF")))
		}
		return e.appendTextPart(dst, text, f.Options), nil
	default:
		return dst, fmt.Errorf("%w: file part media type %s", protocol.ErrUnsupported, f.MediaType)
	}
}

func (e *form) appendImage(dst []byte, f *protocol.File) []byte {
	dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
	if f.Link != "" {
		dst = protocol.AppendString(dst, f.Link)
	} else {
		mediaType := f.MediaType
		if mediaType == "image/*" {
			mediaType = "image/jpeg"
		}
		dst = protocol.AppendString(dst, f.DataURL(mediaType))
	}
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.Options), '}')
}

func (e *form) appendAudio(dst []byte, f *protocol.File) ([]byte, error) {
	if f.Link != "" {
		return dst, fmt.Errorf("%w: audio file parts with URLs", protocol.ErrUnsupported)
	}
	var format string
	switch f.MediaType {
	case "audio/wav":
		format = "wav"
	case "audio/mp3", "audio/mpeg":
		format = "mp3"
	default:
		return dst, fmt.Errorf("%w: audio media type %s", protocol.ErrUnsupported, f.MediaType)
	}
	dst = append(dst, `{"type":"input_audio","input_audio":{"data":`...)
	dst = protocol.AppendString(dst, f.Encoded())
	dst = protocol.AppendString(protocol.AppendMember(dst, "format"), format)
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.Options), '}'), nil
}

func (e *form) appendPDF(dst []byte, f *protocol.File) ([]byte, error) {
	if f.Link != "" {
		return dst, fmt.Errorf("%w: PDF file parts with URLs", protocol.ErrUnsupported)
	}
	dst = append(dst, `{"type":"file","file":{"filename":`...)
	dst = protocol.AppendString(dst, f.Filename.Or("document.pdf"))
	dst = protocol.AppendString(protocol.AppendMember(dst, "file_data"), f.DataURL("application/pdf"))
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.Options), '}'), nil
}

// appendAssistant joins the texts of an answer. Files, and results of calls that a provider ran
// itself, are not sent back.
func (e *form) appendAssistant(dst []byte, m protocol.Message) []byte {
	start, calls := len(dst), 0
	text := textOf[modelmessage.Text](m)
	for _, p := range m.Parts {
		if _, ok := p.Part.(modelmessage.ToolCall); ok {
			calls++
		}
	}
	dst = append(openMessage(dst, "assistant"), `,"content":`...)
	switch {
	case text == "" && calls == 0 && !e.opts.Exact:
		return dst[:start]
	case text == "" && calls > 0:
		dst = append(dst, "null"...)
	default:
		dst = protocol.AppendString(dst, text)
	}
	reasoning := textOf[modelmessage.Reasoning](m)
	if e.TakesThought(protocol.Thought) && (reasoning != "" || !e.TakesThought(protocol.Unthought)) {
		dst = protocol.AppendString(protocol.AppendMember(dst, "reasoning_content"), reasoning)
	}
	if calls > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		dst = e.appendCalls(dst, m)
		dst = append(dst, ']')
	}
	return append(e.appendOptions(dst, m.Options), '}')
}

func (e *form) appendCalls(dst []byte, m protocol.Message) []byte {
	first := true
	for _, p := range m.Parts {
		call, ok := p.Part.(modelmessage.ToolCall)
		if !ok {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"id":`...)
		dst = protocol.AppendString(dst, e.callID(call.ToolCallID))
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = protocol.AppendString(dst, call.ToolName)
		dst = e.appendArguments(dst, call.Input)
		dst = append(dst, '}')
		dst = e.appendOptions(dst, call.ProviderOptions)
		dst = append(e.appendSignature(dst, call.ProviderOptions, first), '}')
		first = false
	}
	return dst
}

func (e *form) appendArguments(dst []byte, input json.RawMessage) []byte {
	switch {
	case len(input) > 0 && (e.opts.Exact || json.Valid(input)):
		return protocol.AppendQuotedJSON(protocol.AppendMember(dst, "arguments"), input)
	case e.opts.Exact:
		return dst
	default:
		return append(dst, `,"arguments":"{}"`...)
	}
}

func (e *form) appendResults(dst []byte, m protocol.Message) []byte {
	placeholder := protocol.EmptyResult
	if e.opts.Exact {
		placeholder = ""
	}
	for _, p := range m.Parts {
		result, ok := p.Part.(modelmessage.ToolResult)
		if !ok {
			continue
		}
		dst = append(openMessage(dst, "tool"), `,"tool_call_id":`...)
		dst = protocol.AppendString(dst, e.callID(result.ToolCallID))
		dst = protocol.AppendOutput(protocol.AppendMember(dst, "content"), result.Output, placeholder)
		dst = append(e.appendOptions(dst, result.ProviderOptions), '}')
	}
	return dst
}

// appendOptions appends the fields of our provider options, in order. A field that would replace
// one of the protocol's own is omitted, unless exact.
func (e *form) appendOptions(dst []byte, options json.RawMessage) []byte {
	if protocol.IsNull(options) || !gjson.ValidBytes(options) {
		return dst
	}
	lenient.Object(gjson.ParseBytes(options).Get(optionsKey)).ForEach(func(name, value gjson.Result) bool {
		if s := lenient.String(name); (e.opts.Exact || !reserved(s)) && utf8.ValidString(s) {
			dst = modelmessage.AppendJSON(protocol.AppendMember(dst, s), []byte(value.Raw))
		}
		return true
	})
	return dst
}

func reserved(name string) bool {
	switch name {
	case "role", "content", "type", "text", "id", "function", "tool_calls", "tool_call_id", "reasoning_content", "image_url", "input_audio", "file":
		return true
	default:
		return false
	}
}

// unsigned is sent instead of a signature with a call that another model has made.
const unsigned = "skip_thought_signature_validator"

// appendSignature appends the thought signature that some models expect with a call, at least with the first of an
// answer.
func (e *form) appendSignature(dst []byte, options json.RawMessage, first bool) []byte {
	signature := ""
	if first && !e.TakesThought(protocol.Unsigned) {
		signature = unsigned
	}
	if gjson.ValidBytes(options) {
		signature = cmp.Or(lenient.String(gjson.ParseBytes(options).Get("google.thoughtSignature")), signature)
	}
	if signature == "" || !e.TakesThought(protocol.Signed) {
		return dst
	}
	dst = append(dst, `,"extra_content":{"google":{"thought_signature":`...)
	return append(protocol.AppendString(dst, signature), '}', '}')
}
