package prompt

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// What the model reads of calls without an outcome.
const (
	// TextWaiting stands for a call that a person has not decided on, or had not
	// when the conversation went on.
	TextWaiting = "waiting for a person, not executed"
	// TextInterrupted stands for a call whose outcome was lost.
	TextInterrupted = "interrupted, outcome unknown"
)

// withHeader gives a user turn its header as the first part.
func withHeader(m uimessage.Message, group bool, loc *time.Location) uimessage.Message {
	if m.Role != uimessage.RoleUser {
		return m
	}
	// Metadata that is not ours, or in part, gives the header that can be had.
	meta, _ := uimessage.DecodeMetadata(m.Metadata)
	h := Header(meta, group, loc)
	if h == "" {
		return m
	}
	parts := append(make([]uimessage.Part, 0, len(m.Parts)+3), uimessage.Text{Text: h})
	for _, quoted := range []string{quotedText(answeredTitle, answeredMessage(meta), loc), quotedText(quotedTitle, quotedMessages(meta), loc)} {
		if quoted != "" {
			parts = append(parts, uimessage.Text{Text: quoted})
		}
	}
	m.Parts = append(parts, m.Parts...)
	return m
}

// toolPass changes how one call reads.
type toolPass func(uimessage.Tool) uimessage.Tool

// toolPasses are the passes over calls, in their order.
func toolPasses(name func(string) string) []toolPass {
	return []toolPass{waiting, orphan, objectInput, vanished, ours, wireName(name)}
}

// waiting lets a call that asks for approval read as not executed.
func waiting(t uimessage.Tool) uimessage.Tool {
	if t.State != uimessage.ToolApprovalRequested {
		return t
	}
	return failed(t, TextWaiting)
}

// orphan lets a call without an outcome read as one whose outcome is unknown.
// Calls whose input never came whole are none, and stay out.
func orphan(t uimessage.Tool) uimessage.Tool {
	open := t.State == uimessage.ToolInputAvailable || t.State == uimessage.ToolApprovalResponded ||
		t.State == uimessage.ToolOutputAvailable && t.Preliminary.Value
	if !open {
		return t
	}
	return failed(t, TextInterrupted)
}

// failed is the call with an error in place of an outcome. A question to a person
// is no part of it any more, since no answer may follow.
func failed(t uimessage.Tool, text string) uimessage.Tool {
	t.State, t.ErrorText = uimessage.ToolOutputError, uimessage.Some(text)
	t.Output, t.Preliminary = nil, uimessage.Optional[bool]{}
	t.Approval = nil
	return t
}

// objectInput lets a call whose input is no object read as one without input.
// What the model wrote stays in the history.
func objectInput(t uimessage.Tool) uimessage.Tool {
	input := t.Input
	if len(input) == 0 || string(input) == "null" {
		input = t.RawInput
	}
	if t.State == uimessage.ToolInputStreaming || len(input) > 0 && input[0] == '{' {
		return t
	}
	t.Input = json.RawMessage("{}")
	return t
}

// vanished lets the call of a tool that is gone read as it always did: its output
// is a fact of the conversation.
func vanished(t uimessage.Tool) uimessage.Tool {
	t.WasStatic = false
	return t
}

// ours lets a call that a provider ran itself read like one of ours: providers do
// not take back what they ran, least of all another's.
func ours(t uimessage.Tool) uimessage.Tool {
	t.ProviderExecuted = uimessage.Optional[bool]{}
	return t
}

// unnamed is the name of a call that came without one.
const unnamed = "unnamed"

// wireName lets a call read with the name that its tool is offered by.
func wireName(name func(string) string) toolPass {
	return func(t uimessage.Tool) uimessage.Tool {
		if t.Name == "" {
			t.Name, t.Unnamed = unnamed, false
		}
		if name != nil {
			t.Name = name(t.Name)
		}
		return t
	}
}

// tools applies passes to the calls of a turn. A turn without a change comes back
// as it is.
func tools(m uimessage.Message, passes []toolPass) uimessage.Message {
	if m.Role != uimessage.RoleAssistant {
		return m
	}
	parts := make([]uimessage.Part, len(m.Parts))
	for i, p := range m.Parts {
		if t, ok := p.(uimessage.Tool); ok {
			for _, pass := range passes {
				t = pass(t)
			}
			p = t
		}
		parts[i] = p
	}
	m.Parts = parts
	return m
}

// notEmpty drops texts that say nothing, and messages that are left with nothing
// a provider takes as content. It takes the list over.
func notEmpty(list []modelmessage.Message) []modelmessage.Message {
	out := list[:0]
	for _, m := range list {
		kept := m.Parts[:0]
		said := false
		for _, p := range m.Parts {
			if text, ok := p.(modelmessage.Text); ok && strings.TrimSpace(text.Text) == "" {
				continue
			}
			kept = append(kept, p)
			_, thought := p.(modelmessage.Reasoning)
			said = said || !thought
		}
		if m.Parts = kept; said {
			out = append(out, m)
		}
	}
	return out
}

// callIDs are the ids of calls that a request holds so far.
type callIDs struct {
	used  map[string]bool
	order []string
}

// take makes an id unique and takes it. What it becomes depends on the ids before
// it alone, so that it stays what it is in later requests.
func (c *callIDs) take(id string) string {
	if c.used == nil {
		c.used = map[string]bool{}
	}
	fresh := id
	for n := 2; fresh == "" || c.used[fresh]; n++ {
		fresh = cmp.Or(id, "call") + "-" + strconv.Itoa(n)
	}
	c.used[fresh] = true
	c.order = append(c.order, fresh)
	return fresh
}

// release gives back all ids behind the first n.
func (c *callIDs) release(n int) {
	for _, id := range c.order[n:] {
		delete(c.used, id)
	}
	c.order = c.order[:n]
}

// uniqueIDs gives a call whose id came before another one, and its result with
// it. Results stand in the message behind their calls, in the same order.
func uniqueIDs(list []modelmessage.Message, ids *callIDs) {
	var fresh map[string][]string
	for _, m := range list {
		if m.Role == modelmessage.RoleAssistant {
			fresh = map[string][]string{}
		}
		for i, p := range m.Parts {
			if c, ok := p.(modelmessage.ToolCall); ok {
				id := ids.take(c.ToolCallID)
				fresh[c.ToolCallID] = append(fresh[c.ToolCallID], id)
				c.ToolCallID = id
				m.Parts[i] = c
			}
			if r, ok := p.(modelmessage.ToolResult); ok && len(fresh[r.ToolCallID]) > 0 {
				was := r.ToolCallID
				r.ToolCallID, fresh[was] = fresh[was][0], fresh[was][1:]
				m.Parts[i] = r
			}
		}
	}
}
