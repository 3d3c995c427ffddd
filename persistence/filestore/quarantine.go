package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// quarantine copies a region of a file into the quarantine folder, durably. A region that was
// copied before is not copied again.
func (c *chat) quarantine(ctx context.Context, file string, r linefile.Region) error {
	_, err := c.setAside(ctx, file, r, "")
	return err
}

// setAside is quarantine; it returns the name of the copy, which is the name of the file followed
// by a word for its kind.
func (c *chat) setAside(ctx context.Context, file string, r linefile.Region, word string) (name string, err error) {
	if err := c.ensureDir(quarantineDir); err != nil {
		return "", harmless(err)
	}
	isNew := false
	err = c.store.files.Temporary(ctx, file, os.O_RDONLY, func(f vfs.File) error {
		sum, err := vfs.Copy(io.Discard, f, r.Off, r.N)
		if err != nil {
			return harmless(err)
		}
		name = path.Join(c.path(quarantineDir), fmt.Sprintf("%s%s-%d-%08x", c.flat(file), word, r.Off, sum))
		if info, err := c.store.fs.Lstat(name); err == nil && info.Size() == r.N {
			if is, err := c.syncCopy(ctx, name, r.N, sum); is || err != nil {
				return err
			}
		}
		isNew = true
		return c.writeTemp(ctx, name, func(w *vfs.Writer) error {
			_, err := vfs.Copy(w, f, r.Off, r.N)
			return err
		})
	})
	if err != nil {
		return "", err
	}
	c.mustSync(c.path(quarantineDir))
	if err := c.syncDirs(ctx); err != nil {
		return "", err
	}
	if isNew && word == "" {
		c.store.metrics.quarantine.Inc()
	}
	return path.Base(name), nil
}

// syncCopy fsyncs a copy if it is already complete: after a power cut it may have its size without
// its contents.
func (c *chat) syncCopy(ctx context.Context, name string, n int64, sum uint32) (is bool, err error) {
	err = c.store.files.Temporary(ctx, name, os.O_RDWR, func(f vfs.File) error {
		have, err := vfs.Copy(io.Discard, f, 0, n)
		if is = err == nil && have == sum; !is {
			return nil // it will be written again
		}
		return f.Datasync()
	})
	return is, err
}

// flat is a file's path relative to the chat's folder as one name.
func (c *chat) flat(file string) string {
	return strings.ReplaceAll(strings.TrimPrefix(file, c.dir+"/"), "/", "_")
}

// writeTemp makes a temporary file with what fill writes and fsyncs it. It is removed on failure.
// The caller renames it.
func (c *chat) writeTemp(ctx context.Context, name string, fill func(w *vfs.Writer) error) error {
	opened := false
	err := c.store.files.Temporary(ctx, name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, func(f vfs.File) error {
		opened = true
		w := vfs.NewWriter(f)
		if err := fill(w); err != nil {
			return harmless(err)
		}
		if err := w.Flush(); err != nil {
			return harmless(err)
		}
		return f.Datasync()
	})
	switch {
	case err == nil:
		return nil
	case !opened:
		return harmless(err)
	}
	if rest := c.store.fs.Remove(name); rest != nil && !isMissing(rest) {
		return errors.Join(err, rest)
	}
	return err
}
