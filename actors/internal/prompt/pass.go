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
	// TextWaiting is the result of a call that a person has not decided, or had not decided when the
	// conversation continued.
	TextWaiting = "waiting for a person, not executed"
	// TextInterrupted is the result of a call whose outcome was lost.
	TextInterrupted = "interrupted, outcome unknown"
)

// withHeader gives a user turn its header as the first part.
func withHeader(m uimessage.Message, group bool, loc *time.Location) uimessage.Message {
	if m.Role != uimessage.RoleUser {
		return m
	}
	// If only a part of the metadata can be read, the header has that part.
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

// toolPass changes how the model reads one call.
type toolPass func(uimessage.Tool) uimessage.Tool

// toolPasses are the passes over calls, in order.
func toolPasses(name func(string) string) []toolPass {
	return []toolPass{waiting, orphan, objectInput, ours, wireName(name)}
}

// waiting presents a call that needs approval as not executed.
func waiting(t uimessage.Tool) uimessage.Tool {
	if t.State != uimessage.ToolApprovalRequested {
		return t
	}
	return failed(t, TextWaiting)
}

// orphan presents a call without an outcome as one whose outcome is unknown. Calls with incomplete
// input are left out.
func orphan(t uimessage.Tool) uimessage.Tool {
	open := t.State == uimessage.ToolInputAvailable || t.State == uimessage.ToolApprovalResponded ||
		t.State == uimessage.ToolOutputAvailable && t.Preliminary.Value
	if !open {
		return t
	}
	return failed(t, TextInterrupted)
}

// failed is the call with an error as its outcome. The approval request is removed, since no answer
// may follow.
func failed(t uimessage.Tool, text string) uimessage.Tool {
	t.State, t.ErrorText = uimessage.ToolOutputError, uimessage.Some(text)
	t.Output, t.Preliminary = nil, uimessage.Optional[bool]{}
	t.Approval = nil
	return t
}

// objectInput presents a call whose input is not an object as one without input. The history keeps
// what the model wrote.
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

// ours presents a call that a provider executed like one of the host's: providers do not accept
// such calls in a history, least of all another provider's.
func ours(t uimessage.Tool) uimessage.Tool {
	t.ProviderExecuted = uimessage.Optional[bool]{}
	return t
}

// unnamed is the name of a call that arrived without one.
const unnamed = "unnamed"

// wireName gives a call the name under which its tool is offered.
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

// tools applies passes to the calls of a turn. A turn without a change is returned as it is.
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

// notEmpty drops blank texts, and messages without content that a provider accepts. It modifies the
// list.
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

// callIDs are the ids of the calls in a request so far.
type callIDs struct {
	used  map[string]bool
	order []string
}

// take makes an id unique and reserves it. The result depends on the earlier ids alone, so that it
// is the same in later requests.
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

// release frees all ids after the first n.
func (c *callIDs) release(n int) {
	for _, id := range c.order[n:] {
		delete(c.used, id)
	}
	c.order = c.order[:n]
}

// uniqueIDs gives a new id to a call whose id occurred before, and to its result. Results are in
// the message after their calls, in the same order.
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
