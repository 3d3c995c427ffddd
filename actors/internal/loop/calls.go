package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

var (
	// errPrototype is wrapped by the error of an input that could change prototypes in a JavaScript
	// reader of the history.
	errPrototype = errors.New("object contains a forbidden prototype property")
	// errDeep is wrapped by the error of an input that could not be read again as a part of a message.
	errDeep = errors.New("it is nested too deeply")
)

// around is more than how deeply an input is nested in what a chat stores.
const around = 100

func (l *Loop) toolCall(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	s := &l.step
	s.output = true
	call := l.parse(ev)
	state := &callState{call: call}
	s.calls = append(s.calls, state)
	allowed := l.guard.seen(call)
	if call.Err != nil {
		return l.invalidCall(out, state)
	}
	out = append(out, l.inputAvailable(call))
	t, known := l.tool(call.Name)
	switch {
	case !known: // executed by the provider
	case !allowed:
		state.settled = true
		out = append(out, l.toolError(call, errEqualCall))
	case t.Asks != nil && t.Asks(call):
		out = l.ask(out, call)
	case call.ProviderExecuted:
	default:
		s.runnable = append(s.runnable, call)
	}
	return out
}

// invalidCall shows a call that cannot be executed, and its error at once.
func (l *Loop) invalidCall(out []uistream.Chunk, state *callState) []uistream.Chunk {
	c := state.call
	t, known := l.tool(c.Name)
	if !known {
		t = Tool{}
	}
	l.step.invalid = append(l.step.invalid, c)
	chunk := uistream.ToolInputError{
		ToolCallID: c.ID, ToolName: c.Name, Input: c.shownInput(), ErrorText: l.errorText(c.Err),
		ProviderExecuted: flag(c.ProviderExecuted),
		ProviderMetadata: c.ProviderMetadata,
		ToolMetadata:     t.Metadata,
		Dynamic:          l.dynamic(c.Name, uimessage.Some(true)),
	}
	if t.Title != "" {
		chunk.Title = uimessage.Some(t.Title)
	}
	out = append(out, chunk)
	if c.ProviderExecuted {
		return out
	}
	state.settled = true
	return append(out, uistream.ToolOutputError{
		ToolCallID: c.ID, ErrorText: l.errorText(c.Err), ToolMetadata: t.Metadata,
		Dynamic: l.dynamic(c.Name, uimessage.Some(true)),
	})
}

func (l *Loop) inputAvailable(c Call) uistream.ToolInputAvailable {
	t, known := l.tool(c.Name)
	chunk := uistream.ToolInputAvailable{
		ToolCallID: c.ID, ToolName: c.Name, Input: c.Input,
		ProviderExecuted: flag(c.ProviderExecuted),
		ProviderMetadata: c.ProviderMetadata,
		Dynamic:          l.dynamic(c.Name, flag(c.Dynamic)),
	}
	if known {
		chunk.ToolMetadata = t.Metadata
		if t.Title != "" {
			chunk.Title = uimessage.Some(t.Title)
		}
	}
	return chunk
}

func (l *Loop) ask(out []uistream.Chunk, call Call) []uistream.Chunk {
	a := Approval{ID: l.cfg.NewID(), Call: call}
	chunk := uistream.ToolApprovalRequest{ApprovalID: a.ID, ToolCallID: call.ID}
	l.step.approvals = append(l.step.approvals, a)
	return append(out, chunk)
}

// providerApproval is an approval request by the provider itself.
func (l *Loop) providerApproval(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	l.step.output = true
	var r struct {
		ApprovalID string `json:"approvalId"`
		ToolCallID string `json:"toolCallId"`
	}
	err := json.Unmarshal(ev.Raw, &r)
	if err == nil {
		if c := l.lastCall(r.ToolCallID); c != nil {
			a := Approval{ID: r.ApprovalID, Call: c.call}
			l.step.approvals = append(l.step.approvals, a)
			return append(out, uistream.ToolApprovalRequest{ApprovalID: a.ID, ToolCallID: c.call.ID})
		}
		err = fmt.Errorf("Tool call %q not found for approval request %q.", r.ToolCallID, r.ApprovalID) //nolint:staticcheck,revive // the SDK's words
	}
	return append(out, l.fault(err))
}

// lastCall is the newest call of the step with this id.
func (l *Loop) lastCall(id string) *callState {
	for _, c := range slices.Backward(l.step.calls) {
		if c.call.ID == id {
			return c
		}
	}
	return nil
}

// toolResult is the outcome of a call that the provider executed.
func (l *Loop) toolResult(out []uistream.Chunk, ev model.Event) []uistream.Chunk {
	l.step.output = true
	var r struct {
		Result  json.RawMessage `json:"result"`
		IsError bool            `json:"isError"`
	}
	if err := json.Unmarshal(ev.Raw, &r); err != nil {
		return append(out, l.fault(err))
	}
	if c := l.lastCall(ev.ID); c != nil {
		c.settled = true
	}
	res := compact(r.Result)
	if len(res) == 0 {
		res = json.RawMessage("null")
	}
	meta, dynamic := l.toolMetadata(ev.ToolName), l.dynamic(ev.ToolName, flag(ev.Dynamic))
	if r.IsError {
		return append(out, uistream.ToolOutputError{
			ToolCallID: ev.ID, ErrorText: stringOrJSON(res), ProviderExecuted: uimessage.Some(true),
			ProviderMetadata: ev.ProviderMetadata, ToolMetadata: meta, Dynamic: dynamic,
		})
	}
	return append(out, uistream.ToolOutputAvailable{
		ToolCallID: ev.ID, Output: res, ProviderExecuted: uimessage.Some(true),
		ProviderMetadata: ev.ProviderMetadata, ToolMetadata: meta, Dynamic: dynamic,
	})
}

// parse converts the model's call; a faulty one gets its error.
func (l *Loop) parse(ev model.Event) Call {
	c := Call{
		ID: ev.ID, Name: ev.ToolName, Dynamic: ev.Dynamic,
		ProviderExecuted: ev.ProviderExecuted, ProviderMetadata: ev.ProviderMetadata,
	}
	input, bad := parseInput(ev.Input)
	t, known := l.tool(ev.ToolName)
	switch {
	case !known && ev.ProviderExecuted && ev.Dynamic:
		// Tools of the provider are not listed.
	case !known:
		c.Err = &NoSuchToolError{Tool: ev.ToolName, Available: l.available()}
	case t.Check != nil && bad == nil:
		if err := t.Check(t.Name, input); err != nil {
			c.Err = &InvalidInputError{Tool: ev.ToolName, Err: err}
		}
	}
	if known && t.Dynamic {
		c.Dynamic = true
	}
	switch {
	case bad != nil:
		c.RawInput = ev.Input
		if c.Err == nil {
			c.Err = &InvalidInputError{Tool: ev.ToolName, Err: bad}
		}
	case c.Err != nil && strings.TrimSpace(ev.Input) == "":
		c.RawInput = ev.Input
	default:
		c.Input = input
	}
	return c
}

// available are the names of the tools that the model may call; nil if there are no tools.
func (l *Loop) available() []string {
	if l.cfg.Tools == nil {
		return nil
	}
	names := make([]string, 0, len(l.cfg.Tools))
	for _, t := range l.cfg.Tools {
		names = append(names, cmp.Or(t.CallName, t.Name))
	}
	return names
}

// shownInput is the input as the stream carries it: a string if it is not JSON.
func (c Call) shownInput() json.RawMessage {
	if c.Input != nil {
		return c.Input
	}
	quoted, _ := plainjson.Append(nil, c.RawInput) // Strings always encode.
	return quoted
}

// parseInput reads the input text of a call; models send an empty text for no input.
func parseInput(text string) (json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}"), nil
	}
	raw := []byte(text)
	if !json.Valid(raw) {
		var v any
		err := json.Unmarshal(raw, &v)
		return nil, fmt.Errorf("JSON parsing failed: %w", err)
	}
	if !json.Valid([]byte(strings.Repeat("[", around) + text + strings.Repeat("]", around))) {
		return nil, errDeep
	}
	if uistream.NamesPrototype(raw) {
		return nil, errPrototype
	}
	return compact(raw), nil
}

// compact returns a valid value in one line; nil stays nil.
func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw // Unreachable: raw is valid.
	}
	return b.Bytes()
}

// stringOrJSON is the text of a JSON string; any other value stays JSON.
func stringOrJSON(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	return string(raw)
}
