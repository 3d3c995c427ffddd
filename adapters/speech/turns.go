package speech

import (
	"context"
	"sync"
)

// turns bounds how much is under way at once, and lets each chat have one thing under
// way or waiting for a slot: whoever comes with many waits behind himself, and the
// others come in between.
type turns struct {
	slots chan struct{}

	mu  sync.Mutex
	own map[string]*own
}

// own is the one turn of a chat; it goes when nobody holds or waits for it.
type own struct {
	slot chan struct{}
	n    int
}

func newTurns(atOnce int) *turns {
	return &turns{slots: make(chan struct{}, atOnce), own: map[string]*own{}}
}

// take waits for a turn; done gives it back.
func (t *turns) take(ctx context.Context, who string) (done func(), err error) {
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

func (t *turns) enter(who string) *own {
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

func (t *turns) leave(who string, mine *own) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.n--; mine.n == 0 {
		delete(t.own, who)
	}
}
