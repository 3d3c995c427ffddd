package filestore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Each kind of file is cut at every byte of its last three records: complete records are loaded,
// the rest is quarantined, and the file can be appended to.
func TestST3TornAtEveryByte(t *testing.T) {
	const records = 5
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			var whole []byte
			var ends []int
			for n := 1; n <= records; n++ {
				whole = append(whole, kind.line(n)...)
				ends = append(ends, len(whole))
			}
			for cut := ends[records-4]; cut <= len(whole); cut++ {
				b.clear(t)
				b.spoil(t, kind.name, whole[:cut])
				kept := 0
				for kept < records && ends[kept]-1 <= cut { // the newline may be missing
					kept++
				}
				end := ends[kept-1]
				snap := b.load(t)
				equal(t, fmt.Sprintf("records with the file cut at %d", cut), upTo(kept), kind.held(snap))
				var torn []string
				if end < cut {
					torn = []string{string(whole[end:cut])}
				}
				equal(t, "quarantine", torn, b.quarantined(t))
				if len(snap.Damage) != len(torn) {
					t.Fatalf("damage %+v", snap.Damage)
				}
				again := b.load(t)
				equal(t, "damage after it was cut off", 0, len(again.Damage))
				if soak() || (cut-end)%9 == 0 {
					b.goOn(t, again)
				}
			}
			t.Logf("cut at each of %d bytes", len(whole)-ends[records-4]+1)
		})
	}
}

// Runs of 1 to 4096 NUL bytes are put before, inside and after every record: the records on both
// sides are kept, the gap is reported, counted and quarantined, the history counts as damaged, and
// everything else works.
func TestST4NULRuns(t *testing.T) {
	const records = 5
	lengths := []int{1, 2, 511, 4096}
	if soak() {
		lengths = upTo(4096)
	}
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			for _, length := range lengths {
				for at := range 2*records + 1 {
					file, lost, want := withNULs(kind, records, length, at)
					b.clear(t)
					b.spoil(t, kind.name, file)
					before := testutil.ToFloat64(b.metrics.quarantine)
					snap := b.load(t)
					if kind.name == ledgerName {
						want = upTo(slices.Max(want))
					}
					equal(t, fmt.Sprintf("records with %d NUL bytes at %d", length, at), want, kind.held(snap))
					equal(t, "quarantine", []string{string(lost)}, b.quarantined(t))
					equal(t, "damage", 1, len(snap.Damage))
					equal(t, "counted", 1, int(testutil.ToFloat64(b.metrics.quarantine)-before))
					if kind.name == historyName && at < 2*records {
						b.refusesRewrite(t)
					}
					if !soak() || length%61 == 0 {
						b.goOn(t, b.load(t))
					}
				}
			}
			t.Logf("%d runs", len(lengths)*(2*records+1))
		})
	}
}

// withNULs is a file of records with a run of NUL bytes: before a record, instead of its middle, or
// after the last one.
func withNULs(kind lineFile, records, length, at int) (file, lost []byte, want []int) {
	gap := make([]byte, length)
	for n := 1; n <= records; n++ {
		line := kind.line(n)
		switch at {
		case 2 * (n - 1):
			file, lost = append(append(file, gap...), line...), gap
			want = append(want, n)
		case 2*n - 1:
			line = slices.Concat(line[:10], gap, line[20:])
			file, lost = append(file, line...), line[:len(line)-1]
		default:
			file = append(file, line...)
			want = append(want, n)
		}
	}
	if at == 2*records {
		file, lost = append(file, gap...), gap
	}
	return file, lost, want
}

// refusesRewrite checks that the history may not be rewritten, and is not.
func (b *bench) refusesRewrite(t *testing.T) {
	t.Helper()
	before, err := os.ReadFile(b.file(historyName))
	must(t, err)
	c := b.chat(t)
	for _, r := range []journal.Rewrite{{To: 1}, {ArchiveID: "a", To: 1}, {Insert: storetest.Turns(8, 8)}} {
		err := c.Rewrite(t.Context(), r)
		var e *persistence.Error
		if !errors.Is(err, journal.ErrDamaged) || !errors.As(err, &e) || !e.Retryable {
			t.Fatalf("rewrite: %v, want ErrDamaged that is retryable", err)
		}
	}
	must(t, c.Close())
	after, err := os.ReadFile(b.file(historyName))
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Fatal("a refused rewrite changed the file")
	}
	if _, err := os.Stat(b.file(archiveDir)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a refused rewrite left %v", err)
	}
}

// Each of 1,000 flipped bits in each kind of file is found by loading and by verifying: its record
// is not read, or is intact because the bit belonged to a newline.
func TestST6BitFlips(t *testing.T) {
	const records = 4
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			var whole []byte
			var ends []int
			for n := 1; n <= records; n++ {
				whole = append(whole, kind.line(n)...)
				ends = append(ends, len(whole))
			}
			flips, newlines := often(250, 1000), 0
			random := rand.New(rand.NewPCG(1, uint64(len(whole))))
			for range flips {
				bit := random.IntN(8 * len(whole))
				at := bit / 8
				hit := 0
				for ends[hit] <= at {
					hit++
				}
				spoiled := slices.Clone(whole)
				spoiled[at] ^= 1 << (bit % 8)
				b.clear(t)
				b.spoil(t, kind.name, spoiled)
				found := len(b.inspect(t).Damage())
				snap := b.load(t)
				want := upTo(records)
				if at == ends[hit]-1 {
					newlines++
				} else {
					want = slices.Delete(want, hit, hit+1)
				}
				if kind.name == ledgerName {
					want = upTo(slices.Max(want))
				}
				equal(t, fmt.Sprintf("records with bit %d flipped in %q", bit, spoiled[at]), want, kind.held(snap))
				if at != ends[hit]-1 && (len(snap.Damage) == 0 || found == 0) {
					t.Fatalf("bit %d: %d pieces of damage loaded, %d verified", bit, len(snap.Damage), found)
				}
			}
			t.Logf("%d flips found, %d of them in newlines", flips, newlines)
		})
	}
}

// inspect inspects the chat's files once, like verifying does.
func (b *bench) inspect(t *testing.T) Report {
	t.Helper()
	c := newChat(b.Store, testKey, testKey)
	in, err := c.inspect(t.Context())
	must(t, err)
	return in.report
}

// A damaged history is read and appended to, but not rewritten; after a repair it can be rewritten.
func TestST7DamageRefusesRewritesUntilRepaired(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	whole, ends := turnFile(4)
	whole[ends[1]+30] ^= 4
	b.spoil(t, historyName, whole)
	b.refusesRewrite(t)
	c := b.chat(t)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(5)))
	must(t, c.Close())
	b.refusesRewrite(t)
	c = b.chat(t)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(6)))
	must(t, c.Append(t.Context(), storetest.Facts(1, 1)...))
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(1, 1)}))
	must(t, c.Close())
	file, err := os.ReadFile(b.file(historyName))
	must(t, err)
	equal(t, "file", string(linefile.AppendTurn(linefile.AppendTurn(whole, storetest.Turn(5)), storetest.Turn(6))), withoutJoints(file))
	equal(t, "shown", []string{"u1", "u2", "u4", "u5", "u6"}, ids(b.load(t).History))

	_, err = b.Repair(t.Context(), testKey, RepairOptions{})
	must(t, err)
	c = b.chat(t)
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "a", To: 2}))
	a, err := c.ReadArchive(t.Context(), "a")
	must(t, err)
	equal(t, "archived", []string{string(bytes.TrimSuffix(whole[:ends[0]], []byte("\n"))), string(bytes.TrimSuffix(whole[ends[0]:ends[1]], []byte("\n")))}, a.Lines)
	must(t, c.Close())
	equal(t, "left", 4, len(b.load(t).History)) // the gap, and three turns
}

func ids(turns []uimessage.Message) (out []string) {
	for _, m := range turns {
		out = append(out, m.ID)
	}
	return out
}
