package web

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// follower picks one assistant message out of a chat's frames and makes it a
// whole UI message stream. It is pure.
type follower struct {
	turn    string // wait for the message that first sees this turn
	message string // or for this message; both empty: the next one
	// base is what the reader has of the message already; nil: nothing.
	base *uimessage.Message

	started bool
	told    bool // more than its start was sent
	// finish is held back until the message is durable.
	finish uistream.Chunk
	// open are the blocks that are begun and not ended: a run that is stopped
	// leaves them so, and the message is stored without open blocks.
	open []block
	// failed says that an error was passed on.
	failed bool
}

// block is a text or a reasoning.
type block struct {
	id        string
	reasoning bool
}

// verdict says how a follower goes on.
type verdict int

const (
	goOn    verdict = iota
	ended           // the message is complete; write the end mark
	settled         // the turn ended before a message began: look at the history
	void            // what was sent is no longer true: cut the connection
)

// frame returns the chunks to send for a frame.
func (f *follower) frame(fr platform.Frame) ([]uistream.Chunk, verdict) {
	if f.started {
		return f.follow(fr)
	}
	switch fr.Kind {
	case platform.FrameStart:
		if !f.wants(fr) {
			return nil, goOn
		}
		f.started, f.message = true, fr.MessageID
		return f.begin(fr), goOn
	case platform.FrameSettled, platform.FrameEnd:
		if f.turn != "" && slices.Contains(fr.Settled, f.turn) {
			return nil, settled
		}
		if f.turn == "" && fr.Kind == platform.FrameEnd && fr.Last {
			return nil, settled
		}
	case platform.FrameChunks, platform.FrameEvent:
	}
	return nil, goOn
}

func (f *follower) wants(fr platform.Frame) bool {
	switch {
	case f.message != "":
		return fr.MessageID == f.message
	case f.turn != "":
		return slices.Contains(fr.Sees, f.turn)
	default:
		return true
	}
}

// begin opens the stream with a start chunk that names the message.
func (f *follower) begin(fr platform.Frame) []uistream.Chunk {
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
	out := append([]uistream.Chunk{start}, f.pass(rest)...)
	f.told = len(rest) > 0
	return out
}

// news are the chunks of a replayed message that its reader does not have.
func (f *follower) news(replay []uistream.Chunk) []uistream.Chunk {
	if f.base == nil {
		return replay
	}
	return gained(*f.base, replay)
}

func (f *follower) follow(fr platform.Frame) ([]uistream.Chunk, verdict) {
	switch fr.Kind {
	case platform.FrameStart:
		switch {
		case fr.MessageID != f.message:
			return f.end(""), ended
		case f.told:
			return nil, void // it begins anew: a step was repeated
		}
		return f.pass(f.news(fr.Chunks)), goOn
	case platform.FrameChunks:
		if fr.MessageID == f.message {
			return f.pass(fr.Chunks), goOn
		}
	case platform.FrameEnd:
		if fr.MessageID == f.message {
			return f.end(fr.Result), ended
		}
	case platform.FrameSettled, platform.FrameEvent:
	}
	return nil, goOn
}

// pass lets chunks through but for a second start, of which only the metadata
// is news, and for the finish.
func (f *follower) pass(list []uistream.Chunk) []uistream.Chunk {
	f.told = f.told || len(list) > 0
	out := list[:0:0]
	for _, c := range list {
		if start, ok := c.(uistream.Start); ok {
			if len(start.Metadata) > 0 {
				out = append(out, uistream.MessageMetadata{Metadata: start.Metadata})
			}
			continue
		}
		if _, ok := c.(uistream.Finish); ok {
			f.finish = c
			continue
		}
		f.note(c)
		out = append(out, c)
	}
	return out
}

// note keeps which blocks are open, and whether an error was told.
func (f *follower) note(c uistream.Chunk) {
	if text, ok := c.(uistream.TextStart); ok {
		f.open = append(f.open, block{id: text.ID})
	} else if thought, ok := c.(uistream.ReasoningStart); ok {
		f.open = append(f.open, block{id: thought.ID, reasoning: true})
	} else if text, ok := c.(uistream.TextEnd); ok {
		f.shut(block{id: text.ID})
	} else if thought, ok := c.(uistream.ReasoningEnd); ok {
		f.shut(block{id: thought.ID, reasoning: true})
	} else if _, ok := c.(uistream.Error); ok {
		f.failed = true
	}
}

func (f *follower) shut(b block) {
	if i := slices.Index(f.open, b); i >= 0 {
		f.open = slices.Delete(f.open, i, i+1)
	}
}

// end is what a message ends with: its open blocks, an error if its run did not
// end well and none was told, then the finish.
func (f *follower) end(result string) []uistream.Chunk {
	var out []uistream.Chunk
	for _, b := range f.open {
		if b.reasoning {
			out = append(out, uistream.ReasoningEnd{ID: b.id})
		} else {
			out = append(out, uistream.TextEnd{ID: b.id})
		}
	}
	if words := failureOf(result); words != "" && !f.failed {
		out = append(out, uistream.Error{ErrorText: words})
	}
	if f.finish == nil {
		f.finish = uistream.Finish{}
	}
	return append(out, f.finish)
}

// failureOf words the result of a run for clients that show errors; empty: it
// ended well, or a person stopped it.
func failureOf(result string) string {
	switch result {
	case "failed":
		return "The answer failed. Please try again."
	case "interrupted":
		return "The answer was interrupted. What it was doing may or may not have happened."
	}
	return ""
}
