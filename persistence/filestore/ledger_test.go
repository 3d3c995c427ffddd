package filestore

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func TestLedgerRotation(t *testing.T) {
	const limit, records = 2000, 60
	b := newBench(t, Options{FS: lazyFS(), LedgerBytes: limit})
	c := b.chat(t)
	for n := int64(1); n <= records; n++ {
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(n, n)}))
		if n%7 == 0 { // the number of the last file is found again
			must(t, c.Close())
			c = b.chat(t)
		}
	}
	files, err := filepath.Glob(b.file("conversations/history*.jsonl"))
	must(t, err)
	if len(files) < 5 {
		t.Fatalf("%d files: %q", len(files), files)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		must(t, err)
		if info.Size() > limit+300 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
	var got []journal.LedgerEntry
	for e, err := range c.Ledger(t.Context()) {
		must(t, err)
		got = append(got, e)
	}
	slices.Reverse(got)
	equal(t, "ledger", storetest.Entries(1, records), got)
	must(t, c.Close())

	// The last number is found if the newest file does not exist yet, and if its end is damaged.
	must(t, os.Remove(b.file(ledgerName)))
	if n := b.load(t).LedgerN; n < records-10 || n >= records {
		t.Errorf("LedgerN %d without the newest file", n)
	}
	b.spoil(t, ledgerName, []byte("not a line\n"))
	if n := b.load(t).LedgerN; n < records-10 || n >= records {
		t.Errorf("LedgerN %d with a damaged newest file", n)
	}
}

// A crash between the steps of a checkpoint: whatever part of the ledger's lines is there,
// repeating the checkpoint completes it and duplicates nothing.
func TestCheckpointAfterACrash(t *testing.T) {
	checkpoint := journal.Checkpoint{History: storetest.Turns(1, 2), Ledger: storetest.Entries(1, 3), Meta: journal.Meta{Version: 1, N: 3}}
	var history, ledger, journal []byte
	for _, m := range checkpoint.History {
		history = linefile.AppendTurn(history, m)
	}
	for _, e := range checkpoint.Ledger {
		ledger = linefile.AppendEntry(ledger, e)
	}
	for _, r := range storetest.Facts(1, 3) {
		journal = linefile.AppendRecord(journal, r)
	}
	b := newBench(t, Options{FS: lazyFS()})
	check := func(name string, h, l int) {
		t.Helper()
		b.clear(t)
		b.spoil(t, journalName, journal)
		b.spoil(t, historyName, history[:h])
		b.spoil(t, ledgerName, ledger[:l])
		c := b.chat(t)
		snap, err := c.Load(t.Context())
		must(t, err)
		// What counts as being in the ledger is all there.
		whole := bytes.Count(ledger[:l], []byte("\n"))
		if l == len(ledger)-1 {
			whole++
		}
		if snap.LedgerN > int64(whole/2) {
			t.Fatalf("%s: LedgerN %d with %d entries", name, snap.LedgerN, whole)
		}
		must(t, c.Checkpoint(t.Context(), checkpoint))
		must(t, c.Close())
		snap = b.load(t)
		equal(t, name+": history", checkpoint.History, snap.History)
		equal(t, name+": journal", 0, len(snap.Journal))
		file, err := os.ReadFile(b.file(ledgerName))
		must(t, err)
		equal(t, name+": ledger", withoutJoints(bytes.TrimSpace(ledger)), withoutJoints(bytes.TrimSpace(file)))
		file, err = os.ReadFile(b.file(historyName))
		must(t, err)
		equal(t, name+": history lines", withoutJoints(bytes.TrimSpace(history)), withoutJoints(bytes.TrimSpace(file)))
	}
	for h := 0; h <= len(history); h += 7 {
		check(fmt.Sprint("history cut at ", h), h, 0)
	}
	for l := 0; l <= len(ledger); l += 3 {
		check(fmt.Sprint("ledger cut at ", l), len(history), l)
	}
	check("all there", len(history), len(ledger))
	check("newline missing", len(history), len(ledger)-1)
}

// Readers skip damage in the middle of a ledger.
func TestDamagedLedger(t *testing.T) {
	var file []byte
	for _, e := range storetest.Entries(1, 3000) {
		file = linefile.AppendEntry(file, e)
	}
	line := bytes.IndexByte(file, '\n') + 1
	copy(file[line+5:], "#####")
	b := newBench(t, Options{FS: lazyFS()})
	b.spoil(t, ledgerName, file)
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	snap, err := c.Load(t.Context())
	must(t, err)
	equal(t, "damage seen without reading all of it", 0, len(snap.Damage))
	for e, err := range c.Ledger(t.Context()) {
		must(t, err)
		if e.N <= 2980 {
			break
		}
	}
	equal(t, "pieces that the newest entries found", 0, len(b.quarantined(t)))
	n := 0
	for _, err := range c.Ledger(t.Context()) {
		must(t, err)
		n++
	}
	if n != 2*3000-1 || snap.LedgerN != 3000 {
		t.Errorf("%d entries, LedgerN %d", n, snap.LedgerN)
	}
	equal(t, "pieces in quarantine", 1, len(b.quarantined(t)))
}

// Lines that are longer than what is read at once are read whole, whatever is around them.
func TestLongLinesOfALedger(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	want := storetest.Entries(1, 400)
	for _, i := range []int{0, 400, 401, 798, 799} {
		want[i].Text = strings.Repeat(fmt.Sprintf("text %d ", i), 100_000)
	}
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: want, Meta: journal.Meta{Version: 1, N: 400}}))
	var got []journal.LedgerEntry
	for e, err := range c.Ledger(t.Context()) {
		must(t, err)
		got = append(got, e)
	}
	slices.Reverse(got)
	equal(t, "ledger", want, got)
}

// Invalid markers are logged and skipped.
func TestOddMarks(t *testing.T) {
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "state")
	s := openStore(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	key := messages.ChatKey("telegram-chat-1")
	c, err := s.OpenChat(t.Context(), key)
	must(t, err)
	must(t, c.Wake(t.Context()))
	must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	for _, name := range []string{"open/3/NotEncoded", "open/3/telegram-chat-1", "open/7/%zz", "chat/Stray", "chat/file"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, os.MkdirAll(filepath.Join(dir, "open/9/folder"), 0o700))
	must(t, os.MkdirAll(filepath.Join(dir, "open/strange"), 0o700))
	waking, err := s.Waking(t.Context())
	must(t, err)
	equal(t, "to wake", []messages.ChatKey{key}, waking)
	if n := strings.Count(log.String(), "level=WARN"); n != 4 {
		t.Errorf("%d lines in the log, want 4:\n%s", n, log.String())
	}
	log.Reset()
	for k, err := range s.Chats(t.Context()) {
		must(t, err)
		equal(t, "chat", key, k)
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 2 {
		t.Errorf("%d lines in the log, want 2:\n%s", n, log.String())
	}
	must(t, os.RemoveAll(filepath.Join(dir, "open")))
	waking, err = s.Waking(t.Context())
	if err != nil || len(waking) != 0 {
		t.Errorf("without the folder: %q, %v", waking, err)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := openStore(t, Options{Dir: filepath.Join(t.TempDir(), "state"), Registerer: reg})
	c, err := s.OpenChat(t.Context(), testKey)
	must(t, err)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	must(t, c.Append(t.Context(), storetest.Facts(1, 1)...))
	if err := c.AppendHistory(t.Context(), storetest.Turn(2)); err == nil {
		t.Error("appended behind a journal")
	}
	problems, err := testutil.GatherAndLint(reg)
	must(t, err)
	if len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	want := `
# HELP sma_store_failed_writes_total Writes that failed: full (undone, can be retried), refused (nothing written) or final (chat is read-only).
# TYPE sma_store_failed_writes_total counter
sma_store_failed_writes_total{result="refused"} 1
`
	must(t, testutil.GatherAndCompare(reg, strings.NewReader(want), "sma_store_failed_writes_total"))
	if n, err := testutil.GatherAndCount(reg, "sma_history_append_seconds"); err != nil || n != 1 {
		t.Errorf("%d series, %v", n, err)
	}
}

// withoutJoints are the lines of a file as if each had been fsynced separately.
func withoutJoints(file []byte) string { return strings.ReplaceAll(string(file), "\n ", "\n") }
