package query

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// ExpireRuns deletes the chats in which tasks ran and nothing has happened since a time, with what is stored about them.
// Those stay that are in use or have unfinished work, such as a request that waits. It calls rest in front of each.
func (e *Eraser) ExpireRuns(ctx context.Context, before time.Time, rest func(context.Context) error) (n int, all error) {
	var runs []messages.ChatKey
	for key, err := range e.store.Chats(ctx) {
		if err != nil {
			return 0, err
		}
		if _, ok := timetable.TaskOf(key); ok {
			runs = append(runs, key)
		}
	}
	for _, key := range runs {
		if all = errors.Join(all, rest(ctx)); ctx.Err() != nil {
			break
		}
		chat, err := e.store.OpenChat(ctx, key) // keeps others from writing meanwhile
		if err != nil {
			continue // it is in use
		}
		gone, err := e.expire(ctx, key, before)
		if gone {
			n++
		}
		all = errors.Join(all, err, chat.Close())
	}
	if n > 0 {
		all = errors.Join(all, e.forgetIndex(ctx))
	}
	return n, all
}

// expire deletes a chat that is old enough and at rest.
func (e *Eraser) expire(ctx context.Context, key messages.ChatKey, before time.Time) (gone bool, err error) {
	folder, err := chatpath.Encode(key)
	if err != nil {
		return false, err
	}
	folder = filepath.FromSlash(folder)
	mark := filepath.Join(e.state, "open", strconv.Itoa(int(chatpath.Shard(key))), folder)
	if _, err := os.Lstat(mark); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	young := false
	err = filepath.WalkDir(filepath.Join(e.state, "chat", folder), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		young = young || err == nil && info.ModTime().After(before)
		return err
	})
	if err != nil || young {
		return false, err
	}
	// No task has such a chat as its own, so there is no need to look for tasks and fires; and there is one index for all.
	f := journal.Forgetting{Version: 1, ChatKey: key, At: before, Done: []string{"tasks", "fires", "index"}}
	if err = e.intend(ctx, f); err == nil {
		err = e.finish(ctx, f)
	}
	if errors.Is(err, journal.ErrNotBegun) {
		err = e.notBegun(ctx, []journal.Forgetting{f}, err)
	}
	return err == nil, err
}
