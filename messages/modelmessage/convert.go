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

// AppendConverted converts one UI message as convertToModelMessages of the SDK does: a
// system or user message to one message, and an assistant's to at most two for every step.
// The result shares raw values with its input and is nil on an error.
func AppendConverted(dst []Message, m *uimessage.Message) ([]Message, error) {
	switch m.Role {
	case uimessage.RoleSystem:
		return appendSystem(dst, m)
	case uimessage.RoleUser:
		return appendUser(dst, m)
	case uimessage.RoleAssistant:
		return appendAssistant(dst, m.Parts), nil
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

func appendUser(dst []Message, m *uimessage.Message) ([]Message, error) {
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
		case uimessage.Data, uimessage.Reasoning, uimessage.Tool, uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart, uimessage.Unknown:
		}
	}
	return append(dst, Message{Role: RoleUser, Parts: content}), nil
}

// appendAssistant converts step by step; step-start parts are the borders.
func appendAssistant(dst []Message, parts []uimessage.Part) []Message {
	for start := 0; start < len(parts); {
		end := start
		for end < len(parts) && !isStepStart(parts[end]) {
			end++
		}
		dst = appendStep(dst, parts[start:end])
		start = end + 1
	}
	return dst
}

func isStepStart(p uimessage.Part) bool {
	_, ok := p.(uimessage.StepStart)
	return ok
}

// appendStep adds what the model said in a step, followed by one message with the
// outcomes of its calls.
func appendStep(dst []Message, parts []uimessage.Part) []Message {
	said := make([]Part, 0, len(parts)+1)
	var became []Part
	for _, part := range parts {
		switch p := part.(type) {
		case uimessage.Text:
			said = append(said, Text{Text: p.Text, ProviderOptions: rawjson.NotNull(p.ProviderMetadata)})
		case uimessage.Reasoning:
			said = append(said, Reasoning{Text: p.Text, ProviderOptions: p.ProviderMetadata})
		case uimessage.File:
			said = append(said, fileOf(p))
		case uimessage.Tool:
			said = appendCall(said, &p)
			became = appendOutcome(became, &p)
		case uimessage.Data, uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart, uimessage.Unknown:
		}
	}
	if len(said) > 0 {
		dst = append(dst, Message{Role: RoleAssistant, Parts: said})
	}
	if len(became) > 0 {
		dst = append(dst, Message{Role: RoleTool, Parts: became})
	}
	return dst
}

func fileOf(p uimessage.File) File {
	return File{MediaType: p.MediaType, Filename: p.Filename, Data: p.URL, ProviderOptions: rawjson.NotNull(p.ProviderMetadata)}
}
