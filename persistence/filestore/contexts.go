package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The names below a chat's folder. Contexts are written once; the index is made
// again from them whenever it does not name exactly those that are there.
const (
	contextsDir    = "contexts/archive"
	contextIndex   = "contexts/index.json"
	contextSuffix  = ".json"
	contextIndexIn = "contexts"
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

// reading runs what needs no handle: it reads files that are replaced as a whole.
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

// contextItems is the index as far as it is there, completed from the contexts.
func (s *Store) contextItems(ctx context.Context, dir string) ([]journal.ContextItem, error) {
	var entries []fs.DirEntry
	err := s.files.once(ctx, func() (err error) {
		entries, err = s.fs.ReadDir(path.Join(dir, contextsDir))
		return err
	})
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var index journal.ContextIndex
	if b, err := s.readAll(ctx, path.Join(dir, contextIndex)); err == nil {
		if json.Unmarshal(b, &index) != nil || index.Version != journal.ContextVersion {
			index.Items = nil // as good as lost
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

// readAll reads a file whole.
func (s *Store) readAll(ctx context.Context, name string) ([]byte, error) {
	var b []byte
	err := s.files.temporary(ctx, name, os.O_RDONLY, func(f vfs.File) error {
		size, err := f.Size()
		if err != nil {
			return err
		}
		if size > maxWhole {
			return fmt.Errorf("%s: %w", path.Base(name), errTooLong)
		}
		b = make([]byte, size)
		return readFull(f, b, 0)
	})
	return b, err
}

// archiveContext writes a context, durably but for the name of the file, and the
// index. Doing so again changes nothing.
func (c *chat) archiveContext(ctx context.Context, r journal.Rewrite) error {
	if r.Context == nil {
		return nil
	}
	if err := c.ensureDir(contextsDir); err != nil {
		return harmless(err)
	}
	body, err := json.Marshal(r.Context)
	if err != nil {
		return harmless(err)
	}
	name := c.path(contextsDir) + "/" + r.Context.ID + contextSuffix
	if old, err := c.readAll(ctx, name); err == nil && string(old) != string(body)+"\n" {
		return &undone{fmt.Errorf("%w: %q", errContext, r.Context.ID)}
	}
	if err := c.replaceFile(ctx, contextsDir, name, body); err != nil {
		return err
	}
	items, err := c.store.contextItems(ctx, c.dir)
	if err != nil {
		return harmless(err)
	}
	index, err := json.Marshal(journal.ContextIndex{Version: journal.ContextVersion, Items: items})
	if err != nil {
		return harmless(err)
	}
	return c.replaceFile(ctx, contextIndexIn, c.path(contextIndex), index)
}

// replaceFile puts a file into its place as a whole, durably but for its name.
func (c *chat) replaceFile(ctx context.Context, dir, name string, body []byte) error {
	err := c.writeTemp(ctx, name+tempSuffix, func(w *fileWriter) error {
		_, err := w.Write(append(body, '\n'))
		return err
	})
	if err != nil {
		return err
	}
	c.mustForce(c.path(dir))
	return harmless(c.store.fs.Rename(name+tempSuffix, name))
}
