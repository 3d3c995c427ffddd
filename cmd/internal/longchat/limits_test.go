package longchat

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// calls are operations of the store on files.
type calls struct{ fsyncs, opens, renames, truncations float64 }

// TestTurnTouchesFewFiles counts what a plain turn does to files: one question, one answer, no
// tools. Time passes only between turns, so the counts do not depend on the machine. Lower the
// limits when a turn does less; `make bench` reads the last line that is printed.
func TestTurnTouchesFewFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		chats int
		turns float64       // in all chats
		pause time.Duration // after each turn
		most  calls
	}{
		{"one chat, one turn after the other", 1, 800, 0, calls{3.10, 0.04, 0.02, 0}},
		{"one chat that rests after each turn", 1, 200, 6 * time.Second, calls{6.01, 0.01, 0.01, 1.01}},
		{"200 chats, 200 turns per second", 200, 800, 5 * time.Millisecond, calls{3.01, 0.01, 0, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := countCalls(t, tt.chats, tt.turns, tt.pause)
				t.Logf("a turn: fsyncs=%.2f opens_renames_truncations=%.2f: %+v", got.fsyncs, got.opens+got.renames+got.truncations, got)
				if got.fsyncs > tt.most.fsyncs || got.opens > tt.most.opens || got.renames > tt.most.renames || got.truncations > tt.most.truncations {
					t.Errorf("want at most %+v", tt.most)
				}
			})
		})
	}
}

// countCalls plays turns in every chat and returns what one turn does on average, apart from the
// first two of each chat.
func countCalls(t *testing.T, chats int, turns float64, pause time.Duration) calls {
	t.Helper()
	disk := filestoretest.NewDisk()
	store, err := filestoretest.Open(disk, filestore.Options{})
	stdtest.Must(t, err)
	w := newBubble(t, store)
	w.turnsIn(t, chats, 2, pause)
	n := map[filestoretest.Kind]float64{}
	disk.After(func(op filestoretest.Op) { n[op.Kind]++ })
	w.turnsIn(t, chats, int(turns)/chats, pause)
	disk.After(nil)
	return calls{
		(n[filestoretest.OpDatasync] + n[filestoretest.OpSyncDir]) / turns, n[filestoretest.OpOpen] / turns,
		n[filestoretest.OpRename] / turns, n[filestoretest.OpTruncate] / turns,
	}
}

// newBubble makes a world in a bubble, which ends after the last timer of the actor library.
func newBubble(t *testing.T, store *filestore.Store) *world {
	t.Helper()
	t.Cleanup(func() { <-time.After(2 * time.Second) })
	return newWorldOn(t, store, t.TempDir(), nil)
}

// turnsIn plays n turns in each of some chats, and waits until what follows at once is done.
func (w *world) turnsIn(t *testing.T, chats, n int, pause time.Duration) {
	t.Helper()
	for range n {
		for i := range chats {
			w.turnIn(t, messages.ChatKey(fmt.Sprint("telegram-chat-", i)))
			<-time.After(pause)
		}
	}
	synctest.Wait()
}

// TestRestingChatWeighsLittle compares the heap with and without chats that had one turn. Lower
// the limits when a chat keeps less. With the race detector the sizes are only logged; `make test`
// runs this without it too. Pools and free goroutines are kept per processor, so their number is
// fixed here.
func TestRestingChatWeighsLittle(t *testing.T) {
	processors := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	for _, tt := range []struct {
		name string
		rest time.Duration
		most float64 // bytes a chat
	}{
		{"20 seconds after its turn", 20 * time.Second, 6_300},
		{"three minutes after its turn", 3 * time.Minute, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := filestore.Open(filestore.Options{Dir: t.TempDir()})
				stdtest.Must(t, err)
				w := newBubble(t, store)
				fillNames(w.system)
				const first, chats = 100, 1000 // enough that buffers, which all chats share, do not matter
				startGoroutines(4 * (first + chats))
				// The first ones fill what all chats share.
				w.turnsIn(t, first, 1, 0)
				<-time.After(5 * time.Minute)
				before := heap()
				w.turnsIn(t, first+chats, 1, 0)
				<-time.After(tt.rest)
				got := (heap() - before) / (first + chats)
				t.Logf("a chat has %.0f bytes", got)
				if got > tt.most && !racing() {
					t.Errorf("want at most %.0f", tt.most)
				}
			})
		})
	}
}

// startGoroutines has the runtime allocate the records of so many goroutines, which it keeps for later ones. How many
// the chats need depends on how many timers, which all fire at once in a bubble, have their goroutines started before
// the first of these end.
func startGoroutines(n int) {
	var all sync.WaitGroup
	started := make(chan struct{})
	for range n {
		all.Go(func() { <-started })
	}
	synctest.Wait()
	close(started)
	all.Wait()
}

// heap is what is in use when collections free no more; what has finalizers takes several.
func heap() float64 {
	synctest.Wait()
	least := math.Inf(1)
	for range 5 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		least = min(least, float64(m.HeapAlloc))
	}
	return least
}

// racing reports whether the race detector is in the program, which uses memory of its own.
func racing() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
