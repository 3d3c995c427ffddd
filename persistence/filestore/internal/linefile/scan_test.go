package linefile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// FuzzLoader damages a file but leaves some lines intact: these are read, in order, and every byte
// is accounted for.
func FuzzLoader(f *testing.F) {
	whole := slices.Concat(AppendTurn(nil, storetest.Turn(1)), AppendTurn(nil, storetest.Turn(2)), AppendTurn(nil, storetest.Turn(3)))
	f.Add(whole[:40], []byte("{\"id\":\"x\"}\x00"), uint8(0))
	f.Add([]byte("\n\n"), whole, uint8(1))
	f.Add([]byte(`{"id":"f","role":"user"}`), []byte{0, 0, '\n', 0}, uint8(2))
	f.Fuzz(func(t *testing.T, before, between []byte, glue uint8) {
		line := func(n int) []byte { return AppendTurn(nil, storetest.Turn(n)) }
		file := slices.Concat(before, []byte("\n"), line(101), between, []byte("\n"), line(102))
		switch glue % 3 {
		case 1:
			file = slices.Concat(before, []byte{0}, line(101), []byte{0}, between, []byte{0}, line(102))
		case 2:
			file = file[:len(file)-1]
		}
		covered := make([]bool, len(file))
		var ids []string
		found, err := Scan(bytes.NewReader(file), 0, int64(len(file)), func(off int64, raw []byte, strict bool) bool {
			m, ok := ParseTurn(raw, strict)
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
		stdtest.Must(t, err)
		if len(ids) < 2 || ids[0] != "u101" || ids[len(ids)-1] != "u102" {
			t.Fatalf("intact records read: %q", ids)
		}
		for _, r := range append(found.Bad, found.Torn) {
			for i := r.Off; i < r.Off+r.N; i++ {
				covered[i] = true
			}
		}
		for i, ok := range covered {
			if !ok && !Blank(file[i:i+1]) {
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
		line := AppendTurn(nil, storetest.Turn(n))
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
			other := AppendTurn(nil, storetest.Turn(100+n))
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
	found, err := Scan(bytes.NewReader(m.file), 0, int64(len(m.file)), func(off int64, raw []byte, strict bool) bool {
		turn, ok := ParseTurn(raw, strict)
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
	stdtest.Must(t, err)
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
	for _, r := range append(found.Bad, found.Torn) {
		for i := r.Off; i < r.Off+r.N; i++ {
			covered[i] = true
		}
	}
	for i, ok := range covered {
		if !ok && !Blank(m.file[i:i+1]) {
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
	intact, files := 0, 3_000
	if os.Getenv("SOAK") != "" {
		files = 300_000
	}
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

// TestPadding scans files with padding after their last line. Padding is not damage, the next line overwrites it, and a
// line of which a power cut lost a part below the padding counts as never written.
func TestPadding(t *testing.T) {
	pad := string(bytes.Repeat([]byte{Padding}, 5000))
	one, two := string(AppendTurn(nil, storetest.Turn(1))), string(Joint)+string(AppendTurn(nil, storetest.Turn(2)))
	for _, c := range []struct {
		name, file string
		read       int
		size       int // of what is kept
		torn       bool
	}{
		{"none", one, 1, len(one), false},
		{"nothing else", pad, 0, 0, false},
		{"after a line", one + pad, 1, len(one), false},
		{"after a line without its end", one[:len(one)-1] + pad, 1, len(one) - 1, false},
		{"blank lines before a line", "\n  \n" + one + pad, 1, len("\n  \n" + one), false},
		{"blank lines between lines", one + "\n \n" + two, 2, len(one + "\n \n" + two), false},
		{"half a line", one + two[:30] + pad, 1, len(one), true},
		{"the end of a line", one + pad[:30] + two[30:] + pad, 1, len(one), true},
		{"a line without its middle", one + two[:20] + pad[:512] + two[30:] + pad, 1, len(one), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			read := 0
			found, err := ScanFile(bytes.NewReader([]byte(c.file)), int64(len(c.file)), true, Reader{
				Take: func(_ int64, raw []byte, strict bool) bool {
					_, ok := ParseTurn(raw, strict)
					if ok {
						read++
					}
					return ok
				},
				Reset: func() { read = 0 },
			})
			stdtest.Must(t, err)
			kept := len(bytes.TrimRight([]byte(c.file)[:found.Size], string(Padding)))
			if read != c.read || kept != c.size || found.Torn.N > 0 != c.torn || len(found.Bad) > 0 {
				t.Errorf("read %d, kept %d, %+v; want %d, %d, torn %v", read, kept, found, c.read, c.size, c.torn)
			}
			if !c.torn && int(found.Size) != c.size {
				t.Errorf("the next line goes to %d, want %d", found.Size, c.size)
			}
		})
	}
}
