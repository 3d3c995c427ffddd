package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

var (
	errContextID = errors.New("not the id of a context")
	errContext   = errors.New("a context of that id holds other turns")
)

// archiveContext keeps a context as its file would be.
func (d *data) archiveContext(c *journal.Context) error {
	if c == nil {
		return nil
	}
	if !messages.ValidContextID(c.ID) {
		return fmt.Errorf("%w: %q", errContextID, c.ID)
	}
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if old, ok := d.contexts[c.ID]; ok && !bytes.Equal(old, b) {
		return fmt.Errorf("%w: %q", errContext, c.ID)
	}
	d.contexts[c.ID] = b
	return nil
}

// Contexts implements [persistence.ContextStore].
func (s *Store) Contexts(ctx context.Context, key messages.ChatKey) ([]journal.ContextItem, error) {
	var out []journal.ContextItem
	err := s.contexts(ctx, key, func(all map[string][]byte) error {
		for _, b := range all {
			var c journal.Context
			if err := json.Unmarshal(b, &c); err != nil {
				return err
			}
			out = append(out, c.Item(journal.DefaultSearchText))
		}
		journal.SortContexts(out)
		return nil
	})
	return out, err
}

// ReadContext implements [persistence.ContextStore].
func (s *Store) ReadContext(ctx context.Context, key messages.ChatKey, id string) (c journal.Context, err error) {
	err = s.contexts(ctx, key, func(all map[string][]byte) error {
		b, ok := all[id]
		if !ok {
			return fmt.Errorf("%w: context %q", persistence.ErrNotFound, id)
		}
		return json.Unmarshal(b, &c)
	})
	return c, err
}

func (s *Store) contexts(ctx context.Context, key messages.ChatKey, fn func(map[string][]byte) error) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	err := context.Cause(ctx)
	if closed {
		err = persistence.ErrClosed
	}
	if err == nil {
		s.disk.mu.Lock()
		defer s.disk.mu.Unlock()
		if d := s.disk.chats[key]; d != nil {
			err = fn(d.contexts)
		} else {
			err = fn(nil)
		}
	}
	if err != nil {
		return &persistence.Error{Op: "read contexts", Chat: string(key), Cause: err, Retryable: true}
	}
	return nil
}
