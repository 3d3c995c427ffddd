package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ArchiveLine is one archive of a chat: turns that a summary has replaced, or the complete version of a turn whose
// large outputs were removed. Members are only ever added.
type ArchiveLine struct {
	ID         string    `json:"id"`
	ArchivedAt time.Time `json:"archivedAt"`
}

// ArchiveDocument is one archive with its turns.
type ArchiveDocument struct {
	ArchiveLine

	Messages []uimessage.Message `json:"messages"`
}

// Archives lists the archives of a chat. Like [Archive] it is safe while a host runs, because archives do not change.
func Archives(state string, key messages.ChatKey) ([]ArchiveLine, error) {
	dir, err := filestore.ChatDir(state, key)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "messages", "archive"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := []ArchiveLine{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if info, err := e.Info(); ok && err == nil { // otherwise it was deleted meanwhile
			out = append(out, ArchiveLine{id, info.ModTime().UTC()})
		}
	}
	return out, nil
}

// Archive reads one archive of a chat. It fails with [platform.ErrNotFound] if there is none.
func Archive(state string, key messages.ChatKey, id string) (ArchiveDocument, error) {
	dir, err := filestore.ChatDir(state, key)
	if err != nil || id == "" || !chatpath.IsName(id) {
		return ArchiveDocument{}, errors.Join(platform.ErrNotFound, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "messages", "archive", id+".json"))
	var archive journal.Archive
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = platform.ErrNotFound
	case err == nil:
		err = json.Unmarshal(text, &archive)
	}
	if err != nil {
		return ArchiveDocument{}, fmt.Errorf("read the archive %s: %w", id, err)
	}
	turns := append([]uimessage.Message{}, filestore.TurnsOf(archive)...) // not null in JSON
	return ArchiveDocument{ArchiveLine{id, time.UnixMilli(archive.ArchivedAt).UTC()}, turns}, nil
}

// ContextLine is a context that a chat has left. Members are only ever added.
type ContextLine struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	CreatedAt  time.Time `json:"createdAt"`
	ArchivedAt time.Time `json:"archivedAt"`
	Messages   int       `json:"messages"`
	Preview    string    `json:"preview,omitempty"`
}

// Contexts lists the contexts that a chat has left, the newest first.
func (d *Desk) Contexts(ctx context.Context, q Asked) ([]ContextLine, error) {
	if err := Present(d.store, q.ChatKey); err != nil {
		return nil, err
	}
	items, err := d.store.Contexts(ctx, q.ChatKey)
	out := make([]ContextLine, len(items))
	for i, c := range items {
		out[i] = ContextLine{c.ID, c.Title, time.UnixMilli(c.CreatedAt).UTC(), time.UnixMilli(c.ArchivedAt).UTC(), c.MessageCount, c.SummaryPreview}
	}
	return out, err
}
