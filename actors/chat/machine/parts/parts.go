// Package parts has pure functions about the parts of the message of a run.
package parts

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Settled counts the leading parts that can no longer change.
func Settled(parts []uimessage.Part) int {
	for i, p := range parts {
		if t, ok := p.(uimessage.Tool); ok && !t.State.Settled() {
			return i
		}
	}
	return len(parts)
}

// Unbegun returns the calls that a run had not begun when the process ended, without those that wait for a person.
func Unbegun(run *journal.Run) []string {
	var ids []string
	for _, p := range run.Parts {
		if t, ok := p.(uimessage.Tool); ok && !t.State.Settled() && t.Approval == nil && !run.Begun[t.ToolCallID] {
			ids = append(ids, t.ToolCallID)
		}
	}
	return ids
}

// Asking reports whether one of the parts waits for a person.
func Asking(parts []uimessage.Part) bool {
	return slices.ContainsFunc(parts, func(p uimessage.Part) bool {
		t, ok := p.(uimessage.Tool)
		return ok && t.State == uimessage.ToolApprovalRequested
	})
}

// Call returns the newest call of a message with the given id.
func Call(m uimessage.Message, callID string) (uimessage.Tool, bool) {
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.(uimessage.Tool); ok && t.ToolCallID == callID {
			return t, true
		}
	}
	return uimessage.Tool{}, false
}

// textNeverBegun is the outcome of a call that had not begun when its run ended.
const textNeverBegun = messages.NeverBegun + "the run ended before the call was executed"

// Interrupted returns a call with an unknown outcome.
func Interrupted(t uimessage.Tool) uimessage.Tool {
	t.State, t.Preliminary, t.Output = uimessage.ToolOutputError, uimessage.Optional[bool]{}, nil
	t.ErrorText = uimessage.Some("interrupted, outcome unknown")
	return t
}

// Close makes a message final: no part is streaming, and every call that ran has an outcome. Parts from index
// kept on are not journaled, so none of their calls has begun.
func Close(parts []uimessage.Part, result journal.Result, kept int) []uimessage.Part {
	out := make([]uimessage.Part, 0, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case uimessage.Text:
			if p.State == uimessage.TextStreaming {
				p.State = uimessage.TextDone
			}
			out = append(out, p)
		case uimessage.Reasoning:
			if p.State == uimessage.TextStreaming {
				p.State = uimessage.TextDone
			}
			out = append(out, p)
		case uimessage.Tool:
			if closed, ok := closeTool(p, result, i < kept); ok {
				out = append(out, closed)
			}
		default:
			out = append(out, p)
		}
	}
	return out
}

func closeTool(t uimessage.Tool, result journal.Result, journaled bool) (uimessage.Tool, bool) {
	switch {
	case t.State.Settled(), result == journal.ResultWaiting, t.State == uimessage.ToolApprovalRequested:
		return t, true
	case t.State == uimessage.ToolInputStreaming:
		return t, false // its input never arrived
	case t.State == uimessage.ToolApprovalResponded && !t.Approval.Approved.Value:
		t.State = uimessage.ToolOutputDenied
		return t, true
	}
	if t = Interrupted(t); !journaled {
		t.ErrorText = uimessage.Some(textNeverBegun)
	}
	return t, true
}

// FinalText returns the words after the last call, or all words if there are none after it.
func FinalText(m uimessage.Message) string {
	last := 0
	for i, p := range m.Parts {
		if _, ok := p.(uimessage.Tool); ok {
			last = i
		}
	}
	tail := m
	tail.Parts = m.Parts[last:]
	if words := journal.Text(tail); strings.TrimSpace(words) != "" {
		return words
	}
	return journal.Text(m)
}
