package modelmessage

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// What a model reads instead of an outcome that it cannot or must not see.
const (
	// TextDenied replaces the result of a call that was denied without a reason.
	TextDenied = "Tool call execution denied."
	// TextVanished replaces the output of a tool that no longer exists.
	TextVanished = "Tool output omitted because the tool is no longer available."
	// textUnknown replaces the text of an error that has none.
	textUnknown = "unknown error"
)

// ErrNoParts is the error of a system or user message without parts.
var ErrNoParts = errors.New("message has no parts")

// RoleError is the error of a UI message with a role that no model message has.
type RoleError struct {
	Role uimessage.Role
}

// Error implements error.
func (e *RoleError) Error() string { return fmt.Sprintf("unsupported role %q", string(e.Role)) }

// CallResult is the input of a tool's own conversion of its output. Raw values are nil
// when absent.
type CallResult struct {
	ToolCallID string
	Input      json.RawMessage
	Output     json.RawMessage
}

// Tool is what a conversion needs to know of a tool.
type Tool struct {
	// ToModelOutput converts the output for the model. If it is nil, strings become text
	// and everything else JSON.
	ToModelOutput func(CallResult) (Output, error)
}

// Options change a conversion. The zero value is the ordinary one.
type Options struct {
	// IgnoreIncompleteToolCalls leaves out calls without an outcome or an answered
	// approval.
	IgnoreIncompleteToolCalls bool
	// Tools are the existing tools by name.
	Tools map[string]Tool
	// ConvertDataPart makes a Text or File of a data part, or nil to leave it out.
	ConvertDataPart func(uimessage.Data) Part
}

// AppendConverted converts one UI message as convertToModelMessages of the SDK does: a
// system or user message to one message, and an assistant's to at most two for every step.
// The result shares raw values with its input and is nil on an error. It depends on nothing
// but the message and the options, so it may be kept as long as they do not change.
func AppendConverted(dst []Message, m *uimessage.Message, opts Options) ([]Message, error) {
	switch m.Role {
	case uimessage.RoleSystem:
		return appendSystem(dst, m)
	case uimessage.RoleUser:
		return appendUser(dst, m, opts)
	case uimessage.RoleAssistant:
		return appendAssistant(dst, m.Parts, opts)
	default:
		return nil, &RoleError{Role: m.Role}
	}
}

// appendSystem joins the texts. Their provider metadata is merged one level deep.
func appendSystem(dst []Message, m *uimessage.Message) ([]Message, error) {
	if m.Parts == nil {
		return nil, ErrNoParts
	}
	var text strings.Builder
	var metadata []uimessage.Member
	for _, part := range m.Parts {
		if p, ok := part.(uimessage.Text); ok {
			text.WriteString(p.Text)
			metadata = mergeMembers(metadata, p.ProviderMetadata)
		}
	}
	message := Message{Role: RoleSystem, Text: text.String()}
	if len(metadata) > 0 {
		message.ProviderOptions = rawjson.AppendObject(nil, metadata)
	}
	return append(dst, message), nil
}

func mergeMembers(list []uimessage.Member, object json.RawMessage) []uimessage.Member {
next:
	for k, v := range rawjson.Members(object) {
		for i := range list {
			if list[i].Name == string(k) {
				list[i].Value = v
				continue next
			}
		}
		list = append(list, uimessage.Member{Name: string(k), Value: v})
	}
	return list
}

func appendUser(dst []Message, m *uimessage.Message, opts Options) ([]Message, error) {
	if m.Parts == nil {
		return nil, ErrNoParts
	}
	content := make([]Part, 0, len(m.Parts))
	for _, part := range m.Parts {
		switch p := part.(type) {
		case uimessage.Text:
			content = append(content, Text{Text: p.Text, ProviderOptions: rawjson.NotNull(p.ProviderMetadata)})
		case uimessage.File:
			content = append(content, fileOf(p))
		case uimessage.Data:
			content = appendData(content, p, opts)
		case uimessage.Reasoning, uimessage.Tool, uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart, uimessage.Unknown:
		}
	}
	return append(dst, Message{Role: RoleUser, Parts: content}), nil
}

// appendAssistant converts step by step; step-start parts are the borders.
func appendAssistant(dst []Message, parts []uimessage.Part, opts Options) ([]Message, error) {
	for start := 0; start < len(parts); {
		end := start
		for end < len(parts) && !isStepStart(parts[end]) {
			end++
		}
		var err error
		if dst, err = appendStep(dst, parts[start:end], opts); err != nil {
			return nil, err
		}
		start = end + 1
	}
	return dst, nil
}

func isStepStart(p uimessage.Part) bool {
	_, ok := p.(uimessage.StepStart)
	return ok
}

// appendStep adds what the model said in a step, followed by one message with the
// outcomes of its calls.
func appendStep(dst []Message, parts []uimessage.Part, opts Options) ([]Message, error) {
	said := make([]Part, 0, len(parts)+1)
	var became []Part
	for _, part := range parts {
		var err error
		switch p := part.(type) {
		case uimessage.Text:
			said = append(said, Text{Text: p.Text, ProviderOptions: rawjson.NotNull(p.ProviderMetadata)})
		case uimessage.Reasoning:
			said = append(said, Reasoning{Text: p.Text, ProviderOptions: p.ProviderMetadata})
		case uimessage.File:
			said = append(said, fileOf(p))
		case uimessage.Data:
			said = appendData(said, p, opts)
		case uimessage.Tool:
			if opts.IgnoreIncompleteToolCalls && incomplete(&p) {
				continue
			}
			if said, err = appendCall(said, &p, opts); err != nil {
				return nil, err
			}
			if became, err = appendOutcome(became, &p, opts); err != nil {
				return nil, err
			}
		case uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart, uimessage.Unknown:
		}
	}
	if len(said) > 0 {
		dst = append(dst, Message{Role: RoleAssistant, Parts: said})
	}
	if len(became) > 0 {
		dst = append(dst, Message{Role: RoleTool, Parts: became})
	}
	return dst, nil
}

// incomplete reports whether a call has neither an outcome nor an answered approval.
func incomplete(p *uimessage.Tool) bool {
	switch p.State {
	case uimessage.ToolOutputAvailable:
		return p.Preliminary.Value
	case uimessage.ToolApprovalResponded, uimessage.ToolOutputError, uimessage.ToolOutputDenied:
		return false
	case uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested:
		return true
	default:
		return true
	}
}

func appendData(content []Part, p uimessage.Data, opts Options) []Part {
	if opts.ConvertDataPart == nil {
		return content
	}
	if converted := opts.ConvertDataPart(p); converted != nil {
		return append(content, converted)
	}
	return content
}

func fileOf(p uimessage.File) File {
	f := File{MediaType: p.MediaType, Data: p.URL, ProviderOptions: rawjson.NotNull(p.ProviderMetadata)}
	if p.Filename.Set {
		f.Filename = &p.Filename.Value
	}
	return f
}
