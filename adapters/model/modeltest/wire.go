package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// wireBody is a chat-completions request.
type wireBody struct {
	Model               string        `json:"model"`
	Messages            []wireMessage `json:"messages"`
	Stream              bool          `json:"stream"`
	MaxTokens           int           `json:"max_tokens"`
	MaxCompletionTokens int           `json:"max_completion_tokens"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	PromptCacheKey string          `json:"prompt_cache_key"`

	body []byte // as it was sent
}

// prompt is what the model reads, in the order in which it is cached, without the end of the list of messages.
func (b wireBody) prompt() []byte {
	var list struct {
		Tools    json.RawMessage `json:"tools"`
		Messages json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(b.body, &list) // the whole body was decoded
	var out bytes.Buffer
	_ = json.Compact(&out, list.Tools) // no tools are no JSON
	_ = json.Compact(&out, list.Messages)
	return bytes.TrimSuffix(out.Bytes(), []byte("]"))
}

type wireMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type wirePart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// errBody is wrapped by errors about bodies that are not a request.
var errBody = errors.New("not a chat-completions request")

// StrictBody is [Strict] for the body of a chat-completions request: what a real
// provider sees. Results must have content here.
func StrictBody(body []byte) error {
	b, err := decodeBody(body)
	if err != nil {
		return err
	}
	c := newChecker()
	turns := make([]turn, 0, len(b.Messages))
	for i, m := range b.Messages {
		turns = append(turns, c.wireTurn(i, m))
	}
	tools := make([]offer, len(b.Tools))
	for i, t := range b.Tools {
		tools[i] = offer{t.Function.Name, t.Function.Parameters}
		if t.Type != "function" {
			c.faults = append(c.faults, fmt.Errorf("%s: type %q", ruleTools, t.Type))
		}
	}
	c.check(turns, tools, b.choice())
	if b.Model == "" {
		c.faults = append(c.faults, errors.New("no model is named"))
	}
	return errors.Join(c.faults...)
}

func decodeBody(body []byte) (wireBody, error) {
	var b wireBody
	if err := json.Unmarshal(body, &b); err != nil {
		return b, fmt.Errorf("%w: %w", errBody, err)
	}
	return b, nil
}

func (c *checker) wireTurn(i int, m wireMessage) turn {
	t := turn{role: m.Role, answer: m.ToolCallID}
	switch {
	case len(m.Content) == 0:
		c.fault(i, ruleContent, "no content member")
	case m.Content[0] == '"':
		var text string
		_ = json.Unmarshal(m.Content, &text) // it is a valid string: the whole body was decoded
		t.texts = []string{text}
		if m.Role == "tool" && text == "" {
			c.fault(i, ruleContent, "empty result")
		}
	case m.Content[0] == '[':
		c.wireParts(i, m.Content, &t)
	case string(m.Content) != "null" || m.Role != "assistant":
		c.fault(i, ruleContent, "content is %s", m.Content)
	}
	for _, call := range m.ToolCalls {
		if call.Type != "function" {
			c.fault(i, ruleCall, "call %q of type %q", call.ID, call.Type)
		}
		t.calls = append(t.calls, turnCall{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return t
}

func (c *checker) wireParts(i int, content json.RawMessage, t *turn) {
	var parts []wirePart
	if err := json.Unmarshal(content, &parts); err != nil {
		c.fault(i, ruleContent, "bad parts: %v", err)
		return
	}
	for _, part := range parts {
		switch part.Type {
		case "text":
			t.texts = append(t.texts, part.Text)
		case "image_url", "input_audio", "file":
			t.others++
		default:
			c.fault(i, ruleContent, "part of type %q", part.Type)
		}
	}
}

func (b wireBody) choice() string {
	var word string
	if len(b.ToolChoice) == 0 || json.Unmarshal(b.ToolChoice, &word) == nil {
		return word
	}
	var tool struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(b.ToolChoice, &tool) != nil {
		return string(b.ToolChoice)
	}
	return "tool:" + tool.Function.Name
}

// request converts the body for the server's model. Pictures and
// files are left out.
func (b wireBody) request() model.Request {
	req := model.Request{MaxOutputTokens: max(b.MaxTokens, b.MaxCompletionTokens), ToolChoice: b.choice()}
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters})
	}
	names := map[string]string{}
	for i, m := range b.Messages {
		if i == 0 && m.Role == "system" {
			req.System = m.text()
			continue
		}
		req.Messages = append(req.Messages, m.message(names))
	}
	return req
}

func (m wireMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var texts []string
	for _, part := range m.parts() {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "")
}

func (m wireMessage) parts() []wirePart {
	var parts []wirePart
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil
	}
	return parts
}

// message converts m to a model message; names holds the tool of every call.
func (m wireMessage) message(names map[string]string) modelmessage.Message {
	out := modelmessage.Message{Role: modelmessage.Role(m.Role)}
	switch out.Role {
	case modelmessage.RoleTool:
		result := modelmessage.ToolResult{ToolCallID: m.ToolCallID, ToolName: names[m.ToolCallID]}
		result.Output = modelmessage.Output{Type: modelmessage.OutputText, Text: m.text()}
		out.Parts = []modelmessage.Part{result}
	case modelmessage.RoleAssistant:
		if m.Reasoning != "" {
			out.Parts = append(out.Parts, modelmessage.Reasoning{Text: m.Reasoning})
		}
		if text := m.text(); text != "" {
			out.Parts = append(out.Parts, modelmessage.Text{Text: text})
		}
		for _, call := range m.ToolCalls {
			names[call.ID] = call.Function.Name
			out.Parts = append(out.Parts, modelmessage.ToolCall{ToolCallID: call.ID, ToolName: call.Function.Name, Input: json.RawMessage(call.Function.Arguments)})
		}
	case modelmessage.RoleSystem, modelmessage.RoleUser:
		for _, part := range m.parts() {
			if part.Type == "text" {
				out.Parts = append(out.Parts, modelmessage.Text{Text: part.Text})
			}
		}
		if out.Parts == nil {
			out.Text = m.text()
		}
	}
	return out
}
