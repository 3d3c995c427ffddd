package memstore

import (
	"context"
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

var _ persistence.FoldedReader = (*Store)(nil)

// ReadFolded implements [persistence.FoldedReader].
func (s *Store) ReadFolded(ctx context.Context, key messages.ChatKey, id string) (turns []uimessage.Message, err error) {
	lines, err := s.folded(ctx, key, id)
	for _, line := range lines {
		m, bad := uimessage.Decode([]byte(line))
		if bad != nil { // Unreachable: written here
			return nil, bad
		}
		turns = append(turns, m)
	}
	if err != nil {
		return nil, &persistence.Error{Op: "read archive", Chat: string(key), Cause: err, Retryable: true}
	}
	return turns, nil
}

func (s *Store) folded(ctx context.Context, key messages.ChatKey, id string) ([]string, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, persistence.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if d := s.disk.chats[key]; d != nil {
		if a, ok := d.archives[id]; ok {
			return a.Lines, nil
		}
	}
	return nil, fmt.Errorf("%w: archive %q", persistence.ErrNotFound, id)
}
