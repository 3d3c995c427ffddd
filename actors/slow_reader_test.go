package actors_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// A reader that reads nothing of a long answer is dropped with at most a mebibyte waiting for it, and gets the whole
// message when it returns.
func TestOV3SlowReaderIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pieces, size = 100, 64 << 10
		release := make(chan struct{})
		var text []string
		for range pieces {
			text = append(text, strings.Repeat("x", size))
		}
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: modeltest.NewScript(modeltest.Step{Text: text, WaitAfterText: release}),
		})
		slow, err := w.Port.Watch(t.Context(), alice)
		stdtest.Must(t, err)
		w.Say(alice, "alice", "go on")
		<-time.After(10 * time.Second)
		w.Wait()
		waits := 0
		for f := range slow { // ends, since the reader was let go
			waits += said64(f)
		}
		if waits > 1<<20 {
			t.Errorf("%d bytes waited for a reader that took none, want at most a mebibyte", waits)
		}
		again, err := w.Port.Watch(t.Context(), alice)
		stdtest.Must(t, err)
		w.Wait()
		if f := <-again; !f.Replay || said64(f) != pieces*size {
			t.Errorf("back again, the reader gets %d bytes (replay %v), want all %d", said64(f), f.Replay, pieces*size)
		}
		close(release)
		w.Wait()
	})
}

// said64 is how many bytes of text a frame holds.
func said64(f platform.Frame) (n int) {
	for _, c := range f.Chunks {
		if d, ok := c.(uistream.TextDelta); ok {
			n += len(d.Delta)
		}
	}
	return n
}
