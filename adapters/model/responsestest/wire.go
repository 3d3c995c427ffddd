package responsestest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// The types of the input items that the fake knows.
const (
	typeMessage   = "message"
	typeCall      = "function_call"
	typeOutput    = "function_call_output"
	typeReasoning = "reasoning"
)

// body is a request. Members that no rule concerns are left out.
type body struct {
	Model           string            `json:"model"`
	Stream          bool              `json:"stream"`
	Store           *bool             `json:"store"`
	Instructions    string            `json:"instructions"`
	Input           json.RawMessage   `json:"input"`
	Tools           []json.RawMessage `json:"tools"`
	ToolChoice      json.RawMessage   `json:"tool_choice"`
	MaxOutputTokens *int              `json:"max_output_tokens"`
	Temperature     any               `json:"temperature"`
	TopP            any               `json:"top_p"`
	TopLogprobs     any               `json:"top_logprobs"`
	Include         []string          `json:"include"`
	PreviousID      any               `json:"previous_response_id"`
	Conversation    any               `json:"conversation"`
	Background      bool              `json:"background"`
	PromptCacheKey  string            `json:"prompt_cache_key"`
	Reasoning       *struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`

	items  []item // of the input
	tools  []tool
	choice string // as in [model.Request]
}

type item struct {
	Type      string          `json:"type"` // empty means a message
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`

	parts []part // of the content, the output or the summary
}

type part struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Refusal  *string `json:"refusal"`
	ImageURL string  `json:"image_url"`
	FileID   string  `json:"file_id"`
	FileURL  string  `json:"file_url"`
	FileData string  `json:"file_data"`
	Filename string  `json:"filename"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// prompt is what the model reads, in the order in which it is cached.
func (b *body) prompt() []byte {
	pieces, list := slices.Clone(b.Tools), []json.RawMessage{b.Input}
	if begins(b.Input, '[') {
		_ = json.Unmarshal(b.Input, &list) // it is a list: the whole body was decoded
	}
	var out bytes.Buffer
	for i, raw := range append(pieces, list...) {
		if i == len(pieces) {
			out.WriteString(b.Instructions)
		}
		_ = json.Compact(&out, raw) // all of it was decoded
	}
	return out.Bytes()
}

// request converts the body for the server's model. Consecutive items that a model produced are one assistant message.
func (b *body) request() model.Request {
	req := model.Request{System: b.Instructions, ToolChoice: b.choice}
	if b.MaxOutputTokens != nil {
		req.MaxOutputTokens = *b.MaxOutputTokens
	}
	for _, t := range b.tools {
		req.Tools = append(req.Tools, model.ToolSpec{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	names := map[string]string{} // of the tools that were called
	for i, it := range b.items {
		if it.Type == typeCall {
			names[it.CallID] = it.Name
		}
		m := it.message(names)
		last := len(req.Messages) - 1
		switch {
		case i == 0 && m.Role == modelmessage.RoleSystem && req.System == "":
			req.System = m.Text
		case last >= 0 && m.Role == modelmessage.RoleAssistant && req.Messages[last].Role == m.Role:
			req.Messages[last].Parts = append(req.Messages[last].Parts, m.Parts...)
		default:
			req.Messages = append(req.Messages, m)
		}
	}
	return req
}

func (it item) message(names map[string]string) modelmessage.Message {
	text := strings.Join(it.texts(), "")
	m := modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{}}
	switch {
	case it.Type == typeReasoning:
		m.Parts = append(m.Parts, modelmessage.Reasoning{Text: text})
	case it.Type == typeCall:
		m.Parts = append(m.Parts, modelmessage.ToolCall{ToolCallID: it.CallID, ToolName: it.Name, Input: json.RawMessage(it.Arguments)})
	case it.Type == typeOutput:
		output := modelmessage.Output{Type: modelmessage.OutputText, Text: text}
		m.Role = modelmessage.RoleTool
		m.Parts = append(m.Parts, modelmessage.ToolResult{ToolCallID: it.CallID, ToolName: names[it.CallID], Output: output})
	case it.Role == "system", it.Role == "developer":
		m = modelmessage.Message{Role: modelmessage.RoleSystem, Text: text}
	default:
		m.Role = modelmessage.Role(it.Role)
		for _, p := range it.parts {
			m.Parts = append(m.Parts, p.message())
		}
	}
	return m
}

func (it item) texts() []string {
	var texts []string
	for _, p := range it.parts {
		if text, ok := p.message().(modelmessage.Text); ok {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

func (p part) message() modelmessage.Part {
	switch {
	case p.Text != nil:
		return modelmessage.Text{Text: *p.Text}
	case p.Refusal != nil:
		return modelmessage.Text{Text: *p.Refusal}
	case p.Type == "input_image":
		return modelmessage.Image{Image: p.ImageURL + p.FileID}
	}
	return modelmessage.File{Filename: uimessage.Some(p.Filename), Data: p.FileData + p.FileURL + p.FileID}
}
