package webfetch

import (
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// A call for which no turn comes says so, and not that a server was slow.
func TestTurnsAreNotWaitedForForEver(t *testing.T) {
	f := New(Options{Timeout: time.Nanosecond})
	for _, who := range []string{"a", "b"} {
		done, err := f.turns.Take(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
	if _, err := f.turn(t.Context(), tool.Call{}); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want %v", err, errBusy)
	}
}
