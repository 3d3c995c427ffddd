package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	maxTools       = 128      // of one server
	maxPages       = 32       // of one list
	maxToolName    = 128      // bytes
	maxDescription = 8 << 10  // bytes that the model reads
	maxSchema      = 64 << 10 // bytes
	maxTitle       = 120
	maxLine        = 300 // bytes of a reason or an error shown to people
)

// Definition is a tool as described by its server. Title, description and annotations are the server's texts.
type Definition struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// define converts a server's description of a tool. An error says why the tool cannot be used; the definition still
// has the name then.
func define(t *sdk.Tool) (Definition, error) {
	d := Definition{Name: t.Name, Title: t.Title, Description: t.Description}
	switch {
	case t.Name == "":
		return d, errors.New("it has no name")
	case len(t.Name) > maxToolName:
		return d, fmt.Errorf("its name has %d bytes, at most %d", len(t.Name), maxToolName)
	case !utf8.ValidString(t.Name), strings.ContainsFunc(t.Name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == ':' }):
		return d, errors.New("its name holds blanks, colons or control characters")
	}
	var err error
	if d.InputSchema, err = canonicalOf(t.InputSchema); err != nil {
		return d, fmt.Errorf("its input schema cannot be read: %w", err)
	}
	if len(d.InputSchema) > maxSchema {
		return d, fmt.Errorf("its input schema has %d bytes, at most %d", len(d.InputSchema), maxSchema)
	}
	if t.Annotations != nil {
		if d.Annotations, err = canonicalOf(t.Annotations); err != nil {
			return d, fmt.Errorf("its annotations cannot be read: %w", err) // Unreachable: they were JSON
		}
	}
	return d, d.usable()
}

// usable checks that inputs can be validated with the schema.
func (d Definition) usable() error {
	schema, err := tool.NewSchema(d.InputSchema)
	if err != nil {
		return err
	}
	return schema.Compile()
}

// hash is what a pin binds: everything that a model or a person reads about the tool.
func (d Definition) hash() string {
	return digest("tool", d.Name, d.Title, d.Description, string(d.InputSchema), string(d.Annotations))
}

// hints are the server's claims about the tool.
func (d Definition) hints() sdk.ToolAnnotations {
	var a sdk.ToolAnnotations
	if len(d.Annotations) > 0 {
		_ = json.Unmarshal(d.Annotations, &a) // unreadable annotations claim nothing
	}
	return a
}

// title is the tool's name for people.
func (d Definition) title() string {
	for _, t := range []string{d.Title, d.hints().Title} {
		if t = clean(strings.Join(strings.Fields(t), " "), maxTitle); t != "" {
			return t
		}
	}
	return ""
}

// canonical is a JSON text with sorted keys, without whitespace, and with numbers as written.
func canonical(raw []byte) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("there is text after the value")
	}
	return plainjson.Append(nil, v)
}

func canonicalOf(v any) (json.RawMessage, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return canonical(raw)
}

// clean removes invisible characters from a text of a server and limits it to a number of bytes.
func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r), unicode.Is(unicode.Co, r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return tool.Shorten(text, limit)
}
