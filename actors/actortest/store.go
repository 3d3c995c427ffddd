package actortest

import (
	"context"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// mortal is a store whose process can be killed: from then on every call fails.
type mortal struct {
	persistence.Store
	mu   sync.Mutex
	dead bool
	open map[persistence.Chat]bool
}

func newMortal(store persistence.Store, fail func(op string) error) *mortal {
	s := &mortal{}
	s.Store = storetest.NewFaulty(store, func(op string, _ messages.ChatKey, _ []journal.Record, do func() error) error {
		s.mu.Lock()
		dead := s.dead
		s.mu.Unlock()
		switch {
		case dead:
			return persistence.ErrClosed
		case fail != nil:
			if err := fail(op); err != nil {
				return err
			}
		}
		return do()
	})
	return s
}

// kill makes later calls of the store fail and closes its handles.
func (s *mortal) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	for c := range s.open {
		_ = c.Close() // some are closed already
	}
}

func (s *mortal) OpenChat(ctx context.Context, key messages.ChatKey) (persistence.Chat, error) {
	c, err := s.Store.OpenChat(ctx, key)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[persistence.Chat]bool{}
	}
	s.open[c] = true
	return mortalChat{c, s}, nil
}

type mortalChat struct {
	persistence.Chat
	s *mortal
}

func (c mortalChat) Close() error {
	c.s.mu.Lock()
	delete(c.s.open, c.Chat)
	if len(c.s.open) == 0 {
		c.s.open = nil // maps never shrink
	}
	c.s.mu.Unlock()
	return c.Chat.Close()
}
