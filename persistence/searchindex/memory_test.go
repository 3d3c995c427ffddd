package searchindex_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
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
		took := stdtest.Peak(func() {
			if found, err := w.index.Search(t.Context(), key, persistence.Search{Text: query}); len(found) == 0 || err != nil {
				t.Errorf("%d were found, %v", len(found), err)
			}
		})
		t.Logf("%s: %.1f MiB", query, float64(took)/(1<<20))
		if took > most {
			t.Errorf("%s took %d bytes, at most %d are expected", query, took, most)
		}
	}
}
