package platformtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Person is a person who uses a platform with a [Live] over a connection. They send one message after the other, repeat
// each until it is accepted, and see answers.
type Person struct {
	Live *Live

	t     testing.TB
	mu    sync.Mutex
	sent  []Letter
	queue chan Letter
	shown []string
	known map[string]bool // answers that were shown
	cut   context.CancelFunc
}

// Letter is a message to deliver.
type Letter struct{ ID, Text string }

// NewPerson returns a person without messages.
func NewPerson(tb testing.TB) *Person {
	tb.Helper()
	return &Person{Live: NewLive(), t: tb, queue: make(chan Letter, 100), known: map[string]bool{}}
}

// Deliver sends the person's messages in order, until life ends. send reports whether a message was accepted.
func (p *Person) Deliver(life context.Context, send func(Letter) bool) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-life.Done():
			return
		case m := <-p.queue:
			for life.Err() == nil && !send(m) {
				<-again.C
			}
		}
	}
}

// Connection returns the context of a connection, which the suite may cut.
func (p *Person) Connection(life context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(life)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cancel
	return ctx, cancel
}

// Show records an answer that the person sees, once.
func (p *Person) Show(id, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text != "" && !p.known[id] {
		p.known[id] = true
		p.shown = append(p.shown, text)
	}
}

// Harness is the suite's view of the person in a chat.
func (p *Person) Harness(of platform.Platform, chat platform.Target) Harness {
	return Harness{
		Platform: of, Core: p.Live.Host, Chat: chat, Say: p.say, Repeat: p.repeat, Shown: p.see,
		Answer: func(to platform.Target, text string) {
			p.Live.Answer(to.ChatKey, text)
		},
		Cut: p.cutOff,
	}
}

func (p *Person) say(_ platform.Target, text string) string {
	p.mu.Lock()
	m := Letter{fmt.Sprintf("m%d", len(p.sent)+1), text}
	p.sent = append(p.sent, m)
	p.mu.Unlock()
	p.queue <- m
	return m.ID
}

func (p *Person) repeat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.sent {
		p.queue <- m
	}
}

func (p *Person) see(platform.Target) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.shown)
}

func (p *Person) cutOff() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut != nil {
		p.cut()
	}
}
