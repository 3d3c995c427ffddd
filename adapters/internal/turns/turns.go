// Package turns limits how many operations run at once, fairly among their users.
package turns

import (
	"context"
	"sync"
)

// Turns limits how many operations run at once. Each chat has at most one that is running or
// waiting for a slot: further ones of the same chat wait for it, so that other chats get slots in
// between. It is safe for concurrent use.
type Turns struct {
	slots chan struct{}

	mu  sync.Mutex
	own map[string]*own
}

// own is the one turn of a chat; it is deleted when no operation holds it or waits for it.
type own struct {
	slot chan struct{}
	n    int
}

// New returns turns with the given number of slots.
func New(atOnce int) *Turns {
	return &Turns{slots: make(chan struct{}, atOnce), own: map[string]*own{}}
}

// Take waits for a turn; done releases it. The error is the cause that ended ctx.
func (t *Turns) Take(ctx context.Context, who string) (done func(), err error) {
	mine := t.enter(who)
	select {
	case mine.slot <- struct{}{}:
	case <-ctx.Done():
		t.leave(who, mine)
		return nil, context.Cause(ctx)
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		<-mine.slot
		t.leave(who, mine)
		return nil, context.Cause(ctx)
	}
	return func() {
		<-t.slots
		<-mine.slot
		t.leave(who, mine)
	}, nil
}

func (t *Turns) enter(who string) *own {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.own[who]
	if mine == nil {
		mine = &own{slot: make(chan struct{}, 1)}
		t.own[who] = mine
	}
	mine.n++
	return mine
}

func (t *Turns) leave(who string, mine *own) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.n--; mine.n == 0 {
		delete(t.own, who)
	}
}
