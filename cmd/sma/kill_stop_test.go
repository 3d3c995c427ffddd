package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// TestRL13KillsAfterStop kills the process once a stop was taken: the run stays
// stopped after the restart, the model is not asked for it again, and the message
// has the fate stopped.
func TestRL13KillsAfterStop(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(2, 3), few(4, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		silent := modeltest.NewScript()
		silent.Otherwise = &modeltest.Step{Stall: true}
		w := newKillWorld(t, path, 1, "direct", silent, random)
		for n := range kills {
			stopped := int64(firstUpdate + 2*(n+1)) // the offset that confirms the message and the stop
			delay := time.Duration(random.Int64N(int64(3 * time.Millisecond)))
			if n%3 == 0 {
				delay = 0
			}
			c := trap{at: begun, delay: delay, wants: func(method string, params map[string]any, _ []byte) bool {
				offset, _ := params["offset"].(float64)
				return method == "getUpdates" && int64(offset) >= stopped
			}}
			w.killAt(t, c, func() {
				w.say(1, "please "+w.next(1))
				faketest.Poll(t, "the model to be asked", func() bool { return len(silent.Requests()) > n })
				if asked := len(silent.Requests()); asked != n+1 {
					t.Errorf("the model was asked %d times after %d kills: a stopped run went on", asked, n)
				}
				w.say(1, "/stop")
			})
		}
		b := w.rest(t)[1]
		sum.add("kills", w.kills)
		w.checkStopped(t, b, silent, &sum)
	})
	sum.report(t, "RL13")
}

// checkStopped holds the books against the stops.
func (w *killWorld) checkStopped(t *testing.T, b book, silent *modeltest.Script, sum *tally) {
	t.Helper()
	stops := len(w.said[1]) / 2
	b.balanced(t, "the chat", 2*stops)
	sum.add("acknowledged", stops)
	sum.add("stopped", int(b.Counts.Fates["stopped"]))
	sum.add("lost", stops-int(b.Counts.Fates["stopped"]))
	if asked := len(silent.Requests()); asked != stops || b.Counts.Fates["stopped"] != int64(stops) {
		t.Errorf("%d stops; the model was asked %d times, the fates are %v", stops, asked, b.Counts.Fates)
	}
	want := slices.DeleteFunc(slices.Clone(w.said[1]), func(words string) bool { return words == "/stop" })
	if !slices.Equal(b.users, want) {
		t.Errorf("user turns are %v, want %v", b.users, want)
	}
}
