package searchindex_test

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

// A search in a chat of long turns takes no more memory than its results and a few turns.
func TestSearchInLongTurnsStaysInMemory(t *testing.T) {
	const turns, most = 200, 32 << 20
	const key messages.ChatKey = "cli-chat-a"
	w := newWorld(t)
	text := strings.Repeat("今天的会议讨论了预算和日程安排。", 3000)
	for range turns {
		w.say(key, text)
	}
	w.search(key, "nothing")                         // the turns are indexed now
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that only what is in use counts
	for _, query := range []string{"预算 日程", "预算 杭州"} {
		took := peak(func() {
			if found, err := w.index.Search(t.Context(), key, searchindex.Query{Text: query}); len(found) == 0 || err != nil {
				t.Errorf("%d were found, %v", len(found), err)
			}
		})
		t.Logf("%s: %.1f MiB", query, float64(took)/(1<<20))
		if took > most {
			t.Errorf("%s took %d bytes, at most %d are expected", query, took, most)
		}
	}
}

// peak returns how much more memory was used while something ran than before.
func peak(do func()) uint64 {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	debug.FreeOSMemory()
	before, most := used(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				most = max(most, used())
			}
		}
	}()
	do()
	close(stop)
	<-done
	return max(most, before) - before
}
