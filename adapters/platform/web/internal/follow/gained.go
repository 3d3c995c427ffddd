package follow

import (
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// CallOf returns the tool call with an id.
func CallOf(m uimessage.Message, id string) (uimessage.Tool, bool) {
	for _, part := range m.Parts {
		if t, ok := part.(uimessage.Tool); ok && t.ToolCallID == id {
			return t, true
		}
	}
	return uimessage.Tool{}, false
}

// gained returns the chunks that bring a reader from the message base to what chunks rebuild:
// outcomes of its calls, and the parts after it.
func gained(base uimessage.Message, chunks []uistream.Chunk) []uistream.Chunk {
	now := uistream.NewReader(nil)
	for _, c := range chunks {
		if _, err := now.Apply(c); err != nil {
			return nil // Unreachable: a replay can be applied
		}
	}
	parts := now.Message().Parts
	known := min(len(base.Parts), len(parts))
	var out []uistream.Chunk
	for _, part := range parts[:known] {
		t, ok := part.(uimessage.Tool)
		if was, found := CallOf(base, t.ToolCallID); !ok || !found || was.State.Settled() || !t.State.Settled() {
			continue
		}
		whole := uistream.Replay(uimessage.Message{Parts: []uimessage.Part{t}})
		out = append(out, whole[len(whole)-1]) // the outcome
	}
	skip := len(uistream.Replay(uimessage.Message{ID: base.ID, Parts: parts[:known]}))
	if skip > len(chunks) {
		return out
	}
	rest := chunks[skip:]
	if len(rest) > 0 {
		if _, ok := rest[0].(uistream.FinishStep); ok {
			rest = rest[1:] // the end of a step that the reader has already seen
		}
	}
	return append(out, rest...)
}
