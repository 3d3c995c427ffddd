package cli

import (
	"encoding/json"
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Event is one thing that happened in a chat. Kind is view (the chat as it was
// when the watch began), or the kind of a frame: start, chunks, end, settled, event.
type Event struct {
	Kind string
	View View // of kind view

	RunID     string
	MessageID string
	Sees      []string            // start: the turns that become visible with the message
	Turns     []uimessage.Message // start: those turns as messages
	Chunks    []uistream.Chunk
	Replay    bool
	Last      bool   // end: the run has ended
	Result    string // end with Last
	Settled   []string

	Name string // event: see [platform.Event]
	Step int
	Text string
}

func decodeEvent(data []byte) (Event, error) {
	var in struct {
		View
		Kind      string
		RunID     string
		MessageID string
		Sees      []string
		Turns     []uimessage.Message
		Chunks    []json.RawMessage
		Replay    bool
		Last      bool
		Result    string
		Settled   []string
		Event     struct {
			Name string
			Step int
			Text string
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return Event{}, fmt.Errorf("event of the host: %w", err)
	}
	out := Event{
		Kind: in.Kind, View: in.View, RunID: in.RunID, MessageID: in.MessageID, Sees: in.Sees, Turns: in.Turns,
		Replay: in.Replay, Last: in.Last, Result: in.Result, Settled: in.Settled,
		Name: in.Event.Name, Step: in.Event.Step, Text: in.Event.Text,
	}
	for _, raw := range in.Chunks {
		c, err := uistream.DecodeChunk(raw)
		if err != nil {
			return Event{}, fmt.Errorf("event of the host: %w", err)
		}
		out.Chunks = append(out.Chunks, c)
	}
	return out, nil
}
