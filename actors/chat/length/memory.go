package length

import (
	"math/bits"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
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

// Memory estimates the memory that a chat uses. It counts each turn once.
type Memory struct {
	turns int // number of turns counted
	bytes int64
	class int // last class reported: bytes are below 1<<class
}

// Recount forgets what was counted, since turns were replaced.
func (m *Memory) Recount() { m.turns, m.bytes = 0, 0 }

// Weigh counts new turns. It returns the size and true when its class, a power of two, has changed.
func (m *Memory) Weigh(turns []journal.Turn) (bytes int64, changed bool) {
	if len(turns) < m.turns {
		m.Recount()
	}
	for i := m.turns; i < len(turns); i++ {
		m.bytes += turnBytes + copies*contents(turns[i].Message)
	}
	m.turns = len(turns)
	class := bits.Len64(uint64(restingBytes + m.bytes))
	changed, m.class = class != m.class, class
	return 3 << (class - 2), changed // the middle of the class
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
