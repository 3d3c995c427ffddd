package run

import (
	"errors"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// textNeverBegun is what the model reads of a call in an answer that was cut.
const textNeverBegun = messages.NeverBegun + "the answer with this call was cut off, so the call was not executed"

// errNotWhole is the error of an answer that says nothing, or does not show whether its calls are
// complete.
var errNotWhole = errors.New("the answer is empty or ended without a finish reason")

// notWhole says why an answer is not complete; empty means it is. An answer with calls is not
// empty.
func notWhole(out loop.Outcome) string {
	switch unified := out.Finish.Unified; {
	case unified == string(uistream.FinishContentFilter) && out.Finish.Raw == model.FinishRefusal && out.Said:
		return messages.ReasonRefused
	case unified == string(uistream.FinishContentFilter):
		return messages.ReasonFiltered
	case unified == string(uistream.FinishLength):
		return messages.ReasonLength
	case !out.Said && !out.Called && out.Reasoned:
		return messages.ReasonOnlyThoughts
	case !out.Said && !out.Called:
		return messages.ReasonEmpty
	case unified == string(uistream.FinishOther):
		return messages.ReasonUnfinished
	}
	return ""
}

// asksAgain reports whether a step is requested once more, as if its answer had never arrived: the
// answer says nothing to a person who waits for words, or its calls cannot be executed because they
// may be incomplete.
func (r *run) asksAgain(why string, out loop.Outcome) bool {
	switch why {
	case messages.ReasonEmpty, messages.ReasonOnlyThoughts:
		return !r.repeated && !r.input.MayBeSilent
	case messages.ReasonUnfinished:
		return !r.repeated && len(out.Left) > 0
	}
	return false
}

// leave gives the calls of a cut answer an outcome: they never began.
func (r *run) leave(calls []loop.Call) []uistream.Chunk {
	var chunks []uistream.Chunk
	for _, c := range calls {
		chunks = append(chunks, uistream.ToolOutputError{ToolCallID: c.ID, ErrorText: textNeverBegun})
	}
	if len(calls) > 0 {
		r.approvals.restart() // these calls ask no person
	}
	return chunks
}

// endsWith is how the run ends with a step, and why. An answer that leaves people without a word is
// a failure, even if the model reports success.
func (r *run) endsWith(d loop.Decision, why string, out loop.Outcome) (how, reason string) {
	if d.Next == loop.NextWait && len(out.Left) > 0 {
		d.Next = loop.NextDone
	}
	how, reason = ends(d)
	switch {
	case how == "limit" && why == messages.ReasonLength:
		return how, why
	case how != "done" || why == "":
		return how, reason
	case out.Said:
		return how, why
	case r.input.MayBeSilent && (why == messages.ReasonEmpty || why == messages.ReasonOnlyThoughts):
		return how, ""
	case r.input.MayBeSilent:
		return how, why
	}
	return "failed", why
}

// ends is how a decision ends the run; empty means the run continues.
func ends(d loop.Decision) (how, reason string) {
	switch d.Next {
	case loop.NextStep:
		return "", ""
	case loop.NextDone:
		return "done", ""
	case loop.NextWait:
		return "waiting", ""
	case loop.NextLimit:
		return "limit", string(d.Reason)
	case loop.NextFailed:
		return "failed", string(model.ReasonInternal)
	}
	return "done", ""
}
