package filestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func inspector(t *testing.T, dir string) *Inspector {
	t.Helper()
	i, err := Inspect(Options{Dir: dir})
	must(t, err)
	return i
}

// Verifying finds damage in every file, reports its position and what a repair does, and changes
// nothing.
func TestVerifyChangesNothing(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	want := map[string]Remedy{historyName: RemedyMark, journalName: RemedyClose, ledgerName: RemedyClose, metaLogName: RemedyRebuild}
	sizes := map[string]int64{}
	for _, kind := range lineFiles() {
		b.spoil(t, kind.name, slices.Concat(kind.line(1), kind.line(2)[:15], []byte("\n"), kind.line(3), []byte("torn")))
		sizes[kind.name] = int64(len(kind.line(1)))
	}
	before := b.tree(t)
	i := inspector(t, b.dir)
	report, err := i.Verify(t.Context(), testKey)
	must(t, err)
	got := map[string]Remedy{}
	for _, f := range report.Files {
		got[f.File] = f.Remedy
		equal(t, "records of "+f.File, 2, f.Records)
		equal(t, "damage of "+f.File, []journal.Damage{
			{File: f.File, Offset: sizes[f.File], Bytes: 15, Why: linefile.WhyGlued},
			{File: f.File, Offset: f.Bytes - 4, Bytes: 4, Why: linefile.WhyTorn},
		}, f.Damage)
	}
	equal(t, "remedies", want, got)
	equal(t, "turns, waiting", []int{2, 2}, []int{report.Turns, report.Waiting})
	equal(t, "tree", before, b.tree(t))
	var keys []messages.ChatKey
	for key, err := range i.Chats(t.Context()) {
		must(t, err)
		keys = append(keys, key)
	}
	equal(t, "chats", []messages.ChatKey{testKey}, keys)
}

func TestVerifyOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	i := inspector(t, dir)
	for key, err := range i.Chats(t.Context()) {
		t.Errorf("a chat %q, %v", key, err)
	}
	if _, err := i.Verify(t.Context(), testKey); !errors.Is(err, persistence.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
	if _, err := i.Verify(t.Context(), "\xff"); !errors.Is(err, messages.ErrChatKey) {
		t.Errorf("%v, want ErrChatKey", err)
	}
	if _, err := Inspect(Options{}); err == nil {
		t.Error("a store without a folder was inspected")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A chat that is written to in every way while it is verified is never reported as damaged.
func TestVerifyBesideAWriter(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS(), LedgerBytes: 4000})
	c := b.chat(t)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	written := make(chan error, 1)
	go func() { written <- writeOn(t.Context(), c, often(200, 3000)) }()
	i, looks := inspector(t, b.dir), 0
	for done := false; !done; looks++ {
		select {
		case err := <-written:
			must(t, err)
			done = true // verify once more
		default:
		}
		report, err := i.Verify(t.Context(), testKey)
		if err != nil || len(report.Damage()) > 0 || report.Refused != "" {
			t.Fatalf("%v, %+v", err, report)
		}
	}
	must(t, c.Close())
	t.Logf("verified %d times", looks)
}

// writeOn appends, checkpoints and rewrites.
func writeOn(ctx context.Context, c persistence.Chat, turns int) error {
	for n := 2; n < turns; n++ {
		meta := journal.Meta{Version: 1, N: int64(n), IngressIDs: []string{fmt.Sprint(n)}}
		checkpoint := journal.Checkpoint{History: storetest.Turns(n, n), Ledger: storetest.Entries(int64(n), int64(n)), Meta: meta}
		err := errors.Join(c.Append(ctx, storetest.Facts(int64(n), int64(n))...), c.Checkpoint(ctx, checkpoint))
		if err == nil && n%50 == 0 {
			err = c.Rewrite(ctx, journal.Rewrite{ArchiveID: fmt.Sprint("a", n), To: 40, Meta: meta})
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", n, err)
		}
	}
	return nil
}
