package filestore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

const (
	// st16Chats is how many chats write at once.
	st16Chats = 64
	// st16Processors is the minimum number of processors for the program: a thread that waits for the
	// disk keeps its own for a moment.
	st16Processors = 8
)

// st16 makes the same bytes durable in two ways: through the store, and written and fsynced
// directly to as many files.
type st16 struct {
	chats []persistence.Chat
	files []vfs.File
	next  []int64 // of chats
	at    []int64 // of files
	line  []byte

	record journal.Record
	turn   uimessage.Message
}

func newST16(tb testing.TB) *st16 {
	tb.Helper()
	before := runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), st16Processors))
	tb.Cleanup(func() { runtime.GOMAXPROCS(before) })
	dir := tb.TempDir()
	s, err := Open(Options{Dir: filepath.Join(dir, "state")})
	must(tb, err)
	x := &st16{next: make([]int64, st16Chats), at: make([]int64, st16Chats)}
	x.turn = storetest.Turn(1_000)
	x.record = journal.Record{N: 1_000, TS: 1_700_000_000_000, Fact: journal.TurnAccepted{Turn: x.turn}}
	x.line = linefile.AppendRecord(nil, x.record)
	for i := range st16Chats {
		c, err := s.OpenChat(tb.Context(), messages.ChatKey(fmt.Sprint("bench-chat-", i)))
		must(tb, err)
		f, err := vfs.OS{}.OpenFile(filepath.Join(dir, fmt.Sprint(i)), os.O_RDWR|os.O_CREATE)
		must(tb, err)
		x.chats, x.files = append(x.chats, c), append(x.files, f)
	}
	tb.Cleanup(func() {
		for _, f := range x.files {
			_ = f.Close()
		}
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

// append makes one record of a chat durable.
func (x *st16) append(ctx context.Context, w int) error {
	x.next[w]++
	r := x.record
	r.N = x.next[w]
	return x.chats[w].Append(ctx, r)
}

// history makes one turn of a chat durable.
func (x *st16) history(ctx context.Context, w int) error {
	x.next[w]++
	m := x.turn
	m.ID = strconv.FormatInt(x.next[w], 10)
	return x.chats[w].AppendHistory(ctx, m)
}

// raw writes and fsyncs without the store.
func (x *st16) raw(_ context.Context, w int) error {
	if _, err := x.files[w].WriteAt(x.line, x.at[w]); err != nil {
		return err
	}
	x.at[w] += int64(len(x.line))
	return x.files[w].Datasync()
}

// during runs fn concurrently for all chats for a while and returns the calls per second.
func (x *st16) during(tb testing.TB, d time.Duration, fn func(context.Context, int) error) float64 {
	tb.Helper()
	var wg sync.WaitGroup
	counts := make([]int, st16Chats)
	begin := time.Now()
	for w := range st16Chats {
		wg.Go(func() {
			for time.Since(begin) < d {
				if err := fn(tb.Context(), w); err != nil {
					tb.Error(err)
					return
				}
				counts[w]++
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(begin).Seconds()
}

// measure alternates between the ways, so that all have the same conditions, and returns the
// medians.
func (x *st16) measure(tb testing.TB, rounds int, each time.Duration, fns ...func(context.Context, int) error) []float64 {
	tb.Helper()
	rates := make([][]float64, len(fns))
	for range rounds {
		for i, fn := range fns {
			rates[i] = append(rates[i], x.during(tb, each, fn))
		}
	}
	out := make([]float64, len(fns))
	for i, r := range rates {
		slices.Sort(r)
		out[i] = r[len(r)/2]
	}
	return out
}

// BenchmarkST16Concurrent compares 64 chats that append concurrently with concurrent fdatasync of
// as many files, in one run.
func BenchmarkST16Concurrent(b *testing.B) {
	for _, way := range []string{"journal", "history"} {
		b.Run(way, func(b *testing.B) {
			x := newST16(b)
			store := x.append
			if way == "history" {
				store = x.history
			}
			for b.Loop() {
				r := x.measure(b, 10, 300*time.Millisecond, store, x.raw)
				b.ReportMetric(r[0], "store/s")
				b.ReportMetric(r[1], "raw/s")
				b.ReportMetric(100*r[0]/r[1], "%ofraw")
			}
		})
	}
}

// The same as a test with a limit; it runs only on request, because it depends on timing.
func TestST16ConcurrentAppends(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("measures time: set SOAK")
	}
	x := newST16(t)
	r := x.measure(t, 15, 400*time.Millisecond, x.append, x.raw)
	t.Logf("%.0f appends/s of %.0f raw ones, %.0f %%", r[0], r[1], 100*r[0]/r[1])
	if r[0] < 0.8*r[1] {
		t.Errorf("less than 80 %% of raw concurrent fdatasync")
	}
}
