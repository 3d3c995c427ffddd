package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// providerPrompt is what the SDK passes to a provider: model messages without empty texts and
// without data for people, the results of calls in one message, and an error for calls without an
// answer.
func providerPrompt(system *string, messages []modelmessage.Message) (json.RawMessage, error) {
	if err := answeredCalls(messages); err != nil {
		return nil, err
	}
	var out []modelmessage.Message
	if system != nil {
		out = append(out, modelmessage.Message{Role: modelmessage.RoleSystem, Text: *system})
	}
	for _, m := range messages {
		if m.Role == modelmessage.RoleSystem {
			out = append(out, m)
			continue
		}
		kept := []modelmessage.Part{}
		for _, p := range m.Parts {
			if !droppedPart(m.Role, p) {
				kept = append(kept, p)
			}
		}
		m.Parts = kept
		last := len(out) - 1
		switch {
		case m.Role == modelmessage.RoleTool && last >= 0 && out[last].Role == m.Role:
			out[last].Parts = append(out[last].Parts, kept...)
		case m.Role == modelmessage.RoleTool && len(kept) == 0:
		default:
			out = append(out, m)
		}
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return withFiles(raw)
}

// withFiles converts files to the form that providers get: the contents of a data URL, and links
// unchanged.
func withFiles(prompt json.RawMessage) (json.RawMessage, error) {
	var list []map[string]any
	if err := json.Unmarshal(prompt, &list); err != nil {
		return nil, err
	}
	for _, m := range list {
		parts, _ := m["content"].([]any)
		for _, part := range parts {
			p, _ := part.(map[string]any)
			if link, ok := p["data"].(string); ok && p["type"] == "file" {
				fileData(p, link)
			}
		}
	}
	return json.Marshal(list)
}

func fileData(p map[string]any, link string) {
	head, data, isData := strings.Cut(link, ",")
	switch {
	case strings.HasPrefix(link, "data:") && isData:
		mediaType, _, _ := strings.Cut(strings.TrimPrefix(head, "data:"), ";")
		if p["data"] = data; mediaType != "" {
			p["mediaType"] = mediaType
		}
	case strings.HasPrefix(link, "http:"), strings.HasPrefix(link, "https:"):
		p["data"] = map[string]any{"$url": link}
	}
}

func droppedPart(role modelmessage.Role, p modelmessage.Part) bool {
	if text, ok := p.(modelmessage.Text); ok {
		return text.Text == "" && (role == modelmessage.RoleUser || text.ProviderOptions == nil)
	}
	if r, ok := p.(modelmessage.ApprovalResponse); ok {
		return !r.ProviderExecuted.Value
	}
	_, asks := p.(modelmessage.ApprovalRequest)
	return asks
}

func answeredCalls(messages []modelmessage.Message) error {
	var open []string
	missing := func() error {
		if len(open) > 0 {
			return fmt.Errorf("Tool result is missing for tool call %s.", open[0]) //nolint:revive // the SDK's words
		}
		return nil
	}
	for _, m := range messages {
		if m.Role == modelmessage.RoleUser || m.Role == modelmessage.RoleSystem {
			if err := missing(); err != nil {
				return err
			}
		}
		for _, p := range m.Parts {
			if c, ok := p.(modelmessage.ToolCall); ok && !c.ProviderExecuted.Value {
				open = append(open, c.ToolCallID)
			}
			if r, ok := p.(modelmessage.ToolResult); ok {
				open = slices.DeleteFunc(open, func(id string) bool { return id == r.ToolCallID })
			}
		}
	}
	return missing()
}

// validated is the history as a server of the SDK accepts it.
func (s *server) validated(messages []uimessage.Message) ([]uimessage.Message, *fault) {
	if s.spec.Entry == "streamText" {
		return messages, nil
	}
	opts := conformancetest.ValidateOptions{}
	if s.tools != nil {
		opts.Tools = map[string]conformancetest.ToolSchemas{}
	}
	for _, t := range s.tools {
		check := t.engineTool(s.t).Check
		opts.Tools[t.name] = conformancetest.ToolSchemas{Input: func(v json.RawMessage) error {
			if v == nil {
				v = json.RawMessage("null")
			}
			return check(t.name, v)
		}}
	}
	list, err := conformancetest.Validate(encode(s.t, messages), opts)
	if err != nil {
		return nil, &fault{Name: "AI_TypeValidationError", Message: err.Error()}
	}
	return list, nil
}
