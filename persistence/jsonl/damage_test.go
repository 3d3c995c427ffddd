package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

const testKey = "test-chat-1"

// bench is a store with one chat whose files a test may spoil.
type bench struct {
	*Store
	dir string
	reg *prometheus.Registry
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{dir: filepath.Join(t.TempDir(), "state"), reg: prometheus.NewRegistry()}
	o.Dir, o.Registerer = b.dir, b.reg
	b.Store = openStore(t, o)
	return b
}

func (b *bench) file(name string) string { return filepath.Join(b.dir, chatsDir, testKey, name) }

// spoil writes a file of the chat as a fault would leave it.
func (b *bench) spoil(t *testing.T, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(b.file(name)), 0o700))
	must(t, os.WriteFile(b.file(name), data, 0o600))
}

// clear removes the chat.
func (b *bench) clear(t *testing.T) {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(b.dir, chatsDir, testKey)))
}

// chat opens the chat; the handle must be closed.
func (b *bench) chat(t *testing.T) *chat {
	t.Helper()
	opened, err := b.OpenChat(t.Context(), testKey)
	must(t, err)
	c, ok := opened.(*chat)
	if !ok {
		t.Fatalf("opened a %T", opened)
	}
	return c
}

// load opens the chat, loads it and closes it again.
func (b *bench) load(t *testing.T) persistence.Snapshot {
	t.Helper()
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	snap, err := c.Load(t.Context())
	must(t, err)
	return snap
}

// quarantined are the contents of the quarantine folder, sorted.
func (b *bench) quarantined(t *testing.T) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir(b.file(quarantineDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(b.file(quarantineDir), e.Name()))
		must(t, err)
		out = append(out, string(data))
	}
	slices.Sort(out)
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// lines are the sealed lines of turns 1 to n, each with its newline.
func turnFile(n int) (whole []byte, ends []int) {
	for i := 1; i <= n; i++ {
		whole = appendTurn(whole, storetest.Turn(i))
		ends = append(ends, len(whole))
	}
	return whole, ends
}

// lineFile is a kind of file for tests that treat all kinds alike.
type lineFile struct {
	name string
	line func(n int) []byte
	// held are the numbers of the records that were read.
	held func(persistence.Snapshot) []int
}

func lineFiles() []lineFile {
	return []lineFile{
		{
			historyName, func(n int) []byte { return appendTurn(nil, storetest.Turn(n)) },
			func(s persistence.Snapshot) (out []int) {
				for _, m := range s.History {
					var n int
					_, _ = fmt.Sscanf(m.ID, "u%d", &n)
					if cmp.Equal(m, storetest.Turn(n)) {
						out = append(out, n)
					}
				}
				return out
			},
		},
		{
			journalName, func(n int) []byte { return appendRecordLine(nil, storetest.Facts(int64(n), int64(n))[0]) },
			func(s persistence.Snapshot) (out []int) {
				for _, r := range s.Journal {
					if cmp.Equal(r, storetest.Facts(r.N, r.N)[0]) {
						out = append(out, int(r.N))
					}
				}
				return out
			},
		},
		{
			ledgerName, func(n int) []byte { return appendLedgerLine(nil, storetest.Entries(int64(n), int64(n))[0]) },
			func(s persistence.Snapshot) (out []int) {
				for n := range int(s.LedgerN) {
					out = append(out, n+1)
				}
				return out
			},
		},
	}
}

func upTo(n int) (out []int) {
	for i := 1; i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// goOn appends to the chat in every way and checks that it holds.
func (b *bench) goOn(t *testing.T, before persistence.Snapshot) {
	t.Helper()
	c := b.chat(t)
	must(t, c.Fold(t.Context(), persistence.Fold{Meta: before.Meta}))
	must(t, c.AppendHistory(t.Context(), storetest.Turn(90)))
	must(t, c.Append(t.Context(), storetest.Facts(91, 92)...))
	must(t, c.Fold(t.Context(), persistence.Fold{Ledger: storetest.Entries(91, 92), Meta: before.Meta, Rest: storetest.Facts(93, 93)}))
	must(t, c.Close())
	snap := b.load(t)
	equal(t, "history", append(slices.Clone(before.History), storetest.Turn(90)), snap.History)
	equal(t, "journal", storetest.Facts(93, 93), snap.Journal)
	if snap.LedgerN != 92 {
		t.Fatalf("LedgerN %d, want 92", snap.LedgerN)
	}
}

// Cut at every byte of the last three records: what is whole is there, the
// rest is in quarantine, and the file can be appended to.
func TestTornTail(t *testing.T) {
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
				if (cut-end)%9 == 0 {
					b.goOn(t, again)
				}
			}
		})
	}
}

// A run of NUL bytes, at each border of records and inside of one, at the end
// of the file and in its middle.
func TestNulRuns(t *testing.T) {
	const records = 5
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			for _, length := range []int{1, 2, 511, 4096} {
				for at := range 2 * records {
					var file, lost []byte
					var want []int
					gap := bytes.Repeat([]byte{0}, length)
					for n := 1; n <= records; n++ {
						line := kind.line(n)
						switch at {
						case 2 * (n - 1): // before the record
							file, lost = append(append(file, gap...), line...), gap
							want = append(want, n)
						case 2*n - 1: // in the place of its middle
							line = slices.Concat(line[:10], gap, line[20:])
							file, lost = append(file, line...), line[:len(line)-1]
						default:
							file = append(file, line...)
							want = append(want, n)
						}
					}
					b.clear(t)
					b.spoil(t, kind.name, file)
					snap := b.load(t)
					if kind.name == ledgerName {
						want = upTo(slices.Max(want))
					}
					equal(t, fmt.Sprintf("records with %d NUL bytes at %d", length, at), want, kind.held(snap))
					equal(t, "quarantine", []string{string(lost)}, b.quarantined(t))
					equal(t, "damage", 1, len(snap.Damage))
					b.goOn(t, snap)
				}
			}
			// The file grew and its last blocks were never written.
			b.clear(t)
			b.spoil(t, kind.name, append(kind.line(1), make([]byte, 5000)...))
			equal(t, "records before a tail of NUL bytes", upTo(1), kind.held(b.load(t)))
			snap := b.load(t)
			equal(t, "damage once the tail is cut off", 0, len(snap.Damage))
			b.goOn(t, snap)
		})
	}
}

// Every flipped bit is found: the record is not read, or it is whole since the
// bit belonged to a newline.
func TestBitFlips(t *testing.T) {
	const records, flips = 4, 1000
	for _, kind := range lineFiles() {
		t.Run(kind.name, func(t *testing.T) {
			var whole []byte
			var ends []int
			for n := 1; n <= records; n++ {
				whole = append(whole, kind.line(n)...)
				ends = append(ends, len(whole))
			}
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
				got, bad := readKind(t, kind.name, spoiled)
				want := upTo(records)
				if at != ends[hit]-1 {
					want = slices.Delete(want, hit, hit+1)
				}
				equal(t, fmt.Sprintf("records with bit %d flipped in %q", bit, spoiled[at]), want, got)
				if at != ends[hit]-1 && bad == 0 {
					t.Fatalf("bit %d was not found", bit)
				}
			}
		})
	}
}

// readKind reads a file's contents and returns the numbers of its records and
// how much was bad.
func readKind(t *testing.T, name string, data []byte) (held []int, bad int) {
	t.Helper()
	found, err := scanLines(bytes.NewReader(data), 0, int64(len(data)), func(_ int64, raw []byte, strict bool) bool {
		n, ok := 0, false
		switch name {
		case historyName:
			var m uimessage.Message
			if m, ok = parseTurn(raw, strict); ok {
				_, _ = fmt.Sscanf(m.ID, "u%d", &n)
				ok = cmp.Equal(m, storetest.Turn(n))
			}
		case journalName:
			var r persistence.Record
			if r, ok = parseRecord(raw, strict); ok {
				n = int(r.N)
				ok = cmp.Equal(r, storetest.Facts(r.N, r.N)[0])
			}
		default:
			var e persistence.LedgerEntry
			if e, ok = parseLedger(raw, strict); ok {
				n = int(e.N)
				ok = cmp.Equal(e, storetest.Entries(e.N, e.N)[0])
			}
		}
		if ok {
			held = append(held, n)
		}
		return ok
	})
	must(t, err)
	bad = len(found.bad)
	if found.torn.n > 0 {
		bad++
	}
	return held, bad
}

func TestGluedLines(t *testing.T) {
	one, two, three := string(appendTurn(nil, storetest.Turn(1))), string(appendTurn(nil, storetest.Turn(2))), string(appendTurn(nil, storetest.Turn(3)))
	bare := func(s string) string { return strings.TrimSuffix(s, "\n") }
	foreign := `{"id":"u8","role":"user","parts":[]}`
	other := `{"role":"user","id":"u9"}`
	for _, tc := range []struct {
		name, file string
		want       []string
		lost       []string
	}{
		{"half a line and a whole one", one + two[:40] + three, []string{"u1", "u3"}, []string{two[:40]}},
		{"newline lost", bare(one) + two + three, []string{"u1", "u2", "u3"}, nil},
		{"all newlines lost", bare(one) + bare(two) + bare(three), []string{"u1", "u2", "u3"}, nil},
		{"newline became a letter", bare(one) + "x" + two, []string{"u1", "u2"}, []string{"x"}},
		{"a line within another", one[:50] + two + one[50:] + three, []string{"u2", "u3"}, []string{one[:50], bare(one[50:])}},
		{"a line within another, no newline", one[:50] + bare(two) + one[50:] + three, []string{"u2", "u3"}, []string{one[:50], bare(one[50:])}},
		{"duplicates", one + two + one + two + one, []string{"u1", "u2"}, nil},
		{"foreign lines glued", foreign + other + "\n" + one, []string{"u8", "u9", "u1"}, nil},
		{"foreign line behind rubbish", "rubbish " + foreign + "\n" + one, []string{"u1"}, []string{"rubbish " + foreign}},
		{"foreign line behind NUL", "\x00\x00" + other + "\n" + one, []string{"u9", "u1"}, []string{"\x00\x00"}},
		{"blank lines", "\n \r\n" + one + "\n\n" + bare(two) + "\r\n" + foreign + "  ", []string{"u1", "u2", "u8"}, nil},
		{"no JSON at all", "hello\n" + one, []string{"u1"}, []string{"hello"}},
		{"JSON, no turn", "[1]\n7\n{}\n" + `{"id":"x","role":"system","parts":[]}` + "\n" + one, []string{"u1"}, []string{"7", "[1]", `{"id":"x","role":"system","parts":[]}`, "{}"}},
		{"bytes that are not UTF-8", `{"id":"x","role":"user","parts":[{"type":"text","text":"` + "\xff" + `"}]}` + "\n" + one, []string{"u1"}, []string{`{"id":"x","role":"user","parts":[{"type":"text","text":"` + "\xff" + `"}]}`}},
		{"a checksum without a number", `{"id":"x","role":"user","metadata":{"sum":"00000000"}}` + "\n", nil, []string{`{"id":"x","role":"user","metadata":{"sum":"00000000"}}`}},
		{"a number without a checksum", `{"id":"x","role":"user","metadata":{"seq":4}}` + "\n", nil, []string{`{"id":"x","role":"user","metadata":{"seq":4}}`}},
		{"a turn quoted in a damaged one", strings.Replace(one, `"parts":[`, `"parts":[{"type":"data-x","data":`+bare(two)+`},`, 1), nil, []string{strings.Replace(bare(one), `"parts":[`, `"parts":[{"type":"data-x","data":`+bare(two)+`},`, 1)}},
		{"a turn quoted in a broken one", `{"id":"x","role":"user","parts":[{"type":"data-x","data":` + bare(two) + `},]}` + "\n", nil, []string{`{"id":"x","role":"user","parts":[{"type":"data-x","data":` + bare(two) + `},]}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			b.spoil(t, historyName, []byte(tc.file))
			snap := b.load(t)
			var got []string
			for _, m := range snap.History {
				got = append(got, m.ID)
			}
			equal(t, "turns", tc.want, got)
			slices.Sort(tc.lost)
			equal(t, "quarantine", tc.lost, b.quarantined(t))
			equal(t, "damage", len(tc.lost), len(snap.Damage))
			equal(t, "counted", float64(len(tc.lost)), testutil.ToFloat64(b.metrics.quarantine))
			b.load(t)
			equal(t, "counted again", float64(len(tc.lost)), testutil.ToFloat64(b.metrics.quarantine))
			b.goOn(t, snap)
		})
	}
}

// A damaged history is read and appended to, never rewritten.
func TestDamagedHistoryIsNotRewritten(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	whole, ends := turnFile(4)
	whole[ends[1]+30] ^= 4
	b.spoil(t, historyName, whole)
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	must(t, c.AppendHistory(t.Context(), storetest.Turn(5)))
	for _, r := range []persistence.Rewrite{{To: 1}, {ArchiveID: "a", To: 1}, {Insert: storetest.Turns(8, 8)}} {
		err := c.Rewrite(t.Context(), r)
		var e *persistence.Error
		if !errors.Is(err, persistence.ErrDamaged) || !errors.As(err, &e) || !e.Retryable {
			t.Fatalf("rewrite: %v, want ErrDamaged that is retryable", err)
		}
	}
	must(t, c.AppendHistory(t.Context(), storetest.Turn(6)))
	file, err := os.ReadFile(b.file(historyName))
	must(t, err)
	want := appendTurn(appendTurn(whole, storetest.Turn(5)), storetest.Turn(6))
	equal(t, "file", string(want), string(file))
	if _, err := os.Stat(b.file(archiveDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused rewrite left %v", err)
	}
}

// Lines that stay are copied byte for byte, foreign ones and unknown members
// too, and so are those that go to the archive.
func TestRewriteKeepsBytes(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	foreign := []string{
		`{ "role" : "user", "id":"f1", "new":{"x":[1.50,1e3]}, "parts":[{"type":"text","text":"\u0041\/"}] }`,
		`{"id":"f2","role":"assistant","parts":[{"type":"from-later","x":1}],"metadata":null}` + "\r",
		`{"id":"f3","metadata":{"a":"\u00e9"},"role":"user"}`,
	}
	ours, _ := turnFile(2)
	b.spoil(t, historyName, []byte(foreign[0]+"\n"+foreign[1]+"\n\n"+string(ours)+foreign[2]))
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	must(t, c.Rewrite(t.Context(), persistence.Rewrite{ArchiveID: "A.1_x-2", From: 1, To: 3, Insert: []uimessage.Message{storetest.Reply(9)}}))
	line := func(m uimessage.Message) string { return strings.TrimSuffix(string(appendTurn(nil, m)), "\n") }
	file, err := os.ReadFile(b.file(historyName))
	must(t, err)
	want := strings.Join([]string{foreign[0], line(storetest.Reply(9)), line(storetest.Turn(2)), foreign[2], ""}, "\n")
	equal(t, "file", want, string(file))
	a, err := c.ReadArchive(t.Context(), "A.1_x-2")
	must(t, err)
	equal(t, "archived lines", []string{foreign[1], line(storetest.Turn(1))}, a.Lines)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(2), storetest.Turn(3))) // places are known after a rewrite
	file, err = os.ReadFile(b.file(historyName))
	must(t, err)
	equal(t, "file after an append", want+line(storetest.Turn(3))+"\n", string(file))
	for _, id := range []string{"", ".", "..", "a/b", ".hidden", "ü", strings.Repeat("x", 300)} {
		if _, err := c.ReadArchive(t.Context(), id); !errors.Is(err, persistence.ErrNotFound) {
			t.Errorf("archive %q: %v", id, err)
		}
		if id != "" {
			if err := c.Rewrite(t.Context(), persistence.Rewrite{ArchiveID: id}); err == nil {
				t.Errorf("archive %q was written", id)
			}
		}
	}
}

func TestMetaFile(t *testing.T) {
	whole := appendSealed(nil, func(b []byte) []byte { return append(b, `{"v":1,"ingressIds":["a"],"counts":{"accepted":3}}`...) })
	want := persistence.Meta{Version: 1, IngressIDs: []string{"a"}, Counts: persistence.Counts{Accepted: 3}}
	for _, tc := range []struct {
		name, file string
		want       persistence.Meta
		damage     int
	}{
		{"ours", string(whole), want, 0},
		{"by hand", `{"v":1, "ingressIds":["a"],"counts":{"accepted":3}}`, want, 0},
		{"flipped", strings.Replace(string(whole), `"a"`, `"b"`, 1), persistence.Meta{}, 1},
		{"torn", string(whole[:20]), persistence.Meta{}, 1},
		{"empty", "", persistence.Meta{}, 1},
		{"NUL", strings.Repeat("\x00", 50), persistence.Meta{}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			b.spoil(t, metaName, []byte(tc.file))
			snap := b.load(t)
			equal(t, "meta", tc.want, snap.Meta)
			equal(t, "damage", tc.damage, len(snap.Damage))
			b.goOn(t, snap)
		})
	}
	t.Run("members of a newer version", func(t *testing.T) {
		b := newBench(t, Options{FS: lazyFS()})
		b.spoil(t, metaName, []byte(`{"v":2,"newer":{"z":[1]},"counts":{"accepted":3},"also":"x"}`))
		b.goOn(t, b.load(t))
		c := b.chat(t)
		_, err := c.Load(t.Context())
		must(t, err)
		must(t, c.Rest(t.Context()))
		must(t, c.Close())
		file, err := os.ReadFile(b.file(metaName))
		must(t, err)
		var all map[string]json.RawMessage
		must(t, json.Unmarshal(file, &all))
		equal(t, "kept", `{"z":[1]} "x" 2 1`, fmt.Sprintf("%s %s %s %s", all["newer"], all["also"], all["v"], all["gen"]))
	})
}

// A line of 64 MiB is read like any other.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	b := newBench(t, Options{FS: lazyFS()})
	huge := storetest.Turn(2)
	huge.Parts = []uimessage.Part{uimessage.Text{Text: strings.Repeat("long ", 64<<20/5)}}
	file := appendTurn(nil, storetest.Turn(1))
	file = appendTurn(file, huge)
	b.spoil(t, historyName, appendTurn(file, storetest.Turn(3)))
	snap := b.load(t)
	if len(snap.History) != 3 || len(snap.Damage) != 0 || persistence.Text(snap.History[1]) != persistence.Text(huge) {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
	// Damaged, it is set aside as a whole, in time that grows with its length only.
	file[len(file)/2] = 0x01
	b.spoil(t, historyName, appendTurn(file, storetest.Turn(3)))
	snap = b.load(t)
	if len(snap.History) != 2 || len(snap.Damage) != 1 || snap.Damage[0].Bytes < 64<<20 {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
}

// What looks like the beginning of many records takes no more than its share of
// time.
func TestHostileLine(t *testing.T) {
	for _, pattern := range []string{`{"id":`, `{"id":"`, `{"id":[`, `{"id":1}`, "\x00{\"n\":", "{"} {
		b := newBench(t, Options{FS: lazyFS()})
		b.spoil(t, historyName, append([]byte(strings.Repeat(pattern, 1<<20/len(pattern))+"\n"), appendTurn(nil, storetest.Turn(1))...))
		snap := b.load(t)
		if len(snap.History) != 1 || len(snap.Damage) == 0 {
			t.Errorf("%q: %d turns, %d pieces of damage", pattern, len(snap.History), len(snap.Damage))
		}
	}
}

// FuzzLoader spoils a file in a way that leaves some lines alone: these are
// read, in order, and every byte is accounted for.
func FuzzLoader(f *testing.F) {
	whole, _ := turnFile(3)
	f.Add(whole[:40], []byte("{\"id\":\"x\"}\x00"), uint8(0))
	f.Add([]byte("\n\n"), whole, uint8(1))
	f.Add([]byte(`{"id":"f","role":"user"}`), []byte{0, 0, '\n', 0}, uint8(2))
	f.Fuzz(func(t *testing.T, before, between []byte, glue uint8) {
		line := func(n int) []byte { return appendTurn(nil, storetest.Turn(n)) }
		file := slices.Concat(before, []byte("\n"), line(101), between, []byte("\n"), line(102))
		switch glue % 3 {
		case 1:
			file = slices.Concat(before, []byte{0}, line(101), []byte{0}, between, []byte{0}, line(102))
		case 2:
			file = file[:len(file)-1]
		}
		covered := make([]bool, len(file))
		var ids []string
		found, err := scanLines(bytes.NewReader(file), 0, int64(len(file)), func(off int64, raw []byte, strict bool) bool {
			m, ok := parseTurn(raw, strict)
			if !ok {
				return false
			}
			if !bytes.Equal(file[off:int(off)+len(raw)], raw) {
				t.Fatalf("the record at %d is not what the file holds", off)
			}
			for i := range raw {
				covered[int(off)+i] = true
			}
			if m.ID == "u101" || m.ID == "u102" {
				ids = append(ids, m.ID)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(ids) < 2 || ids[0] != "u101" || ids[len(ids)-1] != "u102" {
			t.Fatalf("intact records read: %q", ids)
		}
		for _, r := range append(found.bad, found.torn) {
			for i := r.off; i < r.off+r.n; i++ {
				covered[i] = true
			}
		}
		for i, ok := range covered {
			if !ok && !blank(file[i:i+1]) {
				t.Fatalf("byte %d, %q, is neither read nor reported", i, file[i])
			}
		}
	})
}
