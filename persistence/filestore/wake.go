package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// marker is the path of the file that marks a chat, and the folder of its shard.
func (c *chat) marker() (name, shard string) {
	shard = path.Join(c.store.dir, openDir, strconv.Itoa(int(chatpath.Shard(c.key))))
	return path.Join(shard, c.folder()), shard
}

// Wake implements [persistence.Waker].
func (c *chat) Wake(ctx context.Context) error { return c.change(ctx, "wake", c.wake) }

func (c *chat) wake(ctx context.Context) error {
	if c.marked {
		return nil
	}
	name, shard := c.marker()
	if err := c.wakeDirs(ctx, shard, path.Dir(name)); err != nil {
		return err
	}
	err := c.store.files.Temporary(ctx, name, os.O_RDWR|os.O_CREATE|os.O_EXCL, func(vfs.File) error { return nil })
	switch {
	case err == nil:
		c.trust()
	case !errors.Is(err, fs.ErrExist):
		return harmless(err)
	}
	if err := c.syncDir(ctx, path.Dir(name)); err != nil {
		return err
	}
	c.marked = true
	return nil
}

// trust is called if the chat was not marked: its last writer had no unfinished work.
func (c *chat) trust() {
	if len(c.made) > 0 {
		return // this handle has already written to it
	}
	c.suspect = false
	for _, l := range c.logs() {
		l.unsynced = false
	}
}

// settle fsyncs the files and folders of a chat that was marked: a process that was killed may not
// have fsynced contents and names. Whoever reads the chat treats its contents as durable, if only to
// answer that a message is known.
func (c *chat) settle(ctx context.Context) error {
	for _, dir := range c.folders() {
		if c.store.checkDir(dir) == nil {
			c.mustSync(path.Dir(dir))
		}
	}
	for _, l := range c.logs() {
		if l.exists {
			c.mustSync(path.Dir(l.h.Path()))
		}
	}
	if err := c.sync(ctx, c.logs()...); err != nil {
		return err
	}
	c.suspect = false
	return nil
}

// wakeDirs makes the folder of a marker and its parents, durably.
func (c *chat) wakeDirs(ctx context.Context, shard, dir string) error {
	known := &c.store.markers[chatpath.Shard(c.key)]
	if known.Load() && dir == shard {
		return nil
	}
	root := path.Dir(shard)
	for _, at := range chatpath.Folders(root, strings.TrimPrefix(dir, root+"/")) {
		if _, err := c.store.mkdir(at); err != nil {
			return harmless(err)
		}
		if err := c.syncDir(ctx, path.Dir(at)); err != nil {
			return err
		}
	}
	known.Store(true)
	return nil
}

// Rest implements [persistence.Waker]. A chat without a marker is trusted, so everything is fsynced
// first; a chat that is read-only keeps its marker. The removal is not fsynced: waking a chat
// unnecessarily is harmless.
func (c *chat) Rest(ctx context.Context) error {
	return c.change(ctx, "rest", func(ctx context.Context) error {
		if err := c.sync(ctx, c.logs()...); err != nil {
			return err
		}
		c.restMeta(ctx)
		if err := c.syncDirs(ctx); err != nil {
			return err
		}
		name, _ := c.marker()
		if err := c.store.fs.Remove(name); err != nil && !isMissing(err) {
			return harmless(err)
		}
		c.marked = false
		return nil
	})
}

// Waking implements [persistence.Store]. A small host has folders of a few shards only.
func (s *Store) Waking(ctx context.Context) ([]messages.ChatKey, error) {
	var keys []messages.ChatKey
	root := path.Join(s.dir, openDir)
	shards, err := s.list(ctx, root)
	failed := errors.Join(s.usable(ctx), err)
	for _, shard := range shards {
		if _, err := strconv.Atoi(shard.Name()); err != nil || failed != nil {
			continue // it is foreign
		}
		s.walk(ctx, path.Join(root, shard.Name()), "", false, func(key messages.ChatKey, err error) bool {
			switch {
			case err != nil:
				failed = err
				return false
			case strconv.Itoa(int(chatpath.Shard(key))) != shard.Name():
				s.log.WarnContext(ctx, "a mark of a chat is in the wrong shard and is ignored", "chat_key", key, "shard", shard.Name())
			default:
				keys = append(keys, key)
			}
			return true
		})
	}
	if failed != nil {
		return nil, fmt.Errorf("list chats to wake: %w", failed)
	}
	return keys, nil
}
