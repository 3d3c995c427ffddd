package filestore

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
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
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	chats := make([]persistence.Chat, n)
	for i := range chats {
		if chats[i], err = s.OpenChat(b.Context(), messages.ChatKey(fmt.Sprint("bench-chat-", i))); err != nil {
			b.Fatal(err)
		}
		if err := chats[i].AppendHistory(b.Context(), storetest.Turn(0)); err != nil {
			b.Fatal(err)
		}
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
