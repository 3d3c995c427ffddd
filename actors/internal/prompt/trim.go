package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

const (
	// largeOutput is the size from which a tool's output may be replaced.
	largeOutput = 1 << 10
	// fileSize is the most that a file counts: models do not read its bytes as text.
	fileSize = 4 << 10
	// outputHead is how much of a replaced text is still shown.
	outputHead = 200
	noteLeft   = "Left out, because the conversation is too long. Call the tool again if it matters."
)

// Trim is what requests leave out after the model refused one as too long. The zero value leaves
// out nothing. It refers to messages by their index in the conversation, which only grows, so that
// later requests extend each other again; after a rewrite of the history the Trim has to be
// dropped. It does not change the history.
type Trim struct {
	Drop    int // messages before this user message are left out
	Shorten int // large tool outputs before this message are replaced with a pointer
}

// Further is the trim to try after a request with this one was too long, aiming at a share of its
// size; it returns false if nothing is left to leave out. Large tool outputs go first, those of the
// newest step last, and then whole turns from the oldest on. Unanswered turns always stay, and a
// call is never separated from its result.
func (t Trim) Further(list []modelmessage.Message, share int) (Trim, bool) {
	now := size(t.Apply(list))
	target := now / share
	next := t
	for _, shorten := range []int{newestOutcome(list), len(list)} {
		next.Shorten = max(next.Shorten, shorten)
		if next = next.dropTo(list, target); size(next.Apply(list)) <= target {
			break
		}
	}
	return next, size(next.Apply(list)) < now
}

// dropTo leaves out whole turns, as few as reach the target.
func (t Trim) dropTo(list []modelmessage.Message, target int) Trim {
	whole := Trim{Shorten: t.Shorten}.Apply(list) // with the same indexes as the list
	left := size(whole[t.Drop:])
	last := waitingSince(list)
	for at := t.Drop; left > target && at < last; {
		next := at + 1
		for !asks(list[next]) {
			next++ // the last message is a user message
		}
		left -= size(whole[at:next])
		at, t.Drop = next, next
	}
	return t
}

// waitingSince is the index of the oldest user message with no answer before the next: turns that
// arrived together stay together.
func waitingSince(list []modelmessage.Message) int {
	i := len(list) - 1
	for i >= 0 && !asks(list[i]) {
		i--
	}
	for i > 0 && asks(list[i-1]) {
		i--
	}
	return max(i, 0)
}

// asks reports whether a message is from a person.
func asks(m modelmessage.Message) bool { return m.Role == modelmessage.RoleUser && !shows(m) }

// newestOutcome is the index of the results that the model has not read yet, or the end of the list
// if there are none.
func newestOutcome(list []modelmessage.Message) int {
	n := len(list)
	for n > 0 && shows(list[n-1]) {
		n--
	}
	if n > 0 && list[n-1].Role == modelmessage.RoleTool {
		return n - 1
	}
	return len(list)
}

// Apply returns the rest of the conversation without changing the list.
func (t Trim) Apply(list []modelmessage.Message) []modelmessage.Message {
	if t == (Trim{}) {
		return list
	}
	from := t.Drop
	if from >= len(list) || list[from].Role != modelmessage.RoleUser {
		from = 0 // the trim was made for another conversation
	}
	out := slices.Clone(list[from:])
	for i := range out {
		switch {
		case from+i >= t.Shorten:
		case out[i].Role == modelmessage.RoleTool:
			out[i].Parts = shortened(out[i].Parts)
		case out[i].Role == modelmessage.RoleUser && out[i].Parts != nil:
			out[i].Parts = agedParts(out[i].Parts)
		}
	}
	return out
}

func shortened(parts []modelmessage.Part) []modelmessage.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if r, ok := p.(modelmessage.ToolResult); ok && outputSize(r.Output) > largeOutput {
			r.Output = pointer(r.Output)
			out[i] = r
		}
	}
	return out
}

// pointer replaces an output that is left out. It keeps the name under which the whole is stored,
// if any.
func pointer(o modelmessage.Output) modelmessage.Output {
	n := outputSize(o)
	switch o.Type {
	case modelmessage.OutputText, modelmessage.OutputErrorText:
		head := strings.ToValidUTF8(o.Text[:min(len(o.Text), outputHead)], "")
		o.Text = fmt.Sprintf("%s… (%d bytes) %s", head, n, noteLeft)
		return o
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent, modelmessage.OutputExecutionDenied:
	}
	o.JSON = agedOutput(o.JSON, "")
	if o.Type == modelmessage.OutputContent {
		o.Type = modelmessage.OutputJSON
	}
	return o
}

func outputSize(o modelmessage.Output) int { return len(o.Text) + len(o.JSON) }

// fileBytes is the counted size of a file: the link of a stored file is short, its content is not.
func fileBytes(f modelmessage.File) int {
	if _, _, ok := messages.PictureOf(f.Data); ok {
		return fileSize
	}
	return min(len(f.Data), fileSize)
}

// size is the size of a conversation, in bytes that the model reads.
func size(list []modelmessage.Message) int {
	n := 0
	for _, m := range list {
		n += len(m.Text)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case modelmessage.Text:
				n += len(p.Text)
			case modelmessage.Reasoning:
				n += len(p.Text)
			case modelmessage.ToolCall:
				n += len(p.ToolName) + len(p.Input)
			case modelmessage.ToolResult:
				n += outputSize(p.Output)
			case modelmessage.File:
				n += fileBytes(p)
			case modelmessage.Image:
				n += fileSize
			case modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
			}
		}
	}
	return n
}
