package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

const (
	// largeOutput is the size from which a tool's output is replaced.
	largeOutput = 1 << 10
	// fileSize is what a file counts at most: models do not read its bytes as text.
	fileSize = 4 << 10
	// outputHead is how much of a replaced text is still shown.
	outputHead = 200
	noteLeft   = "Left out, because the conversation is too long. Call the tool again if it matters."
)

// Trim is what requests leave out after the model said that they are too long.
// The zero value leaves out nothing. It names messages by their place in the
// conversation, which only grows, so that the requests that follow extend each
// other again; after a rewrite of the history it has to be dropped. The history is not touched by it.
type Trim struct {
	Drop    int // messages before this one are left out; it is a user's
	Shorten int // large outputs of tools before this one are replaced by a pointer
}

// Further is the trim to try after a request with this one was too long, aiming
// at a share of its size; false: there is nothing left to leave out. Large
// outputs of tools go first, those of the newest step last, and then whole turns
// from the oldest on. The turns that wait for an answer always stay, and a call is
// never parted from its result.
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

// dropTo leaves out whole turns, as few as bring the rest down to the target.
func (t Trim) dropTo(list []modelmessage.Message, target int) Trim {
	whole := Trim{Shorten: t.Shorten}.Apply(list) // in the places of the list
	left := size(whole[t.Drop:])
	last := waitingSince(list)
	for at := t.Drop; left > target && at < last; {
		next := at + 1
		for !asks(list[next]) {
			next++ // a user message stands at last
		}
		left -= size(whole[at:next])
		at, t.Drop = next, next
	}
	return t
}

// waitingSince is the place of the oldest user message with no answer before the
// next: turns that came together stay together.
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

// asks reports whether a message is a person's.
func asks(m modelmessage.Message) bool { return m.Role == modelmessage.RoleUser && !shows(m) }

// newestOutcome is the place of the results that the model has not read yet; the
// end of the list if there are none.
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

// Apply returns what is left of the conversation. It changes nothing of it.
func (t Trim) Apply(list []modelmessage.Message) []modelmessage.Message {
	if t == (Trim{}) {
		return list
	}
	from := t.Drop
	if from >= len(list) || list[from].Role != modelmessage.RoleUser {
		from = 0 // another conversation than the trim was made for
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

// pointer stands for an output that is left out. It keeps the name under which
// the whole is stored, if there is one.
func pointer(o modelmessage.Output) modelmessage.Output {
	n := outputSize(o)
	switch o.Type {
	case modelmessage.OutputText, modelmessage.OutputErrorText:
		head := strings.ToValidUTF8(o.Text[:min(len(o.Text), outputHead)], "")
		o.Text = fmt.Sprintf("%s… (%d bytes) %s", head, n, noteLeft)
		return o
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent, modelmessage.OutputExecutionDenied:
	}
	short, err := json.Marshal(struct {
		Truncated bool   `json:"truncated"`
		Bytes     int    `json:"bytes"`
		Whole     string `json:"whole,omitempty"`
		Note      string `json:"note"`
	}{true, n, wholeOf(o.JSON), noteLeft})
	if err != nil {
		return o // Unreachable: plain members encode.
	}
	if o.Type == modelmessage.OutputContent {
		o.Type = modelmessage.OutputJSON
	}
	o.JSON = short
	return o
}

func outputSize(o modelmessage.Output) int { return len(o.Text) + len(o.JSON) }

// fileBytes is what a file counts: the link of a stored one is short, what it shows is not.
func fileBytes(f modelmessage.File) int {
	if _, _, ok := messages.PictureOf(f.Data); ok {
		return fileSize
	}
	return min(len(f.Data), fileSize)
}

// size is how large a conversation is, in bytes of what the model reads.
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
