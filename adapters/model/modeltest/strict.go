package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// The rules of a strict request, as docs/design/0003-strict-request.md numbers
// and explains them.
const (
	ruleMessages = "S1 at least one message"
	ruleRoles    = "S2 known roles"
	ruleSystem   = "S3 system first"
	ruleContent  = "S4 no empty content"
	ruleCall     = "S5 calls are whole"
	ruleUnique   = "S6 ids are unique"
	ruleAnswered = "S7 calls are answered directly"
	ruleOrphan   = "S8 no orphan results"
	ruleTools    = "S9 tools are well formed"
	ruleChoice   = "S10 known tool choice"
	ruleText     = "S11 valid UTF-8"
)

// turn is one message in the terms of the rules, from a model request or from a body. A tool message with several results
// is several turns.
type turn struct {
	role   string
	texts  []string // every text of the content
	others int      // parts that are no text
	calls  []turnCall
	answer string // the call that a tool turn answers
}

type turnCall struct{ id, name, input string }

// offer is one tool that a request offers.
type offer struct {
	name   string
	schema json.RawMessage
}

// Strict reports every rule of the strictest providers that a request breaks, nil
// if it breaks none. There is no rule about alternation, because merged user turns
// and a leading summary are valid.
func Strict(req model.Request) error {
	c := newChecker()
	var turns []turn
	if req.System != "" {
		turns = append(turns, turn{role: "system", texts: []string{req.System}})
	}
	for i, m := range req.Messages {
		turns = append(turns, c.turnsOf(i, m)...)
	}
	tools := make([]offer, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = offer{t.Name, t.InputSchema}
	}
	c.check(turns, tools, req.ToolChoice)
	return errors.Join(c.faults...)
}

func (c *checker) turnsOf(i int, m modelmessage.Message) []turn {
	t := turn{role: string(m.Role)}
	if m.Parts == nil {
		t.texts = []string{m.Text}
		return []turn{t}
	}
	var results []turn
	for _, part := range m.Parts {
		switch part := part.(type) {
		case modelmessage.Text:
			t.texts = append(t.texts, part.Text)
		case modelmessage.Image, modelmessage.File:
			t.others++
		case modelmessage.ToolCall:
			if part.ProviderExecuted.Value {
				c.fault(i, ruleAnswered, "call %q was run by a provider, its result is not sent", part.ToolCallID)
			}
			t.calls = append(t.calls, turnCall{part.ToolCallID, part.ToolName, string(part.Input)})
		case modelmessage.ToolResult:
			if m.Role == modelmessage.RoleTool {
				c.output(i, part)
				results = append(results, turn{role: t.role, answer: part.ToolCallID})
			}
		case modelmessage.Reasoning, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
		}
	}
	if m.Role == modelmessage.RoleTool {
		return results // a message with only approval answers is not sent
	}
	return []turn{t}
}

// output checks the value of a result. An empty text is valid, because the encoder writes a placeholder.
func (c *checker) output(i int, r modelmessage.ToolResult) {
	switch r.Output.Type {
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent:
		if !json.Valid(r.Output.JSON) {
			c.fault(i, ruleContent, "result of %q is no JSON", r.ToolCallID)
		}
	case modelmessage.OutputText, modelmessage.OutputErrorText, modelmessage.OutputExecutionDenied:
	default:
		c.fault(i, ruleContent, "result of %q is of unknown kind %q", r.ToolCallID, r.Output.Type)
	}
}

type checker struct {
	faults []error
	seen   map[string]bool // ids of calls
	open   map[string]bool // calls of the last assistant turn without an answer
	order  []string        // the calls of the last assistant turn
}

func newChecker() *checker {
	return &checker{seen: map[string]bool{}, open: map[string]bool{}}
}

func (c *checker) fault(i int, rule, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("message %d: %s: %s", i, rule, fmt.Sprintf(format, args...)))
}

func (c *checker) check(turns []turn, tools []offer, choice string) {
	spoken := false
	for i, t := range turns {
		if t.role != "tool" {
			c.answered(i)
		}
		for _, text := range t.texts {
			if !utf8.ValidString(text) {
				c.fault(i, ruleText, "text is not UTF-8")
			}
		}
		switch t.role {
		case "system":
			if spoken {
				c.fault(i, ruleSystem, "system message behind others")
			}
			c.content(i, t, false)
		case "user":
			c.content(i, t, false)
		case "assistant":
			c.content(i, t, len(t.calls) > 0)
			c.calls(i, t.calls)
		case "tool":
			c.result(i, t.answer)
		default:
			c.fault(i, ruleRoles, "role %q", t.role)
		}
		spoken = spoken || t.role != "system"
	}
	c.answered(len(turns))
	if !spoken {
		c.faults = append(c.faults, errors.New(ruleMessages+": there is none"))
	}
	c.tools(tools, choice)
}

// content requires something to read. For an assistant, calls are enough.
func (c *checker) content(i int, t turn, mayBeEmpty bool) {
	if t.others == 0 && strings.Join(t.texts, "") == "" && !mayBeEmpty {
		c.fault(i, ruleContent, "%s message without content", t.role)
		return
	}
	for _, text := range t.texts {
		if text == "" && len(t.texts)+t.others > 1 {
			c.fault(i, ruleContent, "empty text part")
		}
	}
}

func (c *checker) calls(i int, calls []turnCall) {
	clear(c.open)
	c.order = c.order[:0]
	for _, call := range calls {
		switch {
		case call.id == "":
			c.fault(i, ruleCall, "call of %q without id", call.name)
			continue
		case c.seen[call.id]:
			c.fault(i, ruleUnique, "id %q was used before", call.id)
		}
		if !WellNamed(call.name) {
			c.fault(i, ruleCall, "call %q has name %q", call.id, call.name)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(call.input), &object) != nil || object == nil {
			c.fault(i, ruleCall, "arguments of call %q are no JSON object", call.id)
		}
		c.seen[call.id], c.open[call.id] = true, true
		c.order = append(c.order, call.id)
	}
}

func (c *checker) result(i int, id string) {
	if !c.open[id] {
		c.fault(i, ruleOrphan, "result of %q answers no open call of the assistant message before", id)
	}
	delete(c.open, id)
}

// answered requires that no call is open when a message other than a result follows.
func (c *checker) answered(i int) {
	for _, id := range c.order {
		if c.open[id] {
			c.fault(i, ruleAnswered, "call %q has no result yet", id)
		}
	}
	clear(c.open)
	c.order = c.order[:0]
}

func (c *checker) tools(tools []offer, choice string) {
	offered := map[string]bool{}
	for _, t := range tools {
		if !WellNamed(t.name) || offered[t.name] {
			c.faults = append(c.faults, fmt.Errorf("%s: name %q is bad or taken", ruleTools, t.name))
		}
		offered[t.name] = true
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.schema, &schema) != nil || schema.Type != "object" {
			c.faults = append(c.faults, fmt.Errorf("%s: schema of %q is not of type object", ruleTools, t.name))
		}
	}
	name, isTool := strings.CutPrefix(choice, "tool:")
	switch {
	case isTool && !offered[name]:
		c.faults = append(c.faults, fmt.Errorf("%s: tool %q is not offered", ruleChoice, name))
	case !isTool && choice != "" && choice != "auto" && choice != "none" && choice != "required":
		c.faults = append(c.faults, fmt.Errorf("%s: %q", ruleChoice, choice))
	}
}
