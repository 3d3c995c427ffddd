package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestCL4StopUnderLoad sends SIGTERM in the middle of a load, again and again: the
// host takes nothing more in, lets end what it can, and exits with 0. What it
// accepted is answered, by it or by the next one, once. SOAK makes it 30 stops.
func TestCL4StopUnderLoad(t *testing.T) {
	chats, stops := few(8, 40), few(3, 30)
	w := newTelegramWorld(t, chats, "direct", leisurely{})
	v := newVictim(t, w.dir, killable(t))
	var said atomic.Int64
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	counts := make([]int, chats+1)
	var people sync.WaitGroup
	for chat := 1; chat <= chats; chat++ {
		people.Go(func() {
			for ctx.Err() == nil {
				w.write(int64(chat), fmt.Sprintf("m-%d-%d", chat, counts[chat]))
				counts[chat]++
				said.Add(1)
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(20+rand.IntN(100)) * time.Millisecond):
				}
			}
		})
	}
	var longest time.Duration
	for range stops {
		before, sent := said.Load(), len(w.api.Calls("sendMessage"))
		v.start(t)
		w.api.Await(t, "load", func() bool {
			return said.Load() >= before+int64(2*chats) && len(w.api.Calls("sendMessage")) >= sent+chats
		})
		began := time.Now()
		v.term(t)
		longest = max(longest, time.Since(began))
	}
	enough()
	people.Wait()
	if longest > 10*time.Second && soaking() {
		t.Errorf("a stop took %v, want at most 10 s", longest)
	}
	v.start(t)
	total := int(said.Load())
	w.api.Await(t, "everything answered", func() bool { return w.answered(chats) == total })
	v.term(t)
	double := 0
	for chat := int64(1); chat <= int64(chats); chat++ {
		for id, n := range w.copies(chat) {
			if n > 1 {
				t.Errorf("%s was answered %d times", id, n)
				double++
			}
		}
		key := fmt.Sprintf("telegram-chat-%d", chat)
		v.book(t, key).balanced(t, key, counts[chat])
	}
	t.Logf("soak: test=CL4 stops=%d messages=%d lost=0 double=%d longest_ms=%d", stops, total, double, longest.Milliseconds())
}

// term asks the host to stop and wants it to be gone, with exit code 0.
func (v *victim) term(t *testing.T) {
	t.Helper()
	stdtest.Must(t, v.cmd.Process.Signal(syscall.SIGTERM))
	v.gone(t, 0)
}

// gone waits for the end of the host, with an exit code.
func (v *victim) gone(t *testing.T, want int) {
	t.Helper()
	stuck := time.AfterFunc(30*time.Second, func() { _ = v.cmd.Process.Signal(os.Kill) })
	defer stuck.Stop()
	_ = v.cmd.Wait() // the exit code is what counts
	if code := v.cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("exit code = %d, want %d", code, want)
	}
	v.cmd = nil
}

// leisurely is a model that takes up to a third of a second to acknowledge.
type leisurely struct{}

func (leisurely) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		select {
		case <-time.After(time.Duration(rand.IntN(300)) * time.Millisecond):
		case <-ctx.Done():
			yield(model.Event{}, context.Cause(ctx))
			return
		}
		for _, e := range acknowledge(req) {
			if !yield(e, nil) {
				return
			}
		}
	}
}
