package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		list []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(tt.list); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.list, got, tt.want)
		}
	}
}

func TestRows(t *testing.T) {
	floor := base{system: durable, words: "the floor"}
	s := samples{}
	for i, v := range []float64{10, 30, 20} {
		s.add("a", durable, sample{"cpu": v, "rate": 100})
		s.add("a", ours, sample{"cpu": 1.5 * v, "rate": 60 + float64(i)})
	}
	s.add("b", ours, sample{"cpu": 27, "bytes": 40e6})
	for _, tt := range []struct {
		figure figure
		want   string // target, verdict, ours, ratio
	}{
		{figure{"", "ms", "a", "cpu", 0, atMost(1.5).times(floor)}, "at most 1.5 x the floor|met|30.0|1.50"},
		{figure{"", "ms", "a", "cpu", 0, atMost(1.4).times(floor)}, "at most 1.4 x the floor|MISSED|30.0|1.50"},
		{figure{"", "", "a", "rate", 0, atLeast(0.6).times(floor)}, "at least 0.6 x the floor|met|61.0|0.61"},
		{figure{"", "", "a", "rate", 0, atLeast(0.7).times(floor)}, "at least 0.7 x the floor|MISSED|61.0|0.61"},
		{figure{"", "ms", "b", "cpu", 0, atMost(1).times(base{load: "a", words: "another load"})}, "at most 1 x another load (30.0 ms)|met|27.0|0.90"},
		{figure{"", "MB", "b", "bytes", 1e6, atMost(38)}, "at most 38 MB|MISSED|40.0|-"},
		{figure{"", "", "b", "cpu", 0, atMost(0)}, "at most 0|MISSED|27.0|-"},
		{figure{"", "", "b", "cpu", 0, target{}}, "||27.0|-"},
		{figure{"", "ms", "c", "cpu", 0, atMost(1)}, "at most 1 ms|not measured|-|-"},
		{figure{"", "ms", "b", "cpu", 0, atMost(1).times(floor)}, "at most 1 x the floor|not measured|27.0|-"},
	} {
		r := rows([]figure{tt.figure}, s)[0]
		mine, ok := r.Median[ours]
		got := strings.Join([]string{r.Target, r.verdict(), cell(&mine, ok), cell(r.Ratio, r.Ratio != nil)}, "|")
		if got != tt.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", tt.figure, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	s := samples{}
	s.add("a", durable, sample{"cpu": 2})
	s.add("a", ours, sample{"cpu": 3})
	list := rows([]figure{{"time", "ms", "a", "cpu", 0, atMost(1.3).times(base{system: durable, words: "the floor"})}}, s)
	got := table(report{When: time.Unix(0, 0).UTC(), Go: "go1", CPUs: 2, Rounds: 3, Rows: list, Failings: []string{"a, ours: 1 messages lost"}})
	want := `1970-01-01, 2 processors, go1, median of 3

figure  unit  in memory  streaming  durable floor  ours  ratio          target
time    ms    -          -          2.00           3.00  1.50   MISSED  at most 1.3 x the floor
FAILED: a, ours: 1 messages lost
`
	stdtest.Diff(t, "table", want, got)
}

func TestParseResult(t *testing.T) {
	got, failings, err := parseResult([]byte(`{"name":"x","chats":4,"answered":3,"empty":{"rss_bytes":100},"after":{"rss_bytes":140},` +
		`"llm":{"prefix_kept_bytes":9,"previous_bytes":10},"failings":["2 messages lost"]}`))
	want := sample{
		"chats": 4, "answered": 3, "empty.rss_bytes": 100, "after.rss_bytes": 140, "bytes_per_chat": 10,
		"llm.prefix_kept_bytes": 9, "llm.previous_bytes": 10, "kept_percent": 90,
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, result (-want +got):\n%s", err, diff)
	}
	stdtest.Diff(t, "failings", []string{"2 messages lost", "3 of 4 chats answered"}, failings)
}

func TestParseTest(t *testing.T) {
	got := parseTest([]byte("x_test.go:1: a turn: fsyncs=6.00 opens_renames_truncations=5.00: {}\nresumed_ms=20.6/24.5\nBenchmarkAppend/chats=64-2  100  5 ns/op  17763 turns/s\n"))
	want := sample{"fsyncs": 6, "opens_renames_truncations": 5, "resumed_ms": 20.6, "chats": 64, "turns/s": 17763}
	stdtest.Diff(t, "numbers", want, got)
}

func TestLinkedSource(t *testing.T) {
	got := string(linkedSource([]string{"example.org/a", "example.org/a/internal/b", "example.org/internals"}))
	want := "package main\n\nimport (\n\t_ \"example.org/a\"\n\t_ \"example.org/internals\"\n)\n\nfunc main() { println(\"linked\") }\n"
	stdtest.Diff(t, "source", want, got)
}

// Every figure is of something that is measured.
func TestFiguresHaveSources(t *testing.T) {
	known := map[string]bool{resume: true, wholeTurn: true, storeAppend: true, program: true}
	for _, l := range loads() {
		known[l.name] = true
	}
	for _, f := range figures() {
		if !known[f.load] || f.target.base.load != "" && !known[f.target.base.load] {
			t.Errorf("%s: nothing measures %q", f.name, f.load)
		}
	}
}
