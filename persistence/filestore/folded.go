package filestore

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

var _ persistence.FoldedReader = (*Store)(nil)

// ReadFolded implements [persistence.FoldedReader].
func (s *Store) ReadFolded(ctx context.Context, key messages.ChatKey, id string) (turns []uimessage.Message, err error) {
	err = s.reading(ctx, key, "read archive", func(ctx context.Context, dir string) error {
		if id == "" || !archiveName(id) {
			return fmt.Errorf("%w: %w: %q", persistence.ErrNotFound, errArchive, id)
		}
		b, err := s.readAll(ctx, path.Join(dir, archiveDir, id+".json"))
		if isMissing(err) {
			return fmt.Errorf("%w: archive %q", persistence.ErrNotFound, id)
		}
		var a journal.Archive
		if err == nil {
			err = json.Unmarshal(b, &a)
		}
		if err != nil {
			return fmt.Errorf("archive %q: %w", id, err)
		}
		for _, line := range a.Lines {
			if m, ok := ParseTurn([]byte(line)); ok {
				turns = append(turns, m)
			}
		}
		return nil
	})
	return turns, err
}
