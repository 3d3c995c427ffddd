package faketest

import (
	"sync"
	"time"
)

// Patience is how long a condition may take to come true.
const Patience = time.Minute

// Changes lets tests wait for a state instead of for a time.
type Changes struct {
	mu sync.Mutex
	ch chan struct{}
}

// Guard guards the state of a fake.
type Guard struct{ sync.Mutex }

// Do calls f with the lock held.
func (g *Guard) Do(f func()) {
	g.Lock()
	defer g.Unlock()
	f()
}

// Get calls f with the lock held and returns its result.
func Get[T any](g *Guard, f func() T) (got T) {
	g.Do(func() { got = f() })
	return got
}

// T is what waiting needs of a test.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Signal wakes all waiting callers.
func (c *Changes) Signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ch != nil {
		close(c.ch)
		c.ch = nil
	}
}

// Next returns a channel that is closed at the next signal.
func (c *Changes) Next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ch == nil {
		c.ch = make(chan struct{})
	}
	return c.ch
}

// Await waits until ok is true, and checks it again after every signal. If it times out, the test fails and what names the condition.
func (c *Changes) Await(tb T, what string, ok func() bool) {
	tb.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for {
		next := c.Next()
		if ok() {
			return
		}
		select {
		case <-next:
		case <-deadline.C:
			tb.Fatalf("waited %v for %s", Patience, what)
		}
	}
}

// lookEvery is how often a state is looked at whose changes are not signalled.
const lookEvery = 10 * time.Millisecond

// Poll waits until ok is true of something that does not signal its changes.
func Poll(tb T, what string, ok func() bool) {
	tb.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-deadline.C:
			tb.Fatalf("waited %v for %s", Patience, what)
		}
	}
}
