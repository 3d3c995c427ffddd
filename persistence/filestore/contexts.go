package filestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Names in a chat's folder. Contexts never change; the index is rebuilt from them if it does not
// list exactly the existing ones.
const (
	contextsDir   = "contexts/archive"
	contextIndex  = "contexts/index.json"
	contextSuffix = ".json"
)

var (
	errContextID = errors.New("not the id of a context")
	errContext   = errors.New("a context of that id holds other turns")
)

// Contexts implements [persistence.ContextStore].
func (s *Store) Contexts(ctx context.Context, key messages.ChatKey) ([]journal.ContextItem, error) {
	var items []journal.ContextItem
	err := s.reading(ctx, key, "list contexts", func(ctx context.Context, dir string) (err error) {
		items, err = s.contextItems(ctx, dir)
		return err
	})
	return items, err
}

// ReadContext implements [persistence.ContextStore].
func (s *Store) ReadContext(ctx context.Context, key messages.ChatKey, id string) (c journal.Context, err error) {
	err = s.reading(ctx, key, "read context", func(ctx context.Context, dir string) (err error) {
		c, err = s.readContext(ctx, dir, id)
		return err
	})
	return c, err
}

// reading runs an operation that needs no handle, because it reads files that are replaced
// atomically.
func (s *Store) reading(ctx context.Context, key messages.ChatKey, op string, fn func(ctx context.Context, dir string) error) error {
	dir, err := s.ChatDir(key)
	if err == nil {
		err = s.usable(ctx)
	}
	if err == nil {
		if err = s.enter(ctx); err == nil {
			defer s.leave()
			err = fn(context.WithoutCancel(ctx), dir)
		}
	}
	if err != nil {
		return &persistence.Error{Op: op, Chat: string(key), Cause: err, Retryable: true}
	}
	return nil
}

// contextItems is the index, completed from the contexts if it is incomplete or missing.
func (s *Store) contextItems(ctx context.Context, dir string) ([]journal.ContextItem, error) {
	entries, err := s.list(ctx, path.Join(dir, contextsDir))
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	var index journal.ContextIndex
	if b, err := s.readAll(ctx, path.Join(dir, contextIndex)); err == nil {
		if json.Unmarshal(b, &index) != nil || index.Version != journal.ContextVersion {
			index.Items = nil // treat it as lost
		}
	} else if !isMissing(err) {
		return nil, err
	}
	known := map[string]journal.ContextItem{}
	for _, item := range index.Items {
		known[item.ID] = item
	}
	var items []journal.ContextItem
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), contextSuffix)
		if !ok || !messages.ValidContextID(id) {
			continue
		}
		item, ok := known[id]
		if !ok {
			c, err := s.readContext(ctx, dir, id)
			if err != nil {
				s.log.ErrorContext(ctx, "a context cannot be read", "context_id", id, "error", err)
				continue
			}
			item = c.Item(s.searchText)
		}
		items = append(items, item)
	}
	journal.SortContexts(items)
	return items, nil
}

func (s *Store) readContext(ctx context.Context, dir, id string) (c journal.Context, err error) {
	if !messages.ValidContextID(id) {
		return c, fmt.Errorf("%w: %w: %q", persistence.ErrNotFound, errContextID, id)
	}
	b, err := s.readAll(ctx, path.Join(dir, contextsDir, id+contextSuffix))
	if isMissing(err) {
		return c, fmt.Errorf("%w: context %q", persistence.ErrNotFound, id)
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil || c.ID != id {
		return journal.Context{}, fmt.Errorf("context %q: %w", id, errors.Join(err, errContextID))
	}
	return c, nil
}

// readAll reads a whole file.
func (s *Store) readAll(ctx context.Context, name string) ([]byte, error) {
	var b []byte
	err := s.files.Temporary(ctx, name, os.O_RDONLY, func(f vfs.File) error {
		size, err := f.Size()
		if err != nil {
			return err
		}
		if size > linefile.MaxWhole {
			return fmt.Errorf("%s: %w", path.Base(name), linefile.ErrTooLong)
		}
		b = make([]byte, size)
		return vfs.ReadFull(f, b, 0)
	})
	return b, err
}

// archiveContext writes the context that a rewrite leaves, and the index.
func (c *chat) archiveContext(ctx context.Context, r journal.Rewrite) error {
	if r.Context == nil {
		return nil
	}
	body, err := jsonLine(r.Context)
	if err != nil {
		return harmless(err)
	}
	name, clash := path.Join(c.dir, contextsDir, r.Context.ID+contextSuffix), fmt.Errorf("%w: %q", errContext, r.Context.ID)
	if err := c.writeOnce(ctx, name, body, clash, func(before []byte) bool { return bytes.Equal(before, body) }); err != nil {
		return err
	}
	items, err := c.store.contextItems(ctx, c.dir)
	if err != nil {
		return harmless(err)
	}
	index, err := jsonLine(journal.ContextIndex{Version: journal.ContextVersion, Items: items})
	if err != nil {
		return harmless(err)
	}
	return c.replaceFile(ctx, c.path(contextIndex), index)
}

func jsonLine(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	return append(raw, '\n'), err
}

// written fills a file with the given content.
func written(body []byte) func(*vfs.Writer) error {
	return func(w *vfs.Writer) error {
		_, err := w.Write(body)
		return err
	}
}

// replaceFile replaces a file atomically. Its name is durable after the next syncDirs.
func (c *chat) replaceFile(ctx context.Context, name string, body []byte) error {
	if err := c.writeTemp(ctx, name+tempSuffix, written(body)); err != nil {
		return err
	}
	c.mustSync(path.Dir(name))
	return harmless(c.store.fs.Rename(name+tempSuffix, name))
}
