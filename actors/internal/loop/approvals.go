package loop

import (
	"bytes"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// answer is a call of the continued message that a person decided.
type answer struct {
	part uimessage.Tool
	call Call
}

// answered handles the decided calls of the continued message: denials and inputs that no longer
// fit get their outcome at once, approved calls are returned for execution.
func (l *Loop) answered(parts []uimessage.Part) ([]uistream.Chunk, []Call) {
	var denied, deniedByProvider, approved []answer
	for _, a := range decided(parts) {
		switch {
		case a.part.Approval.Approved.Value && a.call.ProviderExecuted:
			// The provider executes it, given the response in the history.
		case a.part.Approval.Approved.Value:
			approved = append(approved, a)
		case a.call.ProviderExecuted:
			deniedByProvider = append(deniedByProvider, a)
		default:
			denied = append(denied, a)
		}
	}
	approved, unasked, invalid := l.revalidate(approved)
	denied = append(denied, unasked...)
	var out []uistream.Chunk
	for _, a := range slices.Concat(denied, deniedByProvider) {
		out = append(out, uistream.ToolOutputDenied{ToolCallID: a.call.ID})
	}
	for _, a := range invalid {
		out = append(out, l.toolError(a.call, a.call.Err))
	}
	var calls []Call
	for _, a := range approved {
		l.step.calls = append(l.step.calls, &callState{call: a.call, before: true})
		calls = append(calls, a.call)
	}
	return out, calls
}

// decided returns the calls of the last step of a message that a person decided and that have no
// outcome yet.
func decided(parts []uimessage.Part) []answer {
	var out []answer
	seen := map[string]bool{}
	for _, p := range lastBlock(parts) {
		t, ok := p.(uimessage.Tool)
		if !ok || t.Approval == nil || !t.Approval.Approved.Set || t.State.Settled() || seen[t.ToolCallID] {
			continue
		}
		seen[t.ToolCallID] = true
		out = append(out, answer{
			part: t,
			call: Call{
				ID: t.ToolCallID, Name: t.Name, Input: t.Input,
				ProviderExecuted: t.ProviderExecuted.Value,
			},
		})
	}
	return out
}

// lastBlock is the last step with content for a model.
func lastBlock(parts []uimessage.Part) []uimessage.Part {
	for end := len(parts); end > 0; {
		start := end
		for start > 0 && !isBorder(parts[start-1]) {
			start--
		}
		if slices.ContainsFunc(parts[start:end], says) {
			return parts[start:end]
		}
		end = max(start-1, 0)
	}
	return nil
}

func isBorder(p uimessage.Part) bool {
	_, ok := p.(uimessage.StepStart)
	return ok
}

// says reports whether a part becomes part of a model message.
func says(p uimessage.Part) bool {
	switch p.(type) {
	case uimessage.Text, uimessage.Reasoning, uimessage.File, uimessage.Tool:
		return true
	case uimessage.SourceURL, uimessage.SourceDocument, uimessage.Data, uimessage.StepStart, uimessage.Unknown:
		return false
	}
	return false // Unreachable: all types of parts are handled above.
}

// revalidate checks approvals, which may have passed through a client: that the input fits, and
// that the tool asks at all.
func (l *Loop) revalidate(list []answer) (approved, unasked, invalid []answer) {
	for _, a := range list {
		t, known := l.tool(a.call.Name)
		if known {
			if err := l.recheck(t, a); err != nil {
				a.call.Err = &InvalidInputError{Tool: a.call.Name, Err: err}
				invalid = append(invalid, a)
				continue
			}
		}
		if known && t.Asks != nil && t.Asks(a.call) {
			approved = append(approved, a)
			continue
		}
		unasked = append(unasked, a)
	}
	return approved, unasked, invalid
}

func (l *Loop) recheck(t Tool, a answer) error {
	input := a.call.Input
	if shown := a.part.Approval.InputSchemaInput; shown != nil {
		input = shown
	}
	if t.Check != nil {
		if err := t.Check(t.Name, input); err != nil {
			return err
		}
	}
	if !bytes.Equal(Canonical(input), Canonical(a.call.Input)) {
		return ErrNotAsIs
	}
	return nil
}
