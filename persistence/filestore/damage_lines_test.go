package filestore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func TestST5GluedLines(t *testing.T) {
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

// Data that looks like the start of many records takes only bounded time.
func TestST5HostileLines(t *testing.T) {
	for _, pattern := range []string{`{"id":`, `{"id":"`, `{"id":[`, `{"id":1}`, "\x00{\"n\":", "{"} {
		b := newBench(t, Options{FS: lazyFS()})
		b.spoil(t, historyName, append([]byte(strings.Repeat(pattern, 1<<20/len(pattern))+"\n"), appendTurn(nil, storetest.Turn(1))...))
		snap := b.load(t)
		if len(snap.History) != 1 || len(snap.Damage) == 0 {
			t.Errorf("%q: %d turns, %d pieces of damage", pattern, len(snap.History), len(snap.Damage))
		}
	}
}

// FuzzLoader damages a file but leaves some lines intact: these are read, in order, and every byte
// is accounted for.
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

// mutant is a history damaged by a script, and the numbers of its intact records.
type mutant struct {
	file   []byte
	intact map[int]bool // by number
}

// mutate writes records one after the other, each intact or damaged in one of several ways, as the
// bytes of the script choose.
func mutate(script []byte) mutant {
	const records = 8
	m := mutant{intact: map[int]bool{}}
	next := func() int {
		if len(script) == 0 {
			return 0
		}
		b := int(script[0])
		script = script[1:]
		return b
	}
	for n := 1; n <= records; n++ {
		line := appendTurn(nil, storetest.Turn(n))
		whole := line[:len(line)-1]
		cut := 1 + (next()<<8|next())%(len(whole)-1)
		switch how := next() % 10; how {
		case 0, 1:
			m.record(n, whole, "\n")
		case 2: // joined to what follows
			m.record(n, whole, "")
		case 3: // twice
			m.record(n, whole, "\n")
			m.record(n, whole, "\n")
		case 4: // only the start, then the next line
			m.rubbish(whole[:cut], "")
		case 5: // only the end
			m.rubbish(whole[cut:], "\n")
		case 6: // interleaved with another record, which is intact
			other := appendTurn(nil, storetest.Turn(100+n))
			m.rubbish(whole[:cut], "\n")
			m.record(100+n, other[:len(other)-1], "\n")
			m.rubbish(whole[cut:], "\n")
		case 7: // a lost block inside
			m.rubbish(slices.Concat(whole[:cut], make([]byte, 1+next()), whole[cut:]), "\n")
		case 8: // one byte differs
			spoiled := slices.Clone(whole)
			spoiled[cut] ^= byte(1 + next()%255)
			m.rubbish(spoiled, "\n")
		case 9: // a hole before it
			m.rubbish(make([]byte, 1+next()), "")
			m.record(n, whole, "\n")
		}
	}
	return m
}

// record adds an intact record. It must be found, unless it is at the position of a value in
// another document, where it may be a quotation.
func (m *mutant) record(n int, whole []byte, end string) {
	head := m.file[bytes.LastIndexAny(m.file, "\n\x00")+1:]
	quoted := within(head)
	m.file = slices.Concat(m.file, whole, []byte(end))
	if !quoted {
		m.intact[n] = true
	}
}

func (m *mutant) rubbish(b []byte, end string) { m.file = slices.Concat(m.file, b, []byte(end)) }

// check loads the mutant: every intact record once and in order, nothing else, and every other byte
// reported.
func (m mutant) check(t *testing.T) {
	t.Helper()
	covered := make([]bool, len(m.file))
	var turns []uimessage.Message
	seen := map[string]bool{}
	found, err := scanLines(bytes.NewReader(m.file), 0, int64(len(m.file)), func(off int64, raw []byte, strict bool) bool {
		turn, ok := parseTurn(raw, strict)
		if !ok {
			return false
		}
		for i := range raw {
			covered[int(off)+i] = true
		}
		if turnSeal(raw) != sealed {
			return true // halves that form a valid foreign line, which needs no checksum
		}
		if !seen[turn.ID] {
			turns = append(turns, turn)
		}
		seen[turn.ID] = true
		return true
	})
	must(t, err)
	for n := range m.intact {
		if id := storetest.Turn(n).ID; !seen[id] {
			t.Fatalf("intact record %s is not read from\n%q", id, m.file)
		}
	}
	last := 0
	for _, turn := range turns {
		var n int
		if _, err := fmt.Sscanf(turn.ID, "u%d", &n); err != nil || !cmp.Equal(turn, storetest.Turn(n)) {
			t.Fatalf("read a record that nobody wrote: %+v", turn)
		}
		if n%100 < last {
			t.Fatalf("record %d behind %d", n, last)
		}
		last = n % 100
	}
	for _, r := range append(found.bad, found.torn) {
		for i := r.off; i < r.off+r.n; i++ {
			covered[i] = true
		}
	}
	for i, ok := range covered {
		if !ok && !blank(m.file[i:i+1]) {
			t.Fatalf("byte %d, %q, is neither read nor reported", i, m.file[i])
		}
	}
}

// FuzzLoadMutated joins, duplicates, interleaves, cuts and overwrites records.
func FuzzLoadMutated(f *testing.F) {
	for how := range byte(10) {
		f.Add(bytes.Repeat([]byte{0, 40, how}, 8))
		f.Add(bytes.Repeat([]byte{1, 7, how, 0, 99, 9 - how}, 4))
	}
	f.Fuzz(func(t *testing.T, script []byte) { mutate(script).check(t) })
}

// The same with random scripts.
func TestST5MutatedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	script := make([]byte, 64)
	intact, files := 0, often(3_000, 300_000)
	for range files {
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		m := mutate(script)
		m.check(t)
		intact += len(m.intact)
	}
	t.Logf("%d files, %d intact records, all read", files, intact)
}
