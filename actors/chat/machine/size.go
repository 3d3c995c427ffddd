package machine

import (
	"math/bits"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// restingBytes is the memory of a chat without its turns: actors, state, open ids.
	restingBytes = 6 << 10
	// turnBytes is the memory of a turn without its contents.
	turnBytes = 1 << 10
	// copies is how many copies of the contents exist: in the history, in the converted messages, and in the last
	// request, which the next one extends.
	copies = 3
)

// size is an estimate of the memory that a chat uses.
type size struct {
	turns int // number of turns counted
	bytes int64
	class int // last class reported to the shard: bytes are below 1<<class
}

// weigh counts new turns, and reports the size of the chat to the shard when its class, a power of two, has changed.
func (c *Chat) weigh() {
	turns := c.state.History
	if len(turns) < c.size.turns {
		c.size.turns, c.size.bytes = 0, 0
	}
	for i := c.size.turns; i < len(turns); i++ {
		c.size.bytes += turnBytes + copies*contents(turns[i].Message)
	}
	c.size.turns = len(turns)
	class := bits.Len64(uint64(restingBytes + c.size.bytes))
	if class == c.size.class {
		return
	}
	c.size.class = class
	c.effect(Report{messages.ChatSized{ChatKey: c.key, Bytes: 3 << (class - 2)}}) // the middle of the class
}

// contents returns the number of bytes in a message.
func contents(m uimessage.Message) (n int64) {
	n = int64(len(m.Metadata))
	for _, p := range m.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			n += int64(len(p.Text))
		case uimessage.Reasoning:
			n += int64(len(p.Text))
		case uimessage.Tool:
			n += int64(len(p.Input) + len(p.RawInput) + len(p.Output))
		case uimessage.File:
			n += int64(len(p.URL))
		case uimessage.Data:
			n += int64(len(p.Data))
		case uimessage.Unknown:
			n += int64(len(p.Raw))
		case uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart:
		}
	}
	return n
}
