package machine

import (
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A chunk that does not fit the answer is logged and does not stop the chat.
func TestProgressOfAChunkThatDoesNotFit(t *testing.T) {
	o := decision.Options{Adapter: func(string) (decision.Adapter, bool) { return decision.Adapter{Outbox: true}, true }}.WithDefaults()
	c := New(&o, "telegram-chat-7", &sync.Pool{})
	state, err := journal.Replay(journal.Snapshot{})
	stdtest.Must(t, err)
	c.Load(state, journal.Meta{}, nil, time.Now())
	c.State.Run = &journal.Run{ID: "r", MessageID: "a"}
	c.Begin(decision.Input{Now: time.Now()})
	c.setRun(c.State.Run, "run-1")
	c.End()
	effects := c.Progress(decision.Input{Now: time.Now()}, []uistream.Chunk{uistream.TextDelta{ID: "unknown", Delta: "x"}})
	if len(effects) == 0 {
		t.Fatal("nothing is logged")
	}
	if _, ok := effects[0].(decision.Log); !ok {
		t.Errorf("the first effect is %T, want a line of the log", effects[0])
	}
}
