package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Offer are the tools that every request of a chat begins with, and their sum.
type Offer struct {
	Chat   messages.ChatKey `json:"chat"`
	Tools  []Offered        `json:"tools"`
	Tokens int              `json:"tokens"`
	Bytes  int              `json:"bytes"`
}

// Offered is a tool and the size of its JSON in a request.
type Offered struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
}

// Offer measures the named tools as a model gets them.
func (s *Set) Offer(chat messages.ChatKey, names []string, count func(text string) (int, error)) (Offer, error) {
	out := Offer{Chat: chat, Tools: []Offered{}}
	for _, name := range names {
		t, ok := s.Find(name)
		if !ok {
			continue // the tools have just changed
		}
		spec := t.Spec()
		wire, schema := s.Wire(spec)
		raw, err := encode(wire, spec.Description, schema)
		if err != nil {
			return out, fmt.Errorf("encode the tool %s: %w", name, err)
		}
		tokens, err := count(string(raw))
		if err != nil {
			return out, fmt.Errorf("count tokens: %w", err)
		}
		out.Tools = append(out.Tools, Offered{wire, tokens, len(raw)})
		out.Tokens, out.Bytes = out.Tokens+tokens, out.Bytes+len(raw)
	}
	return out, nil
}

// encode is a tool in the form that services get.
func encode(name, description string, schema json.RawMessage) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}{"function", function{name, description, schema}})
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
