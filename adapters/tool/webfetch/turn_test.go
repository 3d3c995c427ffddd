package webfetch

import (
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A call for which no turn comes says so, and not that a server was slow.
func TestTurnsAreNotWaitedForForEver(t *testing.T) {
	f := New(Options{Timeout: time.Nanosecond})
	for _, who := range []string{"a", "b"} {
		done, err := f.turns.Take(t.Context(), who)
		stdtest.Must(t, err)
		defer done()
	}
	if _, err := f.turn(t.Context(), tool.Call{}); !errors.Is(err, errBusy) {
		t.Errorf("got %v, want %v", err, errBusy)
	}
}
