package anthropictest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// object is a JSON object with its members as they were sent.
type object map[string]json.RawMessage

// has reports whether a member is there and not null, which means the same as absent.
func (o object) has(name string) bool {
	v, ok := o[name]
	return ok && string(v) != "null"
}

// text returns a member that is a string, otherwise nothing.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// object returns a member that is an object, otherwise nothing.
func (o object) object(name string) object {
	var out object
	if json.Unmarshal(o[name], &out) != nil {
		return nil
	}
	return out
}

func (o object) content() (content, error) {
	var c content
	if !o.has("content") {
		return nil, nil
	}
	err := json.Unmarshal(o["content"], &c)
	return c, err
}

// content is a list of blocks. A string is shorthand for one text block.
type content []object

func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*c = content{{"type": json.RawMessage(`"text"`), "text": slices.Clone(b)}}
		return nil
	}
	return json.Unmarshal(b, (*[]object)(c))
}

func (c content) text() string {
	var out strings.Builder
	for _, b := range c {
		out.WriteString(b.text("text"))
	}
	return out.String()
}

type message struct {
	Role    string
	Content content
	fields  object
}

func (m *message) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, &m.fields)
	if err == nil {
		m.Role = m.fields.text("role")
		m.Content, err = m.fields.content()
	}
	return err
}

// wireBody is a request to create a message.
type wireBody struct {
	fields       object
	Model        string    `json:"model"`
	MaxTokens    int       `json:"max_tokens"`
	Stream       bool      `json:"stream"`
	System       content   `json:"system"`
	Messages     []message `json:"messages"`
	Tools        []object  `json:"tools"`
	ToolChoice   object    `json:"tool_choice"`
	Thinking     object    `json:"thinking"`
	OutputConfig object    `json:"output_config"`
	Temperature  *float64  `json:"temperature"`
	TopP         *float64  `json:"top_p"`
}

// errBody is wrapped by errors about bodies that are not a request.
var errBody = errors.New("not a Messages request")

func decode(body []byte) (wireBody, error) {
	var b wireBody
	if !utf8.Valid(body) {
		return b, fmt.Errorf("%w: not UTF-8", errBody)
	}
	if err := errors.Join(json.Unmarshal(body, &b), json.Unmarshal(body, &b.fields)); err != nil {
		return b, fmt.Errorf("%w: %w", errBody, err)
	}
	return b, nil
}

// thinks reports whether the request turns thinking on.
func (b wireBody) thinks() bool {
	kind := b.Thinking.text("type")
	return kind != "" && kind != "disabled"
}

// piece is one block of a request and where it is.
type piece struct {
	path    string
	section string // tools, system, or the role of the message
	block   object
}

// pieces returns all blocks in the order in which they are rendered into the prompt.
func (b wireBody) pieces() []piece {
	var out []piece
	for i, t := range b.Tools {
		out = append(out, piece{fmt.Sprintf("tools.%d", i), "tools", t})
	}
	for i, s := range b.System {
		out = append(out, piece{fmt.Sprintf("system.%d", i), "system", s})
	}
	for i, m := range b.Messages {
		for j, block := range m.Content {
			out = append(out, piece{fmt.Sprintf("messages.%d.content.%d", i, j), m.Role, block})
		}
	}
	return out
}

// request converts the body for the server's model. Tools that the service runs itself and
// their results are left out.
func (b wireBody) request() model.Request {
	req := model.Request{System: b.System.text(), MaxOutputTokens: b.MaxTokens, ToolChoice: b.ToolChoice.text("type")}
	switch req.ToolChoice {
	case "any":
		req.ToolChoice = "required"
	case "tool":
		req.ToolChoice = "tool:" + b.ToolChoice.text("name")
	}
	for _, t := range b.Tools {
		if t.has("input_schema") {
			req.Tools = append(req.Tools, model.ToolSpec{Name: t.text("name"), Description: t.text("description"), InputSchema: t["input_schema"]})
		}
	}
	names := map[string]string{}
	for _, m := range b.Messages {
		req.Messages = append(req.Messages, m.convert(names)...)
	}
	return req
}

// convert returns the results in the message and its other content; names holds the tool of every call.
func (m message) convert(names map[string]string) []modelmessage.Message {
	var results, parts []modelmessage.Part
	for _, b := range m.Content {
		switch b.text("type") {
		case "text":
			parts = append(parts, modelmessage.Text{Text: b.text("text")})
		case "image", "document":
			source := b.object("source")
			parts = append(parts, modelmessage.File{MediaType: source.text("media_type"), Data: cmp.Or(source.text("data"), source.text("url"))})
		case "thinking":
			parts = append(parts, modelmessage.Reasoning{Text: b.text("thinking")})
		case "tool_use":
			names[b.text("id")] = b.text("name")
			parts = append(parts, modelmessage.ToolCall{ToolCallID: b.text("id"), ToolName: b.text("name"), Input: b["input"]})
		case "tool_result":
			results = append(results, b.result(names))
		}
	}
	var out []modelmessage.Message
	if len(results) > 0 {
		out = append(out, modelmessage.Message{Role: modelmessage.RoleTool, Parts: results})
	}
	if len(parts) > 0 {
		out = append(out, modelmessage.Message{Role: modelmessage.Role(m.Role), Parts: parts})
	}
	return out
}

// result is a result block with the text of its content.
func (o object) result(names map[string]string) modelmessage.ToolResult {
	id := o.text("tool_use_id")
	output := modelmessage.Output{Type: modelmessage.OutputText}
	if string(o["is_error"]) == "true" {
		output.Type = modelmessage.OutputErrorText
	}
	if c, err := o.content(); err == nil {
		output.Text = c.text()
	}
	return modelmessage.ToolResult{ToolCallID: id, ToolName: names[id], Output: output}
}
