package actortest

import (
	"context"
	"iter"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// mortal is a store whose process can be killed: from then on every call fails.
type mortal struct {
	persistence.Store
	mu    sync.Mutex
	dead  bool
	open  map[persistence.Chat]bool
	fail  func(op string) error // may be nil
	trace func(op string)       // may be nil
}

func (s *mortal) check(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return persistence.ErrClosed
	}
	if s.trace != nil {
		s.trace(op)
	}
	if s.fail != nil {
		return s.fail(op)
	}
	return nil
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
	if err := s.check("open"); err != nil {
		return nil, err
	}
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

// mortalChat is a handle of a mortal store.
type mortalChat struct {
	persistence.Chat
	s *mortal
}

func (c mortalChat) Load(ctx context.Context) (journal.Snapshot, error) {
	if err := c.s.check("load"); err != nil {
		return journal.Snapshot{}, err
	}
	return c.Chat.Load(ctx)
}

func (c mortalChat) Append(ctx context.Context, records ...journal.Record) error {
	if err := c.s.check("append"); err != nil {
		return err
	}
	return c.Chat.Append(ctx, records...)
}

func (c mortalChat) Note(ctx context.Context, records ...journal.Record) error {
	if err := c.s.check("note"); err != nil {
		return err
	}
	return c.Chat.Note(ctx, records...)
}

func (c mortalChat) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	if err := c.s.check("history"); err != nil {
		return err
	}
	return c.Chat.AppendHistory(ctx, turns...)
}

func (c mortalChat) Fold(ctx context.Context, f journal.Fold) error {
	if err := c.s.check("fold"); err != nil {
		return err
	}
	return c.Chat.Fold(ctx, f)
}

func (c mortalChat) Rewrite(ctx context.Context, r journal.Rewrite) error {
	if err := c.s.check("rewrite"); err != nil {
		return err
	}
	return c.Chat.Rewrite(ctx, r)
}

func (c mortalChat) Wake(ctx context.Context) error {
	if err := c.s.check("wake"); err != nil {
		return err
	}
	return c.Chat.Wake(ctx)
}

func (c mortalChat) Rest(ctx context.Context) error {
	if err := c.s.check("rest"); err != nil {
		return err
	}
	return c.Chat.Rest(ctx)
}

func (c mortalChat) Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error] {
	return c.Chat.Ledger(ctx)
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
