package filestore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// For any changes of the ids, and any of the meta files after a crash, a load returns the meta of
// the last checkpoint.
func TestMetaLog(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	b := newBench(t, Options{FS: lazyFS()})
	c := b.chat(t)
	var ids []string
	var older [][]byte // earlier meta files
	written, logged := 0, 0
	for n := int64(1); n <= 400; n++ {
		switch random.IntN(20) {
		case 0:
			ids = nil
		case 1:
			random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		case 2:
			ids = slices.Repeat([]string{"same"}, 5)
		default:
			for range random.IntN(5) {
				ids = append(ids, fmt.Sprintf("id %d %d <&>", n, random.IntN(3)))
			}
			ids = ids[min(random.IntN(4), len(ids)):]
		}
		want := journal.Meta{
			Version: 1, IngressIDs: ids, N: n, Seq: n, Cursor: fmt.Sprint(n / 10), Pinned: []string{"p"},
			Counts: journal.Counts{Accepted: n, Fates: map[journal.Fate]int64{journal.FateMerged: n}},
		}
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: want}))
		switch random.IntN(12) {
		case 0:
			must(t, c.Rest(t.Context()))
			written++
		case 1:
			must(t, c.Close())
			c = b.chat(t)
		case 2:
			must(t, c.Close())
			file, err := os.ReadFile(b.file(metaName))
			if err == nil && len(older) > 0 && b.logHolds(t, older[len(older)-1]) {
				b.spoil(t, metaName, older[len(older)-1]) // the rename was not fsynced
			}
			if err == nil {
				older = append(older, file)
			}
			c = b.chat(t)
		}
		if b.size(t, metaLogName) > 0 {
			logged++
		}
		snap, err := c.Load(t.Context())
		must(t, err)
		equal(t, fmt.Sprintf("meta after checkpoint %d", n), want, snap.Meta)
	}
	must(t, c.Close())
	if logged < 300 || written < 10 {
		t.Errorf("%d checkpoints left a log, %d files were written at rest", logged, written)
	}
}

// logHolds reports whether the log goes back to a given meta file.
func (b *bench) logHolds(t *testing.T, file []byte) bool {
	t.Helper()
	log, err := os.ReadFile(b.file(metaLogName))
	must(t, err)
	at := bytes.LastIndex(file, []byte(`"gen":`))
	gen := file[at : bytes.IndexByte(file[at:], ',')+at+1]
	return bytes.Contains(log, gen)
}

func (b *bench) size(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(b.file(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

func TestMetaLogIsCheckpointed(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	c := b.chat(t)
	var ids []string
	for n := int64(1); n <= 3000; n++ {
		ids = append(ids, fmt.Sprint("telegram-chat-1:", n))
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: journal.Meta{Version: 1, IngressIDs: ids, N: n}}))
	}
	if n := b.size(t, metaLogName); n > 2*metaLogLimit {
		t.Errorf("the log has %d bytes", n)
	}
	must(t, c.Close())
	equal(t, "ids", ids, b.load(t).Meta.IngressIDs)
	// Without its file the log still has most of it.
	must(t, os.Remove(b.file(metaName)))
	snap := b.load(t)
	if snap.Meta.N != 3000 || !slices.Contains(snap.Meta.IngressIDs, "telegram-chat-1:3000") {
		t.Errorf("without the file: N %d, %d ids", snap.Meta.N, len(snap.Meta.IngressIDs))
	}
}

// A cut of the journal that was lost is repeated: the records are in the checkpoint already, and
// the chat is at rest.
func TestForgottenCut(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	c := b.chat(t)
	must(t, c.Append(t.Context(), storetest.Facts(1, 5)...))
	before, err := os.ReadFile(b.file(journalName))
	must(t, err)
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: storetest.Turns(1, 2), Ledger: storetest.Entries(4, 5), Meta: journal.Meta{Version: 1, N: 5}}))
	must(t, c.Append(t.Context(), storetest.Facts(6, 6)...))
	after, err := os.ReadFile(b.file(journalName))
	must(t, err)
	must(t, c.Close())

	b.spoil(t, journalName, before)
	c = b.chat(t)
	snap, err := c.Load(t.Context())
	must(t, err)
	equal(t, "journal", 0, len(snap.Journal))
	if snap.LedgerN != 5 {
		t.Errorf("LedgerN %d, want 5", snap.LedgerN)
	}
	must(t, c.AppendHistory(t.Context(), storetest.Turn(3)))
	must(t, c.Close())
	equal(t, "history", storetest.Turns(1, 3), b.load(t).History)

	// New records over old ones that were not cut off.
	b.spoil(t, journalName, slices.Concat(after, before[len(after):]))
	equal(t, "journal", storetest.Facts(6, 6), b.load(t).Journal)
	// A rest that was not renamed into place: all old records are still needed.
	b.clear(t)
	c = b.chat(t)
	must(t, c.Append(t.Context(), storetest.Facts(1, 5)...))
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(4, 5), Meta: journal.Meta{Version: 1, N: 7}, Rest: storetest.Facts(6, 7)}))
	must(t, c.Close())
	b.spoil(t, journalName, before)
	snap = b.load(t)
	equal(t, "journal", storetest.Facts(1, 5), snap.Journal)
	if snap.LedgerN != 4 { // some of those of record 5 may be missing
		t.Errorf("LedgerN %d, want 4", snap.LedgerN)
	}
}

// No record counts as being in the checkpoint before history and ledger are fsynced.
func TestFoldedIsSaidLast(t *testing.T) {
	var order []string
	folder := filepath.Join(chatsDir, testKey) + "/"
	fsys := &faultFS{FS: vfs.OS{}, lazy: true, fail: func(op, name string) error {
		_, name, _ = strings.Cut(name, folder)
		if name == metaLogName && op != "open" || op == "datasync" || op == "truncate" {
			order = append(order, op+" "+name)
		}
		return nil
	}}
	b := newBench(t, Options{FS: fsys})
	c := b.chat(t)
	must(t, c.Append(t.Context(), storetest.Facts(1, 2)...))
	order = nil
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: storetest.Turns(1, 1), Ledger: storetest.Entries(1, 2)}))
	must(t, c.Close())
	equal(t, "order", []string{
		"datasync " + historyName, "datasync " + ledgerName, "write " + metaLogName, "datasync " + metaLogName, "truncate " + journalName,
	}, order)
}
