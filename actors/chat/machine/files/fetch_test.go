package files

import (
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A fetch that has ended leaves nothing behind: the host forgets what cancels it.
func TestFetchedIsForgotten(t *testing.T) {
	file := platform.File{Kind: "photo", FileID: "f"}
	turn := uimessage.Message{ID: "u1", Role: uimessage.RoleUser, Parts: []uimessage.Part{file.Part()}, Metadata: uimessage.Metadata{Seq: 1}.Append(nil)}
	state, err := journal.Replay(journal.Snapshot{History: []uimessage.Message{turn}})
	stdtest.Must(t, err)
	b := &decision.Base{Options: &decision.Options{Fetches: true}, State: state}
	w := Files{Base: b}
	b.Begin(decision.Input{Now: time.Unix(1, 0)})
	if !w.FetchAll() {
		t.Fatal("nothing is fetched")
	}
	file.Failed = "gone"
	w.OnFetched(decision.Fetched{TurnID: "u1", N: 1, Parts: []uimessage.Part{file.Part()}})
	if p := b.End(); !slices.Contains(p.Effects, decision.Effect(decision.CancelFetch{N: 1})) || len(w.turns) != 0 {
		t.Errorf("effects %+v, still fetched: %v", p.Effects, w.turns)
	}
}
