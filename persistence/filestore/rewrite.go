package filestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Causes of refusing a rewrite.
var (
	errRange   = errors.New("the range is outside of the history")
	errTwice   = errors.New("two messages have the same id")
	errArchive = errors.New("not the name of an archive")
	errExists  = errors.New("an archive of that name holds other lines")
)

var _ persistence.ArchiveReader = (*Store)(nil)

// Rewrite implements [persistence.Rewriter].
func (c *chat) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return c.write(ctx, "rewrite", func(ctx context.Context) error {
		if err := c.checkRewrite(r); err != nil {
			return &undone{err}
		}
		if err := c.prepare(ctx, c.history, messagesDir); err != nil {
			return err
		}
		if err := c.archive(ctx, r); err != nil {
			return err
		}
		if err := c.archiveContext(ctx, r); err != nil {
			return err
		}
		return c.replaceHistory(ctx, r)
	})
}

func (c *chat) checkRewrite(r journal.Rewrite) error {
	places := c.index.places
	switch {
	case c.damaged:
		return journal.ErrDamaged
	case r.From < 0 || r.To < r.From || r.To > len(places):
		return fmt.Errorf("%w: %d to %d of %d", errRange, r.From, r.To, len(places))
	case r.ArchiveID != "" && !chatpath.IsName(r.ArchiveID):
		return fmt.Errorf("%w: %q", errArchive, r.ArchiveID)
	case r.Context != nil && !messages.ValidContextID(r.Context.ID):
		return fmt.Errorf("%w: %q", errContextID, r.Context.ID)
	}
	seen := map[string]bool{}
	for _, p := range slices.Concat(places[:r.From], places[r.To:]) {
		seen[p.id] = true
	}
	for _, m := range r.Insert {
		if seen[m.ID] {
			return fmt.Errorf("%w: %q", errTwice, m.ID)
		}
		seen[m.ID] = true
	}
	return nil
}

// replaceHistory writes the new history to a temporary file and then renames it over the old one.
func (c *chat) replaceHistory(ctx context.Context, r journal.Rewrite) (err error) {
	name := c.history.h.Path()
	var after index
	var size int64
	defer func() {
		if isUndone(err) {
			_ = c.store.fs.Remove(name + tempSuffix) // otherwise it takes up space until the next rewrite
		}
	}()
	err = c.writeTemp(ctx, name+tempSuffix, func(w *vfs.Writer) (err error) {
		after, err = c.rewritten(ctx, w, r)
		size = w.Size()
		return err
	})
	if err != nil {
		return err
	}
	placeMeta, err := c.writeMetaFile(ctx, r.Meta, c.meta.checkpointed)
	if err != nil {
		return err
	}
	if err := c.syncDirs(ctx); err != nil { // the archive's name has to be durable first
		return err
	}
	if err := c.store.fs.Rename(name+tempSuffix, name); err != nil {
		return err
	}
	c.index = after
	c.history.replaced(size)
	if err := c.syncDir(ctx, c.path(messagesDir)); err != nil {
		return err
	}
	return c.placeMeta(ctx, placeMeta)
}

// rewritten writes the lines that stay, byte for byte, with the new ones among them.
func (c *chat) rewritten(ctx context.Context, w *vfs.Writer, r journal.Rewrite) (index, error) {
	var after index
	after.reset()
	err := c.copyLines(ctx, w, &after, c.index.places[:r.From])
	if err != nil {
		return after, err
	}
	buf := &buffer{}
	for _, m := range r.Insert {
		if m.ID == "" || m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
			return after, errNoTurn
		}
		buf.b = linefile.AppendTurn(buf.b[:0], m)
		after.set(m.ID, w.Size(), len(buf.b)-1)
		if _, err := w.Write(buf.b); err != nil {
			return after, err
		}
	}
	return after, c.copyLines(ctx, w, &after, c.index.places[r.To:])
}

func (c *chat) copyLines(ctx context.Context, w *vfs.Writer, after *index, places []place) error {
	return c.eachLine(ctx, places, func(p place, line []byte) error {
		after.set(p.id, w.Size(), len(line))
		if _, err := w.Write(line); err != nil {
			return err
		}
		_, err := w.Write([]byte{'\n'})
		return err
	})
}

// eachLine reads the lines of places, a window at a time if they are adjacent.
func (c *chat) eachLine(ctx context.Context, places []place, fn func(p place, line []byte) error) error {
	if len(places) == 0 {
		return nil
	}
	return c.history.read(ctx, func(f vfs.File) error {
		var buf []byte
		begin, end := int64(0), int64(0) // of the contents of buf
		for i, p := range places {
			if p.off < begin || p.off+int64(p.n) > end {
				begin, end = p.off, p.off+int64(p.n)
				for _, q := range places[i+1:] {
					if q.off < end || q.off > end+vfs.Window/8 || q.off+int64(q.n) > begin+vfs.Window {
						break
					}
					end = q.off + int64(q.n)
				}
				buf = slices.Grow(buf[:0], int(end-begin))[:end-begin]
				if err := vfs.ReadFull(f, buf, begin); err != nil {
					return err
				}
			}
			at := int(p.off - begin)
			if err := fn(p, buf[at:at+p.n:at+p.n]); err != nil {
				return err
			}
		}
		return nil
	})
}

func archivePath(dir, id string) string { return path.Join(dir, archiveDir, id+".json") }

// archive writes the lines that a rewrite removes.
func (c *chat) archive(ctx context.Context, r journal.Rewrite) error {
	if r.ArchiveID == "" {
		return nil
	}
	a := journal.Archive{Version: 1, ChatKey: c.key, ArchivedAt: r.At.UnixMilli(), Lines: []string{}}
	places := c.index.places[r.From:r.To]
	a.SourceRange = sourceRange(r.Insert, places)
	err := c.eachLine(ctx, places, func(_ place, line []byte) error {
		a.Lines = append(a.Lines, string(line))
		return nil
	})
	if err != nil {
		return harmless(err)
	}
	body, err := plainjson.Append(nil, a)
	if err != nil {
		return harmless(err)
	}
	return c.writeOnce(ctx, archivePath(c.dir, r.ArchiveID), append(body, '\n'), errExists, func(before []byte) bool {
		var old journal.Archive // the time may differ
		return json.Unmarshal(before, &old) != nil || slices.Equal(old.Lines, a.Lines)
	})
}

// writeOnce writes a file that never changes, durably except for its name. Repeating it changes
// nothing; a file with another content is not replaced, but fails with clash.
func (c *chat) writeOnce(ctx context.Context, name string, body []byte, clash error, same func(before []byte) bool) error {
	if err := c.ensureDir(strings.TrimPrefix(path.Dir(name), c.dir+"/")); err != nil {
		return harmless(err)
	}
	if before, err := c.store.readAll(ctx, name); err == nil && !same(before) {
		return &undone{clash}
	}
	return c.replaceFile(ctx, name, body)
}

// sourceRange is the range that the inserted summary says it replaces, or else the range of the
// lines.
func sourceRange(insert []uimessage.Message, places []place) json.RawMessage {
	for _, m := range insert {
		var meta struct {
			SourceRange json.RawMessage `json:"sourceRange"`
		}
		if json.Unmarshal(m.Metadata, &meta) == nil && len(meta.SourceRange) > 0 {
			return meta.SourceRange
		}
	}
	own := struct {
		FromID string `json:"fromId"`
		ToID   string `json:"toId"`
		Count  int    `json:"count"`
	}{Count: len(places)}
	if len(places) > 0 {
		own.FromID, own.ToID = places[0].id, places[len(places)-1].id
	}
	raw, err := json.Marshal(own)
	if err != nil {
		return nil // Unreachable: strings and a number encode
	}
	return raw
}

// ReadArchive implements [persistence.Rewriter].
func (c *chat) ReadArchive(ctx context.Context, id string) (a journal.Archive, err error) {
	err = c.do(ctx, "read archive", false, func(ctx context.Context) (err error) {
		a, err = c.store.readArchive(ctx, c.dir, id)
		return err
	})
	return a, err
}

// ReadArchive implements [persistence.ArchiveReader].
func (s *Store) ReadArchive(ctx context.Context, key messages.ChatKey, id string) (turns []uimessage.Message, err error) {
	err = s.reading(ctx, key, "read archive", func(ctx context.Context, dir string) error {
		a, err := s.readArchive(ctx, dir, id)
		turns = TurnsOf(a)
		return err
	})
	return turns, err
}

// readArchive reads an archive of the chat in a folder.
func (s *Store) readArchive(ctx context.Context, dir, id string) (a journal.Archive, err error) {
	if id == "" || !chatpath.IsName(id) {
		return a, fmt.Errorf("%w: %w: %q", persistence.ErrNotFound, errArchive, id)
	}
	b, err := s.readAll(ctx, archivePath(dir, id))
	if isMissing(err) {
		return a, fmt.Errorf("%w: archive %q", persistence.ErrNotFound, id)
	}
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return journal.Archive{}, fmt.Errorf("archive %q: %w", id, err)
	}
	return a, nil
}
