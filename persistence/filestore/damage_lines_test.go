package filestore

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func TestST5GluedLines(t *testing.T) {
	one, two, three := string(linefile.AppendTurn(nil, storetest.Turn(1))), string(linefile.AppendTurn(nil, storetest.Turn(2))), string(linefile.AppendTurn(nil, storetest.Turn(3)))
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
		b.spoil(t, historyName, append([]byte(strings.Repeat(pattern, 1<<20/len(pattern))+"\n"), linefile.AppendTurn(nil, storetest.Turn(1))...))
		snap := b.load(t)
		if len(snap.History) != 1 || len(snap.Damage) == 0 {
			t.Errorf("%q: %d turns, %d pieces of damage", pattern, len(snap.History), len(snap.Damage))
		}
	}
}
