package cli

import (
	"encoding/json"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Event is one thing that happened in a chat, in the encoding of the host. Kind is view (the chat as it was
// when the watch began), or the kind of a frame: start, chunks, end, settled, event.
type Event struct {
	View // of kind view
	platform.Frame

	Turns  []uimessage.Message // start: the turns of Sees as messages
	Chunks chunks
}

// chunks are decoded by their types.
type chunks []uistream.Chunk

// UnmarshalJSON implements [json.Unmarshaler].
func (l *chunks) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, one := range list {
		c, err := uistream.DecodeChunk(one)
		if err != nil {
			return err
		}
		*l = append(*l, c)
	}
	return nil
}

func decodeEvent(data []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, fmt.Errorf("event of the host: %w", err)
	}
	return e, nil
}
