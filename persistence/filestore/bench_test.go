package filestore

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// each runs fn in several goroutines until b.N calls were made in total.
func each(b *testing.B, workers int, fn func(worker int, n int64) error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range workers {
		wg.Go(func() {
			for n := int64(1); left.Add(-1) >= 0; n++ {
				if err := fn(w, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

func benchChats(b *testing.B, n int) []persistence.Chat {
	b.Helper()
	s, err := Open(Options{Dir: filepath.Join(b.TempDir(), "state")})
	must(b, err)
	b.Cleanup(func() { _ = s.Close() })
	chats := make([]persistence.Chat, n)
	for i := range chats {
		if chats[i], err = s.OpenChat(b.Context(), messages.ChatKey(fmt.Sprint("bench-chat-", i))); err != nil {
			b.Fatal(err)
		}
		must(b, chats[i].AppendHistory(b.Context(), storetest.Turn(0)))
	}
	return chats
}

// BenchmarkAppend makes one turn after the other durable, in many chats at once.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprint("chats=", n), func(b *testing.B) {
			chats := benchChats(b, n)
			each(b, n, func(w int, i int64) error { return chats[w].AppendHistory(b.Context(), storetest.Turn(int(i))) })
		})
	}
}

// BenchmarkRaw measures the disk itself: the same bytes, written and fsynced.
func BenchmarkRaw(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprint("files=", n), func(b *testing.B) {
			dir := b.TempDir()
			files := make([]vfs.File, n)
			for i := range files {
				f, err := vfs.OS{}.OpenFile(filepath.Join(dir, fmt.Sprint(i)), os.O_RDWR|os.O_CREATE)
				must(b, err)
				defer func() { _ = f.Close() }()
				files[i] = f
			}
			line := linefile.AppendTurn(nil, storetest.Turn(1))
			each(b, n, func(w int, i int64) error {
				if _, err := files[w].WriteAt(line, (i-1)*int64(len(line))); err != nil {
					return err
				}
				return files[w].Datasync()
			})
		})
	}
}

// BenchmarkTurn is a whole turn: accepted, four facts, a checkpoint.
func BenchmarkTurn(b *testing.B) {
	for _, known := range []int{1, 4096} {
		b.Run(fmt.Sprint("ids=", known), func(b *testing.B) {
			chats := benchChats(b, 64)
			ids := make([][]string, len(chats))
			for w := range ids {
				for i := range known {
					ids[w] = append(ids[w], fmt.Sprint("telegram-chat--1001234567890:", -i))
				}
			}
			each(b, len(chats), func(w int, i int64) error {
				c, first := chats[w], 3*i+1
				if err := c.AppendHistory(b.Context(), storetest.Turn(int(i))); err != nil {
					return err
				}
				for n := first; n < first+3; n++ {
					if err := c.Append(b.Context(), storetest.Facts(n, n)...); err != nil {
						return err
					}
				}
				ids[w] = append(ids[w][1:], fmt.Sprint("telegram-chat--1001234567890:", i))
				return c.Checkpoint(b.Context(), journal.Checkpoint{
					History: storetest.Turns(-int(i), -int(i)), Ledger: storetest.Entries(i, i),
					Meta: journal.Meta{Version: 1, IngressIDs: ids[w], N: first + 3},
				})
			})
		})
	}
}

// BenchmarkLoad reads a chat of 1,000 turns.
func BenchmarkLoad(b *testing.B) {
	c := benchChats(b, 1)[0]
	must(b, c.AppendHistory(b.Context(), storetest.Turns(1, 1000)...))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
