package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/markup"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	maxSummary = 500 // maximum length of a tool's result as shown, in characters
	maxInput   = 120
	dim        = "\x1b[2m"
	reset      = "\x1b[0m"
)

// printer turns events into text for people. It removes escape sequences from everything that a
// model, a tool or another person wrote.
type printer struct {
	out   io.Writer
	words words
	// whole means that text is written in whole lines only, because a line editor shares the
	// screen.
	whole bool
	style *markup.Renderer // nil means no colors

	message      string // the message being shown
	said         string // its text so far
	pending      string // text that is not a complete block yet
	midLine      bool
	run          string
	begun        map[string]bool   // messages that were shown, or have begun to be
	names        map[string]string // tool names by call
	waitingCalls map[string]string // lines of calls that ask; shown with the outcome if the request was not
	asked        map[string]bool   // requests that were shown
	shown        map[string]bool   // calls whose outcome was shown
	mine         map[string]bool   // turns that were typed here
}

func newPrinter(out io.Writer, w words, screen *Screen) *printer {
	p := &printer{
		out: out, words: w, names: map[string]string{}, waitingCalls: map[string]string{}, asked: map[string]bool{},
		shown: map[string]bool{}, mine: map[string]bool{}, begun: map[string]bool{},
	}
	if screen != nil {
		p.whole = true
		if screen.Color {
			p.style = markup.New()
		}
	}
	return p
}

// note writes one line of the REPL itself.
func (p *printer) note(text string) {
	p.flush()
	if p.midLine {
		text = "\n" + text
		p.midLine = false
	}
	if p.style != nil {
		text = dim + text + reset
	}
	p.write(text + "\n")
}

// write writes text to the screen. Errors are ignored here: if the screen is gone, reading the next
// line fails.
func (p *printer) write(text string) { _, _ = io.WriteString(p.out, text) }

func (p *printer) event(e Event) {
	switch e.Kind {
	case platform.FrameStart:
		p.start(e)
	case platform.FrameChunks:
		if e.MessageID == p.message {
			p.chunks(e.Chunks)
		}
	case platform.FrameEnd:
		p.end(e)
	case platform.FrameEvent:
		switch {
		case e.Event.Name == "compaction":
			p.note(p.words.compacted)
		case e.Event.Name == "approval" && e.Event.Text == string(journal.AnswerExpired):
			p.note(p.words.expired)
		case e.Event.Name == "approval" && e.Event.Text == string(journal.AnswerWithdrawn):
			p.note(p.words.withdrawn)
		}
	case platform.FrameSettled: // nothing to show
	}
}

func (p *printer) start(e Event) {
	if e.MessageID == p.message && e.Replay {
		p.again(e.Chunks)
		return
	}
	p.flush()
	for _, turn := range e.Turns {
		if !p.mine[turn.ID] && !e.Replay {
			p.note("> " + p.words.elsewhere + ": " + Clean(textOf(turn)))
		}
	}
	if e.RunID != "" && e.RunID == p.run && len(e.Sees) > 0 && !e.Replay {
		p.note(p.words.joined)
	}
	p.run, p.message, p.said = e.RunID, e.MessageID, ""
	p.begun[e.MessageID] = true
	p.chunks(e.Chunks)
}

// late shows a complete message whose frames were missed.
func (p *printer) late(m uimessage.Message) {
	if !p.begun[m.ID] {
		p.start(Event{Frame: platform.Frame{MessageID: m.ID, Replay: true}, Chunks: uistream.Replay(m)})
		p.end(Event{Frame: platform.Frame{MessageID: m.ID}})
	}
}

// again shows what a repeated message has in addition to what was shown.
func (p *printer) again(chunks []uistream.Chunk) {
	var text strings.Builder
	for _, c := range chunks {
		if d, ok := c.(uistream.TextDelta); ok {
			text.WriteString(d.Delta)
		}
	}
	more, ok := strings.CutPrefix(text.String(), p.said)
	if !ok { // a step was repeated
		p.flush()
		p.said, more = "", text.String()
	}
	p.chunks(slices.DeleteFunc(slices.Clone(chunks), func(c uistream.Chunk) bool {
		_, isText := c.(uistream.TextDelta)
		return isText
	}))
	p.text(more)
}

func (p *printer) chunks(list []uistream.Chunk) {
	asks := map[string]bool{}
	for _, c := range list {
		if r, ok := c.(uistream.ToolApprovalRequest); ok {
			asks[r.ToolCallID] = true
		}
	}
	for _, c := range list {
		if call, ok := c.(uistream.ToolInputAvailable); ok && asks[call.ToolCallID] && p.names[call.ToolCallID] == "" {
			p.names[call.ToolCallID], p.waitingCalls[call.ToolCallID] = call.ToolName, callLine(call.ToolName, call.Input)
		}
		p.chunk(c)
	}
}

func (p *printer) chunk(chunk uistream.Chunk) {
	switch c := chunk.(type) {
	case uistream.TextDelta:
		p.text(c.Delta)
	case uistream.TextEnd:
		p.flush()
	case uistream.ToolInputAvailable:
		p.tool(c)
	case uistream.ToolOutputAvailable:
		if !c.Preliminary.Value {
			p.sent(c)
			p.outcome(c.ToolCallID, "  = "+cmp.Or(spokenAt(c.Output), summary(c.Output, maxSummary)))
		}
	case uistream.ToolOutputError:
		p.outcome(c.ToolCallID, "  = "+p.words.toolFailed+": "+cut(Clean(c.ErrorText), maxSummary))
	case uistream.ToolOutputDenied:
		p.outcome(c.ToolCallID, "  = "+p.words.toolFailed)
	case uistream.Error:
		p.note(Clean(c.ErrorText))
	case uistream.ToolInputError:
		p.note(callLine(c.ToolName, c.Input))
		p.outcome(c.ToolCallID, "  = "+p.words.toolFailed+": "+cut(Clean(c.ErrorText), maxSummary))
	case uistream.Abort, uistream.Data, uistream.File, uistream.Finish, uistream.FinishStep, uistream.MessageMetadata,
		uistream.ReasoningDelta, uistream.ReasoningEnd, uistream.ReasoningStart, uistream.SourceDocument, uistream.SourceURL,
		uistream.Start, uistream.StartStep, uistream.TextStart, uistream.ToolApprovalRequest, uistream.ToolInputDelta,
		uistream.ToolInputStart, uistream.Unknown:
		// Other events have no line; requests are shown by requests.
	}
}

// tool shows a call; the text of chat_send is shown as the answer itself.
func (p *printer) tool(c uistream.ToolInputAvailable) {
	if _, known := p.names[c.ToolCallID]; known {
		return
	}
	p.names[c.ToolCallID] = c.ToolName
	if c.ToolName == "chat_send" {
		var in struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(c.Input, &in) == nil && in.Text != "" {
			p.text(in.Text)
			p.flush()
			p.shown[c.ToolCallID] = true
			return
		}
	}
	p.note(callLine(c.ToolName, c.Input))
}

// callLine is the line of a call.
func callLine(name string, input json.RawMessage) string {
	return "* " + Clean(name) + " " + summary(input, maxInput)
}

// requests shows the open requests of a message: each as a sentence, exactly what would run, and how to answer.
func (p *printer) requests(m uimessage.Message) {
	turn := journal.NewTurn(m)
	for _, r := range turn.Requests {
		call, ok := turn.Call(r.CallID)
		if !ok || r.Answer != journal.AnswerOpen || p.asked[r.ID] {
			continue
		}
		p.asked[r.ID] = true
		delete(p.waitingCalls, r.CallID)
		p.note(p.words.request(r, call))
	}
}

// sent shows the files that a call gave to people instead of its outcome.
func (p *printer) sent(c uistream.ToolOutputAvailable) {
	key := "files " + c.ToolCallID
	if p.shown[key] {
		return
	}
	for _, f := range sentFiles(p.names[c.ToolCallID], c.Output) {
		p.shown[key], p.shown[c.ToolCallID] = true, true
		delete(p.waitingCalls, c.ToolCallID)
		p.note("  = " + f.Line(p.words.chinese))
	}
}

func (p *printer) outcome(call, text string) {
	if p.shown[call] {
		return
	}
	p.shown[call] = true
	if line, held := p.waitingCalls[call]; held {
		delete(p.waitingCalls, call)
		p.note(line)
	}
	p.note(text)
}

func (p *printer) end(e Event) {
	if e.MessageID == p.message {
		p.flush()
		if p.midLine {
			p.write("\n")
			p.midLine = false
		}
	}
	if !e.Last {
		return
	}
	p.run = ""
	if e.Result == "waiting" { // after the decision the same message continues, and is replayed first
		return
	}
	clear(p.names)
	clear(p.waitingCalls)
	clear(p.shown)
	switch e.Result {
	case "stopped":
		p.note(p.words.stopped)
	case "failed":
		p.note(p.words.failed)
	case "interrupted":
		p.note(p.words.interrupted)
	}
}

// text adds to the answer. With a line editor on the screen, only complete blocks are written:
// lines, or paragraphs and code if they are styled.
func (p *printer) text(delta string) {
	if delta == "" {
		return
	}
	p.said += delta
	if !p.whole {
		delta = Clean(delta)
		p.write(delta)
		p.midLine = !strings.HasSuffix(delta, "\n")
		return
	}
	p.pending += delta
	if at := p.border(); at > 0 {
		p.block(p.pending[:at])
		p.pending = p.pending[at:]
	}
}

// border returns where the pending text may be cut.
func (p *printer) border() int {
	if p.style == nil {
		return strings.LastIndexByte(p.pending, '\n') + 1
	}
	at, pos, fenced := 0, 0, false
	for line := range strings.Lines(p.pending) {
		pos += len(line)
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
		}
		if !fenced && trimmed == "" && strings.HasSuffix(line, "\n") {
			at = pos
		}
	}
	return at
}

// flush writes the pending text.
func (p *printer) flush() {
	if p.pending != "" {
		p.block(p.pending)
		p.pending = ""
	}
}

func (p *printer) block(text string) {
	if p.style == nil {
		p.write(strings.TrimSuffix(Clean(text), "\n") + "\n")
		return
	}
	if text = strings.Trim(p.style.ANSI(text), "\n"); text != "" {
		p.write(text + "\n\n")
	}
}

// Clean removes characters that move cursors, ring bells or change the direction of text.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

func summary(raw json.RawMessage, most int) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return cut(oneLine(s), most)
}

// exact returns a whole text with a mark at the beginning of each line, so that no line of it looks like one of ours.
// Invisible characters, which the host has replaced before, are shown by their codes.
func exact(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString("\n  | ")
		case hidden(r):
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		default:
			b.WriteRune(r)
		}
	}
	return "  | " + b.String()
}

func hidden(r rune) bool {
	return r == utf8.RuneError || !strconv.IsPrint(r) || r == '\u2800' || r == '\u17b4' || r == '\u17b5' ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func textOf(m uimessage.Message) string {
	var out []string
	for _, part := range m.Parts {
		if t, ok := part.(uimessage.Text); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), "\n")
}
