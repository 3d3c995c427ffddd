package length

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A size is reported when it has another class, and turns are counted once.
func TestMemory(t *testing.T) {
	turn := journal.Turn{Message: uimessage.Message{Parts: []uimessage.Part{uimessage.Text{Text: strings.Repeat("a", 1<<10)}}}}
	var m Memory
	if bytes, changed := m.Weigh(nil); bytes != 6<<10 || !changed {
		t.Errorf("an empty chat: %d, %v", bytes, changed)
	}
	if _, changed := m.Weigh(nil); changed {
		t.Error("the same chat has another size")
	}
	turns := []journal.Turn{turn, turn, turn, turn}
	if bytes, changed := m.Weigh(turns); bytes != 24<<10 || !changed {
		t.Errorf("a chat of 22 kB: %d, %v", bytes, changed)
	}
	if _, changed := m.Weigh(turns); changed {
		t.Error("turns are counted twice")
	}
	if bytes, changed := m.Weigh(turns[:1]); bytes != 12<<10 || !changed {
		t.Errorf("a compacted chat of 10 kB: %d, %v", bytes, changed)
	}
	m.Recount()
	if bytes, changed := m.Weigh(turns[:1]); bytes != 12<<10 || changed {
		t.Errorf("the same chat, counted again: %d, %v", bytes, changed)
	}
}
