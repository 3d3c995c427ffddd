package loop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// What the SDK offers and runs of chats do not use is played by the test: conditions to stop, a
// choice of tools, hidden reasoning, metadata of more chunks, signatures, and the SDK's own view of
// a run.

// errToolChoice is the failure of a model that calls tools although it must not.
var errToolChoice = errors.New("Model response contained a tool call even though tool choice was none.") //nolint:staticcheck,revive // the SDK's words

// stops reports whether a condition of the case ends the run after a step.
func (x *exchange) stops() bool {
	stops := x.spec.StopWhen
	if len(stops) == 0 {
		stops = stopSpecs{{StepCount: 20}}
		if x.spec.Entry == "streamText" {
			stops[0].StepCount = 1
		}
	}
	return slices.ContainsFunc(stops, func(stop stopSpec) bool {
		return stop.StepCount == x.steps || slices.Contains(x.called, stop.ToolCall)
	})
}

// messages returns the model messages as the SDK's own run sees them: with the original text of
// errors, and denials as such. The stored form differs in that.
func (x *exchange) messages() ([]modelmessage.Message, error) {
	asked, err := x.converted()
	if err != nil {
		return nil, err
	}
	seen := slices.Clone(asked)
	for i := range seen {
		seen[i].Parts = slices.Clone(seen[i].Parts)
		for j, p := range seen[i].Parts {
			seen[i].Parts[j] = x.original(p)
		}
	}
	x.differs = x.differs || !samePrompt(asked, seen)
	for _, m := range seen {
		x.inCallOrder(m.Parts)
	}
	return seen, nil
}

// inCallOrder sorts the calls of this run, or their results, by when the model completed the calls;
// stored messages have them in the order in which they began.
func (x *exchange) inCallOrder(parts []modelmessage.Part) {
	var places, order []int
	for i, p := range parts {
		id := ""
		switch p := p.(type) {
		case modelmessage.ToolCall:
			id = p.ToolCallID
		case modelmessage.ToolResult:
			id = p.ToolCallID
		default:
		}
		if at := slices.Index(x.order, id); at >= 0 {
			places, order = append(places, i), append(order, at)
		}
	}
	sorted := slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b int) int {
		return order[slices.Index(places, a)] - order[slices.Index(places, b)]
	})
	before := slices.Clone(parts)
	for i, place := range places {
		parts[place] = before[sorted[i]]
	}
}

// original is a part as it was before it was stored.
func (x *exchange) original(p modelmessage.Part) modelmessage.Part {
	switch p := p.(type) {
	case modelmessage.ToolCall:
		if _, failed := x.failures[p.ToolCallID]; failed && !strings.ContainsRune("{[n", rune(p.Input[0])) {
			p.Input = json.RawMessage("{}")
		}
		return p
	case modelmessage.ToolResult:
		if err, failed := x.failures[p.ToolCallID]; failed {
			p.Output = modelmessage.Output{Type: modelmessage.OutputErrorText, Text: err.Error()}
		}
		if reason, denied := x.denials[p.ToolCallID]; denied {
			p.Output = modelmessage.Output{Type: modelmessage.OutputExecutionDenied, Reason: reason}
		}
		return p
	default:
		return p
	}
}

// event passes an event of the model on, unless the model must not call tools.
func (x *exchange) event(ev model.Event) {
	if ev.Kind == model.EventToolCall {
		x.called, x.order = append(x.called, ev.ToolName), append(x.order, ev.ID)
	}
	if x.spec.ToolChoice.Type == "none" {
		switch ev.Kind {
		case model.EventToolCall:
			x.withheld = true
			return
		case model.EventToolInputStart, model.EventToolInputDelta, model.EventToolInputEnd:
			return
		case model.EventFinish:
			if x.withheld {
				x.send(x.loop.AppendEvent(nil, model.Event{Kind: model.EventError, Err: errToolChoice}))
				ev.Finish.Unified = string(uistream.FinishError)
			}
		default:
		}
	}
	x.send(x.loop.AppendEvent(nil, ev))
}

// dressed adds signatures and metadata to a chunk; it is nil if the case hides the chunk.
func (x *exchange) dressed(c uistream.Chunk) uistream.Chunk {
	switch c := c.(type) {
	case uistream.Finish:
		c.Metadata = x.spec.Metadata["finish"]
		return c
	case uistream.ReasoningStart, uistream.ReasoningDelta, uistream.ReasoningEnd:
		if x.spec.SendReasoning != nil && !*x.spec.SendReasoning {
			return nil
		}
		return c
	case uistream.ToolApprovalRequest:
		if x.spec.ApprovalSecret != nil {
			call := x.call(c.ToolCallID)
			c.Signature = uimessage.Some(newSigner([]byte(*x.spec.ApprovalSecret)).sign(c.ApprovalID, call))
		}
		return c
	case uistream.ToolInputError:
		if x.inactive(c.ToolName) {
			c.Dynamic = uimessage.Optional[bool]{}
		}
		return c
	case uistream.ToolOutputError:
		if x.inactive(x.call(c.ToolCallID).Name) {
			c.Dynamic = uimessage.Optional[bool]{}
		}
		return c
	case uistream.ToolOutputDenied:
		call := x.call(c.ToolCallID)
		x.denials[c.ToolCallID] = uimessage.Some(fmt.Sprintf("Tool %q does not require approval", call.Name))
		if r := call.Approval.Reason; r.Set || !call.Approval.Approved.Value {
			x.denials[c.ToolCallID] = r
		}
		return c
	default:
		return c
	}
}

// inactive reports whether a tool is known but not offered; the engine does not know those.
func (x *exchange) inactive(name string) bool {
	same := func(t namedTool) bool { return t.name == name }
	return slices.ContainsFunc(x.tools, same) && !slices.ContainsFunc(x.offered(), same)
}

// forged is the error of an approval in the history that was not signed here.
func (x *exchange) forged(history []uimessage.Message) error {
	if x.spec.ApprovalSecret == nil || len(history) == 0 {
		return nil
	}
	signer := newSigner([]byte(*x.spec.ApprovalSecret))
	for _, p := range history[len(history)-1].Parts {
		t, ok := p.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalResponded || !t.Approval.Approved.Value {
			continue
		}
		reason := "invalid signature"
		switch signature, ok := t.Approval.Signature.Get(); {
		case !ok:
			reason = "missing signature"
		case signature == signer.sign(t.Approval.ID, t):
			continue
		}
		return fmt.Errorf("Tool approval signature verification failed for approval %q (tool call %q): %s",
			t.Approval.ID, t.ToolCallID, reason)
	}
	return nil
}
