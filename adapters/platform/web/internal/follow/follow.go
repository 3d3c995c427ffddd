package follow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Follower extracts one assistant message from a chat's frames and turns it into a complete UI
// message stream. It is pure.
type Follower struct {
	Turn    string // wait for the message that first sees this turn
	Message string // or for this message; both empty: the next one
	// Base is what the reader already has of the message, if anything.
	Base *uimessage.Message

	// Started means that the message has begun; Message is then its id.
	Started bool
	// has is what the reader has of the message. now is the message since it started over, until
	// the reader has caught up with it; it is nil otherwise.
	has, now *uistream.Reducer
	// renamed maps blocks to the ids by which the reader knows them.
	renamed map[string]string
	// Untrue means that the stream ended while the reader had text that is obsolete.
	Untrue bool
	// finish is delayed until the message is durable.
	finish uistream.Chunk
	// open are the blocks that have begun and not ended. A stopped run leaves them open, but the
	// message is stored without open blocks.
	open []block
	// failed means that an error was passed on.
	failed bool
}

// block is a block of text or reasoning.
type block struct {
	id        string
	reasoning bool
}

// Verdict says how a follower continues.
type Verdict int

// The verdicts.
const (
	Continue Verdict = iota
	Ended            // the message is complete; write the end mark
	Settled          // the turn ended before a message began: check the history
	Void             // what was sent is obsolete: end the stream with an error
)

// Frame returns the chunks to send for a frame.
func (f *Follower) Frame(fr platform.Frame) ([]uistream.Chunk, Verdict) {
	if f.Started {
		return f.follow(fr)
	}
	switch fr.Kind {
	case platform.FrameStart:
		if !f.wants(fr) {
			return nil, Continue
		}
		f.Started, f.Message = true, fr.MessageID
		return f.begin(fr), Continue
	case platform.FrameSettled, platform.FrameEnd:
		if f.Turn != "" && slices.Contains(fr.Settled, f.Turn) {
			return nil, Settled
		}
		if f.Turn == "" && fr.Kind == platform.FrameEnd && fr.Last {
			return nil, Settled
		}
	case platform.FrameChunks, platform.FrameEvent:
	}
	return nil, Continue
}

func (f *Follower) wants(fr platform.Frame) bool {
	switch {
	case f.Message != "":
		return fr.MessageID == f.Message
	case f.Turn != "":
		return slices.Contains(fr.Sees, f.Turn)
	default:
		return true
	}
}

// begin opens the stream with a start chunk that names the message.
func (f *Follower) begin(fr platform.Frame) []uistream.Chunk {
	start, rest := uistream.Start{}, f.news(fr.Chunks)
	if len(fr.Chunks) > 0 {
		if s, ok := fr.Chunks[0].(uistream.Start); ok {
			start = s
		}
	}
	if len(rest) > 0 {
		if _, ok := rest[0].(uistream.Start); ok {
			rest = rest[1:]
		}
	}
	start.MessageID = uimessage.Some(fr.MessageID)
	f.has = readerOf(fr)
	out, _ := f.pass(rest)
	return append([]uistream.Chunk{start}, out...)
}

// readerOf returns the message that a start frame replays.
func readerOf(fr platform.Frame) *uistream.Reducer {
	r := uistream.NewReader(nil)
	_, _ = r.Apply(uistream.Start{MessageID: uimessage.Some(fr.MessageID)}) // a start can always be applied
	feed(r, fr.Chunks)
	return r
}

// feed applies chunks. The first one that does not fit stops the reducer, as it does in a client.
func feed(r *uistream.Reducer, list []uistream.Chunk) {
	for _, c := range list {
		if _, err := r.Apply(c); err != nil {
			return
		}
	}
}

// news returns the chunks of a replayed message that its reader does not have.
func (f *Follower) news(replay []uistream.Chunk) []uistream.Chunk {
	if f.Base == nil {
		return replay
	}
	return gained(*f.Base, replay)
}

func (f *Follower) follow(fr platform.Frame) ([]uistream.Chunk, Verdict) {
	switch fr.Kind {
	case platform.FrameStart:
		if fr.MessageID != f.Message {
			return f.end(""), Ended
		}
		f.now, f.finish = readerOf(fr), nil
		out, how := f.catchUp(fr.Chunks)
		if f.now != nil && lostWords(f.has.Message(), f.now.Message()) {
			return nil, Void // resuming immediately shows the current message
		}
		return out, how
	case platform.FrameChunks:
		switch {
		case fr.MessageID != f.Message:
		case f.now != nil:
			feed(f.now, fr.Chunks)
			return f.catchUp(fr.Chunks)
		default:
			out, words := f.pass(fr.Chunks)
			feed(f.has, words)
			return out, Continue
		}
	case platform.FrameEnd:
		switch {
		case fr.MessageID != f.Message:
		case f.now != nil && !f.failed && failureOf(fr.Result) == "":
			return nil, Void // the message is shorter than what was sent
		default:
			f.Untrue = f.now != nil
			return f.end(fr.Result), Ended
		}
	case platform.FrameSettled, platform.FrameEvent:
	}
	return nil, Continue
}

// lostWords reports whether a reader has text or calls that the message no longer contains. The
// start of a step does not count.
func lostWords(has, now uimessage.Message) bool {
	for i, part := range has.Parts {
		text, isText := part.(uimessage.Text)
		thought, isThought := part.(uimessage.Reasoning)
		_, isStep := part.(uimessage.StepStart)
		if isStep || isText && text.Text == "" || isThought && thought.Text == "" {
			continue
		}
		if i >= len(now.Parts) || isText && text.Text != wordsIn(now.Parts[i]) || isThought && thought.Text != wordsIn(now.Parts[i]) {
			return true
		}
	}
	return false
}

// wordsIn returns the text of a text or reasoning part.
func wordsIn(part uimessage.Part) string {
	if thought, ok := part.(uimessage.Reasoning); ok {
		return thought.Text
	}
	text, _ := part.(uimessage.Text)
	return text.Text
}

// catchUp follows a message that started over. Nothing is sent while it repeats what the reader
// has; then the additional text is sent. If it differs, the stream is void.
func (f *Follower) catchUp(list []uistream.Chunk) ([]uistream.Chunk, Verdict) {
	out, _ := f.pass(slices.DeleteFunc(slices.Clone(list), func(c uistream.Chunk) bool { return !isFrame(c) }))
	more, renamed, result := uistream.CatchUp(f.has, f.now)
	switch result {
	case uistream.Apart:
		return nil, Void
	case uistream.Behind:
		return out, Continue
	case uistream.Ahead:
	}
	f.now, f.renamed = nil, nil // chunks from here on have the reader's ids
	news, _ := f.pass(more)
	feed(f.has, more)
	f.renamed = renamed
	return append(out, news...), Continue
}

// isFrame reports whether a chunk is about the stream, not about its content.
func isFrame(c uistream.Chunk) bool {
	switch c.(type) {
	case uistream.Start, uistream.Finish, uistream.Error, uistream.MessageMetadata:
		return true
	default:
		return false
	}
}

// pass lets chunks through, except for the finish and a second start, of which only new metadata is
// passed on. An error is also passed on as text of the message, as in the history. words are the
// chunks that make up the reader's message.
func (f *Follower) pass(list []uistream.Chunk) (out, words []uistream.Chunk) {
	out = list[:0:0]
	for _, c := range list {
		switch c := c.(type) {
		case uistream.Start:
			if len(c.Metadata) > 0 {
				out = append(out, uistream.MessageMetadata{Metadata: c.Metadata})
			}
		case uistream.Finish:
			f.finish = c
		case uistream.Error:
			if !f.failed {
				out = append(append(out, f.closeBlocks()...), uistream.Notice(c.ErrorText)...)
			}
			f.failed = true
			out = append(out, c)
		default:
			c = f.rename(c)
			f.note(c)
			out, words = append(out, c), append(words, c)
		}
	}
	return out, words
}

// rename gives a chunk of a block the id by which the reader knows it.
func (f *Follower) rename(c uistream.Chunk) uistream.Chunk {
	if len(f.renamed) == 0 {
		return c
	}
	switch c := c.(type) {
	case uistream.TextStart:
		delete(f.renamed, c.ID)
	case uistream.ReasoningStart:
		delete(f.renamed, c.ID)
	case uistream.TextDelta:
		c.ID = cmp.Or(f.renamed[c.ID], c.ID)
		return c
	case uistream.TextEnd:
		c.ID = cmp.Or(f.renamed[c.ID], c.ID)
		return c
	case uistream.ReasoningDelta:
		c.ID = cmp.Or(f.renamed[c.ID], c.ID)
		return c
	case uistream.ReasoningEnd:
		c.ID = cmp.Or(f.renamed[c.ID], c.ID)
		return c
	default: // not part of a block
	}
	return c
}

// note tracks which blocks are open.
func (f *Follower) note(c uistream.Chunk) {
	if text, ok := c.(uistream.TextStart); ok {
		f.open = append(f.open, block{id: text.ID})
	} else if thought, ok := c.(uistream.ReasoningStart); ok {
		f.open = append(f.open, block{id: thought.ID, reasoning: true})
	} else if text, ok := c.(uistream.TextEnd); ok {
		f.shut(block{id: text.ID})
	} else if thought, ok := c.(uistream.ReasoningEnd); ok {
		f.shut(block{id: thought.ID, reasoning: true})
	}
}

func (f *Follower) shut(b block) {
	if i := slices.Index(f.open, b); i >= 0 {
		f.open = slices.Delete(f.open, i, i+1)
	}
}

// end returns the end of a message: its open blocks, an error if its run failed and none was sent,
// then the finish with its reason.
func (f *Follower) end(result string) []uistream.Chunk {
	out := f.closeBlocks()
	if words := failureOf(result); words != "" && !f.failed {
		f.failed = true
		out = append(out, uistream.Error{ErrorText: words})
	}
	finish, _ := f.finish.(uistream.Finish)
	if finish.Reason == "" || f.failed {
		finish.Reason = finishOf(result, f.failed)
	}
	return append(out, finish)
}

// closeBlocks ends the open blocks.
func (f *Follower) closeBlocks() []uistream.Chunk {
	var out []uistream.Chunk
	for _, b := range f.open {
		if b.reasoning {
			out = append(out, uistream.ReasoningEnd{ID: b.id})
		} else {
			out = append(out, uistream.TextEnd{ID: b.id})
		}
	}
	f.open = nil
	return out
}

// Whole returns the stream of a complete stored message, or of what a reader lacks of it.
func (f *Follower) Whole(m uimessage.Message) []uistream.Chunk {
	return append(f.begin(platform.Frame{MessageID: m.ID, Chunks: uistream.Replay(m)}), f.endOf(m)...)
}

// endOf returns the end of a stored message.
func (f *Follower) endOf(m uimessage.Message) []uistream.Chunk {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // foreign metadata has no result
	var out []uistream.Chunk
	if words := meta.Notice(); words != "" {
		said := []uistream.Chunk{uistream.Error{ErrorText: words}}
		if failureOf(meta.Result) == "" { // the answer is merely incomplete
			said = uistream.Notice(words)
		}
		out, _ = f.pass(said)
	}
	if f.finish == nil && finishReason(meta.Reason) != "" {
		f.finish = uistream.Finish{Reason: finishReason(meta.Reason)}
	}
	return append(out, f.end(meta.Result)...)
}

// finishReason returns a stored reason if it is one of the protocol's, or else an empty string.
func finishReason(reason string) uistream.FinishReason {
	is := uistream.FinishReason(strings.ReplaceAll(reason, "_", "-"))
	if is == uistream.FinishLength || is == uistream.FinishContentFilter {
		return is
	}
	return ""
}

// finishOf returns the reason for a message whose run gave none.
func finishOf(result string, failed bool) uistream.FinishReason {
	switch {
	case failed:
		return uistream.FinishError
	case result == "waiting":
		return uistream.FinishToolCalls
	case result == "stopped":
		return uistream.FinishOther
	}
	return uistream.FinishStop
}

// failureOf words the result of a run for clients that show errors. It is empty if the run ended
// well or a person stopped it.
func failureOf(result string) string {
	switch result {
	case "failed":
		return "The answer failed. Please try again."
	case "interrupted":
		return "The answer was interrupted. What it was doing may or may not have happened."
	}
	return ""
}
