package answer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// tagSeparator is inserted between pieces of one kind that a tag separated, as in the SDK.
const tagSeparator = "\n"

// tagFilter turns the text between tags such as <think> and </think> into reasoning, like
// extractReasoningMiddleware of the SDK. Tags may arrive in pieces. Unlike the SDK it loses nothing
// if the text ends within a tag, and closes reasoning whose closing tag is missing.
//
// Templates of DeepSeek-R1, QwQ, Qwen3-Thinking and others end the prompt with the opening tag. If
// the server does not separate reasoning itself, like vLLM without a parser, the answer then has
// the closing tag alone. So the first text is held until its first tag or its end.
type tagFilter struct {
	names []string
	out   []model.Event

	start     *model.Event // of a text without content so far
	held      strings.Builder
	settled   bool   // nothing is held any more
	buffer    string // possibly the beginning of a tag
	tag       string // the open tag, if any
	switched  bool   // since the last piece
	spoken    bool   // some text was emitted
	thought   bool   // some reasoning was emitted
	reasoning bool   // a block of reasoning is open
	blocks    int
}

// filter returns the events with reasoning separated. The slice is reused.
func (f *tagFilter) filter(events []model.Event) []model.Event {
	if len(f.names) == 0 {
		return events
	}
	f.out = f.out[:0]
	for _, e := range events {
		switch e.Kind {
		case model.EventTextStart:
			f.start = &e
		case model.EventTextDelta:
			f.buffer += e.Delta
			f.split(e.ID)
		case model.EventTextEnd:
			f.end(e)
		default:
			f.settled = f.settled || e.Kind == model.EventReasoningStart // the server separates it
			f.out = append(f.out, e)
		}
	}
	return f.out
}

// split emits the part of the buffer that is unambiguous.
func (f *tagFilter) split(id string) {
	for {
		at, mark := f.next()
		if at < 0 {
			f.publish(id, f.buffer)
			f.buffer = ""
			return
		}
		f.publish(id, f.buffer[:at])
		f.buffer = f.buffer[at:]
		if len(f.buffer) < len(mark) {
			return
		}
		f.buffer = f.buffer[len(mark):]
		f.turn(id, mark)
	}
}

// next returns the position of the first tag in the buffer, or of the beginning of one at its end,
// or -1.
func (f *tagFilter) next() (at int, mark string) {
	at = -1
	look := func(m string) {
		if i := potential(f.buffer, m); i >= 0 && (at < 0 || i < at) {
			at, mark = i, m
		}
	}
	for _, n := range f.names {
		if f.tag == "" {
			look("<" + n + ">")
		}
		if f.tag == n || !f.settled {
			look("</" + n + ">")
		}
	}
	return at, mark
}

// potential returns the position of a tag in a text, or of its possible beginning at the end, or
// -1.
func potential(text, tag string) int {
	if i := strings.Index(text, tag); i >= 0 {
		return i
	}
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return len(text) - n
		}
	}
	return -1
}

// turn switches between text and reasoning.
func (f *tagFilter) turn(id, mark string) {
	name, closes := strings.CutPrefix(strings.Trim(mark, "<>"), "/")
	if closes {
		f.settle(id, name)
		f.tag = ""
		f.endReasoning()
	} else {
		f.settle(id, "")
		f.tag = name
	}
	f.switched = true
}

// settle emits the held text, as text or as the content of the tag.
func (f *tagFilter) settle(id, tag string) {
	if !f.settled {
		f.settled, f.tag = true, tag
		f.publish(id, f.held.String())
		f.held.Reset()
	}
}

func (f *tagFilter) endReasoning() {
	if f.reasoning {
		f.reasoning = false
		f.out = append(f.out, model.Event{Kind: model.EventReasoningEnd, ID: f.reasoningID()})
		f.blocks++
	}
}

func (f *tagFilter) reasoningID() string { return "reasoning-tag-" + strconv.Itoa(f.blocks) }

// publish emits a piece of the open block.
func (f *tagFilter) publish(id, piece string) {
	if piece == "" {
		return
	}
	if !f.settled {
		if f.held.Len() == 0 { // for those who wait for the beginning of the answer
			f.out = append(f.out, model.Event{Kind: model.EventTextDelta, ID: id})
		}
		f.held.WriteString(piece)
		return
	}
	if f.switched && (f.tag == "" && f.spoken || f.tag != "" && f.thought) {
		piece = tagSeparator + piece
	}
	f.switched = false
	if f.tag == "" {
		f.spoken = true
		f.begin()
		f.out = append(f.out, model.Event{Kind: model.EventTextDelta, ID: id, Delta: piece})
		return
	}
	f.thought = true
	if !f.reasoning {
		f.reasoning = true
		f.out = append(f.out, model.Event{Kind: model.EventReasoningStart, ID: f.reasoningID()})
	}
	f.out = append(f.out, model.Event{Kind: model.EventReasoningDelta, ID: f.reasoningID(), Delta: piece})
}

// begin opens the text block that was delayed until its first content.
func (f *tagFilter) begin() {
	if f.start != nil {
		f.out = append(f.out, *f.start)
		f.start = nil
	}
}

// end ends the text. A trailing incomplete tag is ordinary text.
func (f *tagFilter) end(e model.Event) {
	f.settle(e.ID, "")
	f.publish(e.ID, f.buffer)
	f.buffer = ""
	f.endReasoning()
	opened := f.start == nil
	f.start, f.tag, f.switched, f.spoken, f.thought = nil, "", false, false, false
	if opened {
		f.out = append(f.out, e)
	}
}

// tagNames returns the configured names of tags, without brackets.
func tagNames(tags []string) []string {
	var out []string
	for _, t := range tags {
		if t = strings.Trim(t, "</> "); t != "" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
