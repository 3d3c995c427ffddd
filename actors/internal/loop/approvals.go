package loop

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// answer is a call of the continued message that a person decided.
type answer struct {
	part uimessage.Tool
	call Call
	// reason is the person's, or the loop's if the approval does not count.
	reason uimessage.Optional[string]
}

// answered handles the decided calls of the continued message: denials and inputs that no longer
// fit get their outcome at once, approved calls are returned for execution.
func (l *Loop) answered(parts []uimessage.Part) ([]uistream.Chunk, []Call, error) {
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
	approved, forged, invalid, err := l.revalidate(approved)
	if err != nil {
		return nil, nil, err
	}
	denied = append(denied, forged...)
	var out []uistream.Chunk
	for _, a := range slices.Concat(denied, deniedByProvider) {
		c := uistream.ToolOutputDenied{ToolCallID: a.call.ID}
		out = l.emit(out, c.Type(), c)
	}
	for _, a := range denied {
		l.recordDenied(a)
	}
	for _, a := range invalid {
		l.recordInvalid(a)
		out = l.emit(out, kindToolError, l.toolError(a.call, a.call.Err))
	}
	var calls []Call
	for _, a := range approved {
		if t, _ := l.tool(a.call.Name); t.Client {
			continue
		}
		l.step.calls = append(l.step.calls, &callState{call: a.call, before: true})
		calls = append(calls, a.call)
	}
	return out, calls, nil
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
			reason: t.Approval.Reason,
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

// revalidate checks approvals, which may have passed through a client: their signature, that the
// input fits, and that the tool asks at all.
func (l *Loop) revalidate(list []answer) (approved, denied, invalid []answer, err error) {
	for _, a := range list {
		if err := l.verify(a); err != nil {
			return nil, nil, nil, err
		}
		t, known := l.tool(a.call.Name)
		if known && !t.Client {
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
		if !a.reason.Set {
			a.reason = uimessage.Some(fmt.Sprintf("Tool %q does not require approval", a.call.Name))
		}
		denied = append(denied, a)
	}
	return approved, denied, invalid, nil
}

func (l *Loop) verify(a answer) error {
	if l.cfg.Verify == nil {
		return nil
	}
	id := a.part.Approval.ID
	sig, ok := a.part.Approval.Signature.Get()
	if !ok {
		return &SignatureError{ApprovalID: id, CallID: a.call.ID, Reason: "missing signature"}
	}
	if err := l.cfg.Verify(Approval{ID: id, Call: a.call}, sig); err != nil {
		return &SignatureError{ApprovalID: id, CallID: a.call.ID, Reason: err.Error()}
	}
	return nil
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
