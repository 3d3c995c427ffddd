package feishu

import (
	"context"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
)

// lines keeps the order of each chat: its messages are handled one at a time, in the order of
// arrival. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	open map[messages.ChatKey][]*place
}

// place is a position in the line of a chat.
type place struct {
	lines *lines
	key   messages.ChatKey
	turn  chan struct{} // closed when the place is first
}

// join appends a place to the line of a chat. Every place has to be left.
func (l *lines) join(key messages.ChatKey) *place {
	p := &place{lines: l, key: key, turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[messages.ChatKey][]*place{}
	}
	if l.open[key] = append(l.open[key], p); len(l.open[key]) == 1 {
		close(p.turn)
	}
	return p
}

// leave removes the place and signals the next one.
func (p *place) leave() {
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	line := p.lines.open[p.key]
	i := slices.Index(line, p)
	line = slices.Delete(line, i, i+1)
	if p.lines.open[p.key] = line; len(line) == 0 {
		delete(p.lines.open, p.key)
	} else if i == 0 {
		close(line[0].turn)
	}
}

// await waits until the place is the first.
func (p *place) await(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
