package loop

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// ResponseMessages are the model messages that the run has added so far, in the form in which the
// SDK sends them within a run: with the original text of errors, and denials as such. The stored
// form differs in that, so chats convert their history instead. It needs Config.Record.
func (l *Loop) ResponseMessages() ([]modelmessage.Message, error) {
	if l.resp.err != nil {
		return nil, l.resp.err
	}
	var out []modelmessage.Message
	if parts := slices.Concat(l.resp.executed, l.resp.invalid, l.resp.denied); len(parts) > 0 {
		out = append(out, modelmessage.Message{Role: modelmessage.RoleTool, Parts: parts})
	}
	return append(out, l.resp.messages...), nil
}

// response is the result of ResponseMessages.
type response struct {
	// executed, invalid and denied are the outcomes of calls decided before.
	executed, invalid, denied []modelmessage.Part
	messages                  []modelmessage.Message
	err                       error
}

// blockKind distinguishes texts from reasoning.
type blockKind int

const (
	blockText blockKind = iota
	blockReasoning
)

// block is an unfinished text or reasoning.
type block struct {
	kind blockKind
	id   string
	text []byte
	meta json.RawMessage
	open bool
}

// result is a call, an approval request or an outcome.
type result struct {
	call   Call
	isCall bool
	// approval is the id of a request.
	approval  string
	signature uimessage.Optional[string]
	output    json.RawMessage
	err       error
	invalid   bool
	failed    bool // the provider's call failed with this output
}

// content is the content of a step, in order.
type content struct{ items []any }

func (l *Loop) recordBlock(kind blockKind, id string, ev model.Event) {
	if !l.cfg.Record {
		return
	}
	c := &l.step.content
	var b *block
	if ev.Kind == model.EventTextStart || ev.Kind == model.EventReasoningStart {
		b = &block{kind: kind, id: id, open: true}
		c.items = append(c.items, b)
	}
	for _, it := range c.items {
		if have, ok := it.(*block); ok && have.open && have.kind == kind && have.id == id {
			b = have
		}
	}
	if b == nil {
		return // Unreachable: the block was opened.
	}
	b.text = append(b.text, ev.Delta...)
	if ev.ProviderMetadata != nil {
		b.meta = ev.ProviderMetadata
	}
	b.open = ev.Kind != model.EventTextEnd && ev.Kind != model.EventReasoningEnd
}

func (l *Loop) recordFile(mediaType, data string, meta json.RawMessage) {
	if l.cfg.Record {
		l.step.content.items = append(l.step.content.items,
			modelmessage.File{MediaType: mediaType, Data: data, ProviderOptions: meta})
	}
}

func (l *Loop) record(r result) {
	if l.cfg.Record {
		l.step.content.items = append(l.step.content.items, r)
	}
}

// recordOutcome records the outcome of an executed call: in its step, or before all steps if the
// call is an earlier one that was approved since.
func (l *Loop) recordOutcome(c *callState, r result) {
	switch {
	case !l.cfg.Record:
	case c.before:
		l.resp.executed = append(l.resp.executed, l.toolResultPart(r))
	default:
		l.record(r)
	}
}

func (l *Loop) recordDenied(a answer) {
	if !l.cfg.Record {
		return
	}
	o := modelmessage.Output{Type: modelmessage.OutputExecutionDenied}
	if reason, ok := a.reason.Get(); ok {
		o.Reason = &reason
	}
	l.resp.denied = append(l.resp.denied,
		modelmessage.ToolResult{ToolCallID: a.call.ID, ToolName: a.call.Name, Output: o})
}

func (l *Loop) recordInvalid(a answer) {
	if l.cfg.Record {
		l.resp.invalid = append(l.resp.invalid, l.toolResultPart(result{call: a.call, err: a.call.Err}))
	}
}

// step converts the step that ends into its messages.
func (r *response) step(l *Loop) {
	if !l.cfg.Record {
		return
	}
	var said, results []modelmessage.Part
	for _, it := range l.step.content.items {
		switch it := it.(type) {
		case *block:
			if p := it.part(); p != nil {
				said = append(said, p)
			}
		case modelmessage.File:
			said = append(said, it)
		case result:
			p := l.part(it)
			if _, ok := p.(modelmessage.ToolResult); ok && !it.call.ProviderExecuted {
				results = append(results, p)
				continue
			}
			said = append(said, p)
		}
	}
	if len(said) > 0 {
		r.messages = append(r.messages, modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: said})
	}
	if len(results) > 0 {
		l.inCallOrder(results)
		r.messages = append(r.messages, modelmessage.Message{Role: modelmessage.RoleTool, Parts: results})
	}
}

func (b *block) part() modelmessage.Part {
	switch {
	case b.kind == blockReasoning:
		return modelmessage.Reasoning{Text: string(b.text), ProviderOptions: b.meta}
	case len(b.text) > 0:
		return modelmessage.Text{Text: string(b.text), ProviderOptions: b.meta}
	default:
		return nil
	}
}

func (l *Loop) part(r result) modelmessage.Part {
	switch {
	case r.isCall:
		return callPart(r.call)
	case r.approval != "":
		p := modelmessage.ApprovalRequest{ApprovalID: r.approval, ToolCallID: r.call.ID}
		if sig, ok := r.signature.Get(); ok {
			p.Signature = &sig
		}
		return p
	default:
		return l.toolResultPart(r)
	}
}

func callPart(c Call) modelmessage.ToolCall {
	p := modelmessage.ToolCall{ToolCallID: c.ID, ToolName: c.Name, Input: c.Input, ProviderOptions: c.ProviderMetadata}
	if c.Err != nil && (len(c.Input) == 0 || c.Input[0] != '{' && c.Input[0] != '[' && c.Input[0] != 'n') {
		p.Input = json.RawMessage("{}")
	}
	if c.ProviderExecuted {
		yes := true
		p.ProviderExecuted = &yes
	}
	return p
}

func (l *Loop) toolResultPart(r result) modelmessage.ToolResult {
	p := modelmessage.ToolResult{ToolCallID: r.call.ID, ToolName: r.call.Name, ProviderOptions: r.call.ProviderMetadata}
	if r.invalid {
		p.ProviderOptions = nil
	}
	t, _ := l.active(r.call.Name)
	switch {
	case r.err != nil:
		p.Output = modelmessage.Output{Type: modelmessage.OutputErrorText, Text: r.err.Error()}
	case r.failed:
		p.Output = modelmessage.Output{Type: modelmessage.OutputErrorJSON, JSON: r.output}
	case t.ModelOutput != nil:
		o, err := t.ModelOutput(modelmessage.CallResult{ToolCallID: r.call.ID, Input: r.call.Input, Output: r.output})
		if err != nil {
			l.resp.err = err
		}
		p.Output = o
	case len(r.output) > 0 && r.output[0] == '"':
		p.Output = modelmessage.Output{Type: modelmessage.OutputText, Text: stringOrJSON(r.output)}
	default:
		p.Output = modelmessage.Output{Type: modelmessage.OutputJSON, JSON: r.output}
	}
	return p
}

// inCallOrder sorts outcomes, which are in the order of their arrival, like their calls.
func (l *Loop) inCallOrder(results []modelmessage.Part) {
	place := func(p modelmessage.Part) int {
		r, ok := p.(modelmessage.ToolResult)
		return slices.IndexFunc(l.step.calls, func(c *callState) bool { return ok && c.call.ID == r.ToolCallID })
	}
	slices.SortStableFunc(results, func(a, b modelmessage.Part) int { return place(a) - place(b) })
}

// stringOrJSON is the text of a JSON string; any other value stays JSON.
func stringOrJSON(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	return string(raw)
}
