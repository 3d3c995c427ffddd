package actorsystem

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"
)

func TestWorkersRunEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWorkers(4)
		const each = 200
		var ran sync.WaitGroup
		ran.Add(2 * each)
		for range each {
			w.Schedule(func() {
				defer ran.Done()
				w.Schedule(ran.Done) // from within, as actors do
			})
		}
		ran.Wait()
		synctest.Wait()
		if n := len(w.seats); n == 0 || n > 4 {
			t.Errorf("%d workers wait, want 1 to 4", n)
		}
		w.Close()
		synctest.Wait() // the bubble fails if one of them stays
	})
}

func TestWorkersNeverWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWorkers(1)
		defer w.Close()
		const many = 50
		var begun sync.WaitGroup
		begun.Add(many)
		release := make(chan struct{})
		for range many {
			w.Schedule(func() {
				begun.Done()
				<-release
			})
		}
		begun.Wait() // all at once, though each of them blocks
		close(release)
		synctest.Wait()
		if n := len(w.seats); n != 1 {
			t.Errorf("%d workers wait, want 1", n)
		}
	})
}

func TestWorkersAfterClose(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		w := NewWorkers(2)
		w.Schedule(func() {})
		synctest.Wait()
		w.Close()
		synctest.Wait()
		ran := make(chan struct{})
		w.Schedule(func() { close(ran) })
		<-ran
	})
}

// deep uses as much stack as a chat that takes a turn.
func deep(n int) byte {
	var room [1 << 10]byte
	room[n] = byte(n)
	if n > 0 {
		return room[n] + deep(n-1)
	}
	return room[0]
}

// BenchmarkWorkers is one actor that gets something to do, with the library's own
// dispatcher and with ours.
func BenchmarkWorkers(b *testing.B) {
	w := NewWorkers(4)
	defer w.Close()
	for name, d := range map[string]actor.Dispatcher{"library": actor.NewDefaultDispatcher(throughput), "workers": w} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			done := make(chan byte)
			for b.Loop() {
				d.Schedule(func() { done <- deep(8) })
				<-done
			}
		})
	}
}
