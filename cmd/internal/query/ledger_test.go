package query

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func TestLedgerReadsTheLastEntriesOfAllFiles(t *testing.T) {
	state := t.TempDir()
	const key = "telegram-chat--100-topic-7"
	folder, err := chatpath.Encode(key)
	stdtest.Must(t, err)
	n := 0
	lines := func(count int) string {
		var out strings.Builder
		for range count {
			n++
			out.Write(append(journal.AppendLedgerEntry(nil, journal.LedgerEntry{N: int64(n), Dir: journal.DirIn, Fate: journal.FateAnswered}), '\n'))
		}
		return out.String()
	}
	dir := filepath.Join(state, "chat", folder, "conversations")
	for i := 1; i <= 11; i++ {
		stdtest.Write(t, filepath.Join(dir, fmt.Sprintf("history.%d.jsonl", i)), lines(2))
	}
	stdtest.Write(t, filepath.Join(dir, "history.jsonl"), lines(1)+"garbage\n"+lines(1)+`{"n":99,"torn`)
	for _, tt := range []struct {
		name  string
		last  int
		first int64
		count int
	}{{"the newest file", 2, 23, 2}, {"over files", 5, 20, 5}, {"all", 1000, 1, 24}} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Ledger(state, key, tt.last)
			stdtest.Must(t, err)
			var numbers, want []int64
			for _, e := range got {
				numbers = append(numbers, e.N)
			}
			for i := range int64(tt.count) {
				want = append(want, tt.first+i)
			}
			stdtest.Diff(t, "entries", want, numbers)
		})
	}
	if got, err := Ledger(state, "web-chat-unheard-of", 5); len(got) > 0 || err != nil {
		t.Errorf("the ledger of no chat = %v, %v", got, err)
	}
}
