package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// deniedText is what a model reads if a person denied a call without a reason.
const deniedText = "Tool call execution denied."

// emptyResult replaces a tool result without content, which some servers refuse.
const emptyResult = "(empty result)"

// optionsKey is the field of provider options for this protocol.
const optionsKey = "openaiCompatible"

// encoder writes model messages as chat-completions messages. It is stateless: equal messages give
// equal bytes.
type encoder struct {
	prompter
	// exact follows the SDK exactly. Otherwise messages without content are omitted, empty results
	// and arguments get a placeholder, and files that cannot be shown become a line of text, so
	// that one file never disables a chat.
	exact bool
	sight *sight
	load  func(ctx context.Context, link string) ([]byte, error)
}

// openMessage begins the next message of the array at the end of dst.
func openMessage(dst []byte, role string) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '[' {
		dst = append(dst, ',')
	}
	dst = append(dst, `{"role":"`...)
	return append(append(dst, role...), '"')
}

// appendMessage appends m in the encoding of the protocol to an array of messages; m may become
// none, one or, for tool results, several.
func (e *encoder) appendMessage(ctx context.Context, dst []byte, m modelmessage.Message) ([]byte, error) {
	pm, err := e.message(ctx, m)
	if err != nil {
		return dst, err
	}
	if pm.role == modelmessage.RoleUser {
		if pm, err = e.stored(ctx, pm); err != nil {
			return dst, err
		}
	}
	if e.exact {
		return e.appendExact(dst, pm)
	}
	return e.appendWire(dst, pm)
}

// appendExact appends m as the SDK encodes it: a field of the provider options replaces one of the
// protocol's own. The last of equal names wins.
func (e *encoder) appendExact(dst []byte, pm promptMessage) ([]byte, error) {
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

func (e *encoder) appendWire(dst []byte, pm promptMessage) ([]byte, error) {
	switch pm.role {
	case modelmessage.RoleSystem:
		return e.appendSystem(dst, pm), nil
	case modelmessage.RoleUser:
		return e.appendUser(dst, pm)
	case modelmessage.RoleAssistant:
		return e.appendAssistant(dst, pm), nil
	case modelmessage.RoleTool:
		return e.appendResults(dst, pm), nil
	default:
		return dst, fmt.Errorf("%w: role %q", errUnsupported, pm.role)
	}
}

// appendSystemText appends the system text of a request.
func appendSystemText(dst []byte, text string) []byte {
	dst = append(openMessage(dst, "system"), `,"content":`...)
	return append(appendString(dst, text), '}')
}

func (e *encoder) appendSystem(dst []byte, m promptMessage) []byte {
	text := textOf[modelmessage.Text](m)
	if text == "" && !e.exact {
		return dst
	}
	dst = append(openMessage(dst, "system"), `,"content":`...)
	dst = appendString(dst, text)
	return append(e.appendOptions(dst, m.options), '}')
}

// textOf joins the texts, or the reasoning, of a message.
func textOf[P modelmessage.Text | modelmessage.Reasoning](m promptMessage) (text string) {
	for _, p := range m.parts {
		if part, ok := p.part.(P); ok {
			text += modelmessage.Text(part).Text
		}
	}
	return text
}

func (e *encoder) appendUser(dst []byte, m promptMessage) ([]byte, error) {
	if len(m.parts) == 1 {
		if t, ok := m.parts[0].part.(modelmessage.Text); ok {
			if t.Text == "" && !e.exact {
				return dst, nil
			}
			dst = append(openMessage(dst, "user"), `,"content":`...)
			dst = appendString(dst, t.Text)
			return append(e.appendOptions(dst, t.ProviderOptions), '}'), nil
		}
	}
	if len(m.parts) == 0 && !e.exact {
		return dst, nil
	}
	dst = append(openMessage(dst, "user"), `,"content":[`...)
	for i, p := range m.parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = e.appendUserPart(dst, p); err != nil {
			return dst, err
		}
	}
	dst = append(dst, ']')
	return append(e.appendOptions(dst, m.options), '}'), nil
}

func (e *encoder) appendUserPart(dst []byte, p promptPart) ([]byte, error) {
	if p.file != nil {
		return e.appendFile(dst, p.file)
	}
	t, ok := p.part.(modelmessage.Text)
	if !ok {
		return dst, fmt.Errorf("%w: %s part in a user message", errUnsupported, p.part.Type())
	}
	return e.appendTextPart(dst, t.Text, t.ProviderOptions), nil
}

func (e *encoder) appendTextPart(dst []byte, text string, options json.RawMessage) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	dst = appendString(dst, text)
	return append(e.appendOptions(dst, options), '}')
}

// appendFile appends a file as the kind of part for its media type. A file that cannot be sent is
// an error if exact, a note otherwise.
func (e *encoder) appendFile(dst []byte, f *promptFile) ([]byte, error) {
	start := len(dst)
	dst, err := e.appendFilePart(dst, f)
	if err == nil || e.exact {
		return dst, err
	}
	name := "file"
	if f.filename != nil && *f.filename != "" {
		name = *f.filename
	}
	note := fmt.Sprintf("[%s (%s) cannot be shown to this model]", name, f.mediaType)
	return e.appendTextPart(dst[:start], note, nil), nil
}

func (e *encoder) appendFilePart(dst []byte, f *promptFile) ([]byte, error) {
	switch {
	case f.missing:
		return dst, fmt.Errorf("%w: links to %s files", errUnsupported, f.mediaType)
	case strings.HasPrefix(f.mediaType, "image/"):
		return e.appendImage(dst, f), nil
	case strings.HasPrefix(f.mediaType, "audio/"):
		return e.appendAudio(dst, f)
	case f.mediaType == "application/pdf":
		return e.appendPDF(dst, f)
	case strings.HasPrefix(f.mediaType, "text/"):
		text := f.link
		if text == "" {
			b, err := f.decoded()
			if err != nil {
				return dst, err
			}
			text = string(bytes.TrimPrefix(b, []byte("\uFEFF")))
		}
		return e.appendTextPart(dst, text, f.options), nil
	default:
		return dst, fmt.Errorf("%w: file part media type %s", errUnsupported, f.mediaType)
	}
}

func (e *encoder) appendImage(dst []byte, f *promptFile) []byte {
	dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
	if f.link != "" {
		dst = appendString(dst, f.link)
	} else {
		mediaType := f.mediaType
		if mediaType == "image/*" {
			mediaType = "image/jpeg"
		}
		dst = appendString(dst, f.dataURL(mediaType))
	}
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.options), '}')
}

func (e *encoder) appendAudio(dst []byte, f *promptFile) ([]byte, error) {
	if f.link != "" {
		return dst, fmt.Errorf("%w: audio file parts with URLs", errUnsupported)
	}
	var format string
	switch f.mediaType {
	case "audio/wav":
		format = "wav"
	case "audio/mp3", "audio/mpeg":
		format = "mp3"
	default:
		return dst, fmt.Errorf("%w: audio media type %s", errUnsupported, f.mediaType)
	}
	dst = append(dst, `{"type":"input_audio","input_audio":{"data":`...)
	dst = appendString(dst, f.encoded())
	dst = appendString(appendMember(dst, "format"), format)
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.options), '}'), nil
}

func (e *encoder) appendPDF(dst []byte, f *promptFile) ([]byte, error) {
	if f.link != "" {
		return dst, fmt.Errorf("%w: PDF file parts with URLs", errUnsupported)
	}
	name := "document.pdf"
	if f.filename != nil {
		name = *f.filename
	}
	dst = append(dst, `{"type":"file","file":{"filename":`...)
	dst = appendString(dst, name)
	dst = appendString(appendMember(dst, "file_data"), f.dataURL("application/pdf"))
	dst = append(dst, '}')
	return append(e.appendOptions(dst, f.options), '}'), nil
}

// appendAssistant joins the texts of an answer. Files, and results of calls that a provider ran
// itself, are not sent back.
func (e *encoder) appendAssistant(dst []byte, m promptMessage) []byte {
	start, calls := len(dst), 0
	text := textOf[modelmessage.Text](m)
	for _, p := range m.parts {
		if _, ok := p.part.(modelmessage.ToolCall); ok {
			calls++
		}
	}
	dst = append(openMessage(dst, "assistant"), `,"content":`...)
	switch {
	case text == "" && calls == 0 && !e.exact:
		return dst[:start]
	case text == "" && calls > 0:
		dst = append(dst, "null"...)
	default:
		dst = appendString(dst, text)
	}
	if reasoning := textOf[modelmessage.Reasoning](m); reasoning != "" {
		dst = appendString(appendMember(dst, "reasoning_content"), reasoning)
	}
	if calls > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		dst = e.appendCalls(dst, m)
		dst = append(dst, ']')
	}
	return append(e.appendOptions(dst, m.options), '}')
}

func (e *encoder) appendCalls(dst []byte, m promptMessage) []byte {
	first := true
	for _, p := range m.parts {
		call, ok := p.part.(modelmessage.ToolCall)
		if !ok {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, `{"id":`...)
		dst = appendString(dst, call.ToolCallID)
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = appendString(dst, call.ToolName)
		dst = e.appendArguments(dst, call.Input)
		dst = append(dst, '}')
		dst = e.appendOptions(dst, call.ProviderOptions)
		dst = append(appendSignature(dst, call.ProviderOptions), '}')
	}
	return dst
}

func (e *encoder) appendArguments(dst []byte, input json.RawMessage) []byte {
	switch {
	case len(input) > 0 && (e.exact || json.Valid(input)):
		return appendQuotedJSON(appendMember(dst, "arguments"), input)
	case e.exact:
		return dst
	default:
		return append(dst, `,"arguments":"{}"`...)
	}
}

func (e *encoder) appendResults(dst []byte, m promptMessage) []byte {
	for _, p := range m.parts {
		result, ok := p.part.(modelmessage.ToolResult)
		if !ok {
			continue
		}
		dst = append(openMessage(dst, "tool"), `,"tool_call_id":`...)
		dst = appendString(dst, result.ToolCallID)
		dst = e.appendOutput(appendMember(dst, "content"), result.Output)
		dst = append(e.appendOptions(dst, result.ProviderOptions), '}')
	}
	return dst
}

func (e *encoder) appendOutput(dst []byte, o modelmessage.Output) []byte {
	text := o.Text
	switch o.Type {
	case modelmessage.OutputText, modelmessage.OutputErrorText:
	case modelmessage.OutputExecutionDenied:
		text = deniedText
		if o.Reason != nil {
			text = *o.Reason
		}
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent:
		if len(o.JSON) > 0 {
			return appendQuotedJSON(dst, o.JSON)
		}
	}
	if text == "" && !e.exact {
		text = emptyResult
	}
	return appendString(dst, text)
}

// appendOptions appends the fields of our provider options, in order. A field that would replace
// one of the protocol's own is omitted, unless exact.
func (e *encoder) appendOptions(dst []byte, options json.RawMessage) []byte {
	if isNull(options) || !gjson.ValidBytes(options) {
		return dst
	}
	lenient.Object(gjson.ParseBytes(options).Get(optionsKey)).ForEach(func(name, value gjson.Result) bool {
		if s := lenient.String(name); (e.exact || !reserved(s)) && utf8.ValidString(s) {
			dst = modelmessage.AppendJSON(appendMember(dst, s), []byte(value.Raw))
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

// appendSignature appends the thought signature that some models expect with a call.
func appendSignature(dst []byte, options json.RawMessage) []byte {
	if isNull(options) || !gjson.ValidBytes(options) {
		return dst
	}
	signature := lenient.String(gjson.ParseBytes(options).Get("google.thoughtSignature"))
	if signature == "" {
		return dst
	}
	dst = append(dst, `,"extra_content":{"google":{"thought_signature":`...)
	return append(appendString(dst, signature), '}', '}')
}
