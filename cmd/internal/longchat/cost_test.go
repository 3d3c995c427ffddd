package longchat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// spent is what the process has used since it began.
type spent struct{ mallocs, bytes, read, wrote float64 }

func (s spent) minus(o spent) spent {
	return spent{s.mallocs - o.mallocs, s.bytes - o.bytes, s.read - o.read, s.wrote - o.wrote}
}

func (s spent) over(n float64) spent {
	return spent{s.mallocs / n, s.bytes / n, s.read / n, s.wrote / n}
}

func (s spent) times(n float64) spent { return s.over(1 / n) }

func (s spent) String() string {
	return fmt.Sprintf("%.0f allocations of %.0f bytes, %.0f bytes read, %.0f written", s.mallocs, s.bytes, s.read, s.wrote)
}

// meter reads what was spent, without spending anything itself.
type meter struct {
	io   *os.File // nil where the system does not tell
	text []byte
	read float64 // by the meter
	mem  runtime.MemStats
}

func newMeter(t *testing.T) *meter {
	t.Helper()
	m := &meter{text: make([]byte, 4096)}
	if f, err := os.Open("/proc/self/io"); err == nil {
		m.io = f
		t.Cleanup(func() { _ = f.Close() })
	}
	return m
}

func (m *meter) now() spent {
	runtime.ReadMemStats(&m.mem)
	s := spent{mallocs: float64(m.mem.Mallocs), bytes: float64(m.mem.TotalAlloc)}
	if m.io == nil {
		return s
	}
	n, _ := m.io.ReadAt(m.text, 0)
	s.read, s.wrote = number(m.text[:n], "rchar: ")-m.read, number(m.text[:n], "wchar: ")
	m.read += float64(n)
	return s
}

// number returns the decimal number after a word, or 0.
func number(text []byte, word string) (n float64) {
	at := bytes.Index(text, []byte(word))
	if at < 0 {
		return 0
	}
	for _, c := range text[at+len(word):] {
		if c < '0' || c > '9' {
			return n
		}
		n = 10*n + float64(c-'0')
	}
	return n
}

// cost is what turns of a window cost.
type cost struct {
	from, turns     int // those before its first, and at its end
	heap, resident  float64
	each            spent // on average
	plain           spent // the median: a turn without a compaction
	median, slowest time.Duration
	compactions     compacting
	history         int64 // bytes of the file
}

type compacting struct{ compacted, ended, seconds float64 }

func (f compacting) minus(o compacting) compacting {
	return compacting{f.compacted - o.compacted, f.ended - o.ended, f.seconds - o.seconds}
}

// extra is what a window cost above as many plain turns, for each compaction in it.
func (c cost) extra() spent {
	return c.each.minus(c.plain).times(float64(c.turns-c.from) / max(c.compactions.compacted, 1))
}

func (c cost) String() string {
	return fmt.Sprintf("%7d turns: heap %.2f MB, resident %.1f MB; a turn: %v, median %v, slowest %v; without a compaction: %v; "+
		"%.0f compactions (%.0f looked), each %v; %.0f ms a look; history %d bytes",
		c.turns, c.heap/1e6, c.resident/1e6, c.each, c.median.Round(time.Microsecond), c.slowest.Round(time.Microsecond), c.plain,
		c.compactions.compacted, c.compactions.ended, c.extra(), 1e3*c.compactions.seconds/max(c.compactions.ended, 1), c.history)
}

func (w *world) window(t *testing.T, n int) cost {
	t.Helper()
	c := cost{from: w.turns}
	before := w.foldings(t)
	took, each := make([]time.Duration, n), make([]spent, n)
	first := w.meter.now()
	last := first
	for i := range took {
		began := time.Now()
		w.turn(t)
		took[i] = time.Since(began)
		now := w.meter.now()
		each[i], last = now.minus(last), now
	}
	c.each = last.minus(first).over(float64(n))
	c.plain = spent{
		middle(each, func(s spent) float64 { return s.mallocs }), middle(each, func(s spent) float64 { return s.bytes }),
		middle(each, func(s spent) float64 { return s.read }), middle(each, func(s spent) float64 { return s.wrote }),
	}
	slices.Sort(took)
	c.turns, c.median, c.slowest = w.turns, took[n/2], took[n-1]
	c.compactions = w.foldings(t).minus(before)
	runtime.GC()
	runtime.ReadMemStats(&w.meter.mem)
	c.heap = float64(w.meter.mem.HeapAlloc)
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		c.resident = 1024 * number([]byte(strings.Join(strings.Fields(string(text)), " ")), "VmRSS: ")
	}
	if dir, err := w.store.ChatDir(key); err == nil {
		if info, err := os.Stat(filepath.Join(dir, "messages", "history.jsonl")); err == nil {
			c.history = info.Size()
		}
	}
	return c
}

func middle(all []spent, of func(spent) float64) float64 {
	list := make([]float64, len(all))
	for i, s := range all {
		list[i] = of(s)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// compactions counts those that changed the history.
func (w *world) compactions(t *testing.T) float64 {
	t.Helper()
	return w.foldings(t).compacted
}

func (w *world) foldings(t *testing.T) (f compacting) {
	t.Helper()
	families, err := w.registry.Gather()
	stdtest.Must(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			switch family.GetName() {
			case "sma_compaction_seconds":
				f.seconds += m.GetHistogram().GetSampleSum()
			case "sma_compactions_total":
				f.ended += m.GetCounter().GetValue()
				for _, l := range m.GetLabel() {
					if l.GetName() == "result" && l.GetValue() == "compacted" {
						f.compacted += m.GetCounter().GetValue()
					}
				}
			}
		}
	}
	return f
}

// compactions is what all compactions together did and took.
func compactions(t *testing.T, w *world, all []cost) string {
	t.Helper()
	f, extra := w.foldings(t), spent{}
	for _, c := range all {
		e := c.extra().times(max(c.compactions.compacted, 1))
		extra = spent{extra.mallocs + e.mallocs, extra.bytes + e.bytes, extra.read + e.read, extra.wrote + e.wrote}
	}
	return fmt.Sprintf("%d turns, %.0f compactions, one in %.0f turns; a look took %.0f ms on average, and a compaction, above what turns cost without one, %v",
		w.turns, f.compacted, float64(w.turns)/max(f.compacted, 1), 1e3*f.seconds/max(f.ended, 1), extra.over(max(f.compacted, 1)))
}

// flat checks that the last window of a long chat costs at most a fifth more than the first one after the first
// compaction.
func flat(t *testing.T, all []cost) {
	t.Helper()
	at := 1 + slices.IndexFunc(all, func(c cost) bool { return c.compactions.compacted > 0 })
	if at == 0 || at >= len(all)-1 {
		t.Logf("%d windows are too few to compare", len(all))
		return
	}
	early, late := all[at], all[len(all)-1]
	for _, f := range []struct {
		what        string
		early, late float64
	}{
		{"heap", early.heap, late.heap},
		{"allocations a turn", early.each.mallocs, late.each.mallocs},
		{"bytes allocated a turn", early.each.bytes, late.each.bytes},
		{"bytes read a turn", early.each.read, late.each.read},
		{"bytes written a turn", early.each.wrote, late.each.wrote},
	} {
		t.Logf("%s: %.0f in turns %d to %d, %.0f in turns %d to %d: %.2f times", f.what, f.early, early.from+1, early.turns,
			f.late, late.from+1, late.turns, f.late/max(f.early, 1))
		if f.late > 1.2*f.early {
			t.Errorf("%s: more than 1.2 times", f.what)
		}
	}
	t.Logf("median of a turn: %v and %v; resident memory %.1f and %.1f MB", early.median, late.median, early.resident/1e6, late.resident/1e6)
}
