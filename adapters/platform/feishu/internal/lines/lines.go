// Package lines keeps the order of chats whose messages are handled concurrently: the messages of one
// chat are handled one at a time, in the order in which they joined its line.
package lines

import (
	"context"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Lines are the lines of all chats. The zero value is ready, and it is safe for concurrent use.
type Lines struct {
	mu   sync.Mutex
	open map[messages.ChatKey][]*Place
}

// Place is a position in the line of a chat.
type Place struct {
	lines *Lines
	key   messages.ChatKey
	turn  chan struct{} // closed when the place is first
}

// Join appends a place to the line of a chat. Every place has to be left.
func (l *Lines) Join(key messages.ChatKey) *Place {
	p := &Place{lines: l, key: key, turn: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[messages.ChatKey][]*Place{}
	}
	if l.open[key] = append(l.open[key], p); len(l.open[key]) == 1 {
		close(p.turn)
	}
	return p
}

// Leave removes the place and signals the next one.
func (p *Place) Leave() {
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

// Await waits until the place is the first.
func (p *Place) Await(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
