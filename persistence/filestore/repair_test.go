package filestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// tree returns every file below the store's folder with its mode and contents.
func (b *bench) tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(b.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data := ""
		if !d.IsDir() {
			raw, err := os.ReadFile(name)
			must(t, err)
			data = string(raw)
		}
		out[name] = info.Mode().String() + " " + data
		return nil
	}))
	return out
}

func (b *bench) read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(b.file(name))
	must(t, err)
	return string(raw)
}

func (b *bench) repair(t *testing.T) Repaired {
	t.Helper()
	done, err := b.Repair(t.Context(), testKey, RepairOptions{Gap: func(lost int64) string { return fmt.Sprint(lost, " lost") }})
	must(t, err)
	return done
}

// gaps summarises a history: ids of turns, and the texts of gaps.
func gaps(turns []uimessage.Message) (out []string) {
	for _, m := range turns {
		if journal.NewTurn(m).Meta.Kind == uimessage.KindGap {
			out = append(out, journal.Text(m))
		} else {
			out = append(out, m.ID)
		}
	}
	return out
}

func TestRepairMarksGaps(t *testing.T) {
	line := func(n int) string { return string(linefile.AppendTurn(nil, storetest.Turn(n))) }
	const foreign = `{"id":"f1", "role":"user", "later":[1.0]}` + "\n"
	flipped := strings.Replace(line(2), "text", "tent", 1)
	nul := strings.Repeat("\x00", 700)
	for _, tc := range []struct {
		name, file string
		want       []string // what is there afterwards
		kept       []string // its lines, except for gaps
	}{
		{"a flipped bit", line(1) + flipped + line(3), []string{"u1", fmt.Sprint(len(flipped)-1, " lost"), "u3"}, []string{line(1), line(3)}},
		{"at the beginning", flipped + line(1), []string{fmt.Sprint(len(flipped)-1, " lost"), "u1"}, []string{line(1)}},
		{"at the end", line(1) + flipped, []string{"u1", fmt.Sprint(len(flipped)-1, " lost")}, []string{line(1)}},
		{"two places", nul + line(1) + nul + foreign, []string{"700 lost", "u1", "700 lost", "f1"}, []string{line(1), foreign}},
		{"lines that adjoin", line(1) + "x\ny\n\nz\n" + line(3), []string{"u1", "3 lost", "u3"}, []string{line(1), line(3)}},
		{"a torn tail has no mark", line(1) + "rubbish\n" + line(3) + line(4)[:30], []string{"u1", "7 lost", "u3"}, []string{line(1), line(3)}},
		{"only a torn tail", line(1) + line(4)[:30], []string{"u1"}, []string{line(1)}},
		{"glued", line(1)[:40] + line(2) + foreign, []string{"40 lost", "u2", "f1"}, []string{line(2), foreign}},
		{"an earlier version is what is left", line(1) + line(2) + strings.Replace(line(1), "text 1", "new", 1), []string{"u1", "u2", fmt.Sprint(len(line(1))-4, " lost")}, []string{line(1), line(2)}},
		{"all of it", nul, nil, nil},
		{"all of it, with a newline", nul + "\n", []string{"700 lost"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			b.spoil(t, historyName, []byte(tc.file))
			done := b.repair(t)
			if len(done.Files) != 1 || len(done.Left) != 0 {
				t.Fatalf("%+v", done)
			}
			equal(t, "backup", tc.file, b.read(t, quarantineDir+"/"+done.Files[0].Backup))
			for _, p := range done.Files[0].Pieces {
				equal(t, "piece", tc.file[p.Offset:p.Offset+p.Bytes], b.read(t, quarantineDir+"/"+p.Copy))
			}
			snap := b.load(t)
			equal(t, "damage", 0, len(snap.Damage))
			equal(t, "history", tc.want, gaps(snap.History))
			var kept []string
			for l := range strings.SplitAfterSeq(b.read(t, historyName), "\n") {
				if l != "" && !strings.Contains(l, `"kind":"gap"`) {
					kept = append(kept, l)
				}
			}
			equal(t, "lines", tc.kept, kept)
			b.sound(t)
		})
	}
}

// sound checks that a repaired chat is intact and works in every way.
func (b *bench) sound(t *testing.T) {
	t.Helper()
	if r := b.inspect(t); len(r.Damage()) > 0 || r.Repairable() {
		t.Fatalf("found after a repair: %+v", r)
	}
	before := b.tree(t)
	if again := b.repair(t); len(again.Files) > 0 {
		t.Fatalf("repaired again: %+v", again)
	}
	equal(t, "what a second repair changed", before, b.tree(t))
	snap := b.load(t)
	b.goOn(t, snap)
	c := b.chat(t)
	_, err := c.Load(t.Context())
	must(t, err)
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "x", To: len(snap.History), Meta: snap.Meta}))
	must(t, c.Close())
	equal(t, "after a rewrite", []string{"u90"}, ids(b.load(t).History))
}

// Journal, ledger and the meta's log only lose what is damaged.
func TestRepairClosesGaps(t *testing.T) {
	for _, kind := range lineFiles()[1:] {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			file := slices.Concat(kind.line(1), []byte("rubbish\n"), kind.line(2)[:25], kind.line(3), make([]byte, 99), kind.line(4), []byte("to"))
			b.spoil(t, kind.name, file)
			done := b.repair(t)
			if len(done.Files) != 1 || len(done.Files[0].Pieces) != 4 {
				t.Fatalf("%+v", done)
			}
			equal(t, "backup", string(file), b.read(t, quarantineDir+"/"+done.Files[0].Backup))
			want := string(slices.Concat(kind.line(1), kind.line(3), kind.line(4)))
			if kind.name == metaLogName {
				want = "" // all of it is in the meta file
			}
			equal(t, "file", want, b.read(t, kind.name))
			snap := b.load(t)
			held := []int{1, 3, 4}
			if kind.name == ledgerName {
				held = upTo(4)
			}
			equal(t, "records", held, kind.held(snap))
			b.sound(t)
		})
	}
}

// A lost meta is rebuilt: handled ids are known, and the sums are right.
func TestRepairRebuildsMeta(t *testing.T) {
	turn := func(n int) uimessage.Message {
		m := storetest.Turn(n)
		meta := uimessage.Metadata{TS: int64(n), IngressID: fmt.Sprint("in", n), Seq: int64(n)}
		m.Metadata = meta.Raw()
		return m
	}
	b := newBench(t, Options{FS: lazyFS(), LedgerBytes: 1})
	c := b.chat(t)
	must(t, c.AppendHistory(t.Context(), turn(1), turn(2), turn(3)))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "a", To: 2}))
	must(t, c.Append(t.Context(), storetest.Facts(1, 5)...))
	for n := int64(3); n <= 5; n++ { // each in its own ledger file
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{
			Ledger: storetest.Entries(n, n), Rest: []journal.Record{{N: n + 10, Fact: journal.TurnAccepted{Turn: turn(int(n) + 10)}}},
			Meta: journal.Meta{Version: 1, N: n, Seq: n, IngressIDs: []string{"in1", "in2", "in3", "seen"}, Pinned: []string{"p"}},
		}))
	}
	must(t, c.Rest(t.Context()))
	must(t, c.Close())
	whole := b.load(t)
	for i, left := range []string{"", `{"v":1,"n":5`, "\x00\x00"} {
		b.spoil(t, metaName, []byte(left))
		done := b.repair(t)
		equal(t, "repaired", []string{metaName}, []string{done.Files[0].File})
		snap := b.load(t)
		equal(t, "history and journal", [][]string{ids(whole.History), {fmt.Sprint(whole.Journal)}}, [][]string{ids(snap.History), {fmt.Sprint(snap.Journal)}})
		want := []string{"in1", "in2", "in3", "in15"}
		if i == 0 { // the log existed
			want = slices.Insert(want, 3, "seen")
		}
		equal(t, "ids", want, snap.Meta.IngressIDs)
		state, err := journal.Replay(snap)
		must(t, err)
		counts := state.Counts()
		equal(t, "answered, sent", []int64{3, 3}, []int64{counts.Fates[journal.FateAnswered], counts.Egress[journal.EgressDelivered]})
		if state.Seq != 15 || state.N != 15 || !state.Known("in2") {
			t.Fatalf("seq %d, n %d", state.Seq, state.N)
		}
	}
	b.sound(t)
}

// An archive cannot be repaired; the rest of the chat is, and the remaining damage is reported.
func TestRepairLeavesArchives(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	c := b.chat(t)
	must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 3)...))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "a", To: 2}))
	must(t, c.Close())
	equal(t, "damage", 0, len(b.inspect(t).Damage()))
	name := archiveDir + "/a.json"
	spoiled := strings.Replace(b.read(t, name), "text 2", "tent 2", 1)
	b.spoil(t, name, []byte(spoiled))
	want := []journal.Damage{{File: name, Bytes: int64(len(spoiled)), Why: "archived line 2 is damaged"}}
	equal(t, "found", want, b.inspect(t).Damage())
	before := b.tree(t)
	done := b.repair(t)
	equal(t, "left", want, done.Left)
	equal(t, "tree", before, b.tree(t))
	b.spoil(t, historyName, append([]byte("x\n"), linefile.AppendTurn(nil, storetest.Turn(3))...))
	done = b.repair(t)
	equal(t, "left", want, done.Left)
	equal(t, "archive", spoiled, b.read(t, name))
	equal(t, "history", []string{"1 lost", "u3"}, gaps(b.load(t).History))
}

// Whichever operation of a repair fails, nothing is lost, and the next repair completes.
func TestRepairEveryOperationFails(t *testing.T) {
	files := lineFiles()
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		t.Run(cause.Error(), func(t *testing.T) {
			failed := 0
			for skip, more := 0, true; more; skip += often(5, 1) {
				plan, fsys := faulty()
				b := newBench(t, Options{FS: fsys})
				whole := map[string]string{}
				for _, kind := range files {
					file := slices.Concat(kind.line(1), make([]byte, 50), kind.line(2), kind.line(3)[:20], []byte("\n"), kind.line(4), []byte("torn"))
					whole[kind.name] = string(file)
					b.spoil(t, kind.name, file)
				}
				plan.set(cause, skip, nil)
				_, err := b.Repair(t.Context(), testKey, RepairOptions{})
				more = plan.clear() > skip
				if err != nil {
					failed++
				} else if found := b.inspect(t).Damage(); len(found) > 0 {
					t.Fatalf("operation %d failed and nobody says so: %+v", skip+1, found)
				}
				if _, err := b.Repair(t.Context(), testKey, RepairOptions{}); err != nil {
					t.Fatalf("operation %d: the next repair: %v", skip+1, err)
				}
				if found := b.inspect(t).Damage(); len(found) > 0 {
					t.Fatalf("operation %d: left %+v", skip+1, found)
				}
				snap, aside := b.load(t), b.quarantined(t)
				equal(t, "turns", []int{1, 2, 4}, files[0].held(snap))
				equal(t, "facts", []int{1, 2, 4}, files[1].held(snap))
				equal(t, "ledger", upTo(3), files[2].held(snap)) // one less, because the journal has records of it
				equal(t, "ids", []int{1, 2, 4}, files[3].held(snap))
				for name, file := range whole {
					if !slices.Contains(aside, file) {
						t.Fatalf("operation %d: %s as it was is not in quarantine", skip+1, name)
					}
				}
			}
			t.Logf("%d operations failed, each once", failed)
		})
	}
}

// What a power cut left of the last, unacknowledged write is a torn tail for a repair like for a
// load: no gap is marked.
func TestRepairAfterAPowerCut(t *testing.T) {
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			c := b.chat(t)
			must(t, c.Wake(t.Context()))
			must(t, c.Close())
			joined := append([]byte{linefile.Joint}, kind.line(3)...)
			file := slices.Concat(kind.line(1), kind.line(2)[:9], make([]byte, 40), []byte("\n"), joined)
			b.spoil(t, kind.name, file)
			found := b.inspect(t).Damage()
			tail := int64(len(kind.line(1)))
			equal(t, "found", []journal.Damage{{File: kind.name, Offset: tail, Bytes: int64(len(file)) - tail, Why: linefile.WhyTorn}}, found)
			b.repair(t)
			snap := b.load(t)
			equal(t, "records", []int{1}, kind.held(snap))
			equal(t, "damage", 0, len(snap.Damage))
			b.goOn(t, snap)
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	if _, err := b.Repair(t.Context(), testKey, RepairOptions{}); !errors.Is(err, persistence.ErrNotFound) {
		t.Errorf("no such chat: %v", err)
	}
	if _, err := b.Repair(t.Context(), "", RepairOptions{}); err == nil {
		t.Error("a key that is none was taken")
	}
	b.spoil(t, historyName, []byte("x\n"))
	c := b.chat(t)
	if _, err := b.Repair(t.Context(), testKey, RepairOptions{}); err == nil {
		t.Error("an open chat was repaired")
	}
	must(t, c.Close())
	newer := linefile.AppendSealed(nil, func(b []byte) []byte { return append(b, `{"n":1,"ts":1,"kind":"newer","x":1}`...) })
	b.spoil(t, journalName, newer)
	before := b.tree(t)
	_, err := b.Repair(t.Context(), testKey, RepairOptions{})
	if !errors.Is(err, errRefused) {
		t.Errorf("written by a newer version: %v", err)
	}
	stdtest.Diff(t, "a refused repair changed", before, b.tree(t))
}
