package actors_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A plain turn reads the documents of its chat once, for its request: whether the
// chat has become too long is no reason to open files again.
func TestAPlainTurnReadsItsDocumentsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		script := modeltest.NewScript(modeltest.Say("One."), modeltest.Say("Two."), modeltest.Say("Three."))
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: script, Compaction: &compaction.Options{Keep: 30, Budget: 100_000},
			Skills: func(*decision.Documents) { reads.Add(1) },
		})
		const key = messages.ChatKey("telegram-chat-1")
		for n := range 3 {
			before := reads.Load()
			w.Say(key, "alice", fmt.Sprint("turn ", n))
			w.Wait()
			if got := reads.Load() - before; got != 1 {
				t.Errorf("turn %d read the documents %d times, want once", n, got)
			}
		}
		if n := len(script.Requests()); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}
