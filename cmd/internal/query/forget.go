package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// intentFile is the name of the file that records the intent to delete a chat.
const intentFile = "intent.json"

// Eraser deletes everything that is stored about chats in a state folder.
type Eraser struct {
	state string
	store *filestore.Store
	tasks *taskfile.Store
	Fires *taskfile.Log
	Index *searchindex.Index
	// Vectors deletes the vectors of memories.
	Vectors func(ctx context.Context) error
	// Runs deletes the log of a chat's runs.
	Runs func(ctx context.Context, key messages.ChatKey) error
}

// NewEraser makes an eraser for a store that no host uses. A host sets the exported fields.
func NewEraser(state string, store *filestore.Store, zone *time.Location) *Eraser {
	return &Eraser{
		state: state, store: store, tasks: taskfile.New(state, zone), Fires: taskfile.NewLog(state), Index: NewIndex(state, store, slog.New(slog.DiscardHandler)),
		Vectors: NewVectors(state, slog.New(slog.DiscardHandler)).Discard,
		Runs: func(_ context.Context, key messages.ChatKey) error {
			return agentcontext.Remove(filepath.Join(state, "memory", "agent-context"), chatpath.Encode, key)
		},
	}
}

// intents are the files that record which chats are being deleted.
func (e *Eraser) intents() *chatfile.Store {
	return chatfile.New(func(key messages.ChatKey) (string, error) {
		name, err := chatpath.Encode(key)
		return filepath.Join(e.state, "forgetting", filepath.FromSlash(name)), err
	})
}

// Forget deletes everything that is stored about a chat whose store is closed, and about the chats in which its tasks
// ran. It returns the latter: those that are open must be deleted by their own actors. The intent is made durable
// first and removed last, so that an interrupted deletion is completed later. The error is [journal.ErrNotBegun] if
// nothing was deleted, and the intent is not there either.
func (e *Eraser) Forget(ctx context.Context, f journal.Forgetting) (related []messages.ChatKey, err error) {
	related, err = e.Fires.Chats(ctx, f.ChatKey)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrNotBegun, err)
	}
	tasks, _, err := e.tasks.Tasks(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", journal.ErrNotBegun, err)
	}
	f.Tasks = []string{}
	for _, t := range tasks {
		if t.ChatKey == f.ChatKey {
			f.Tasks = append(f.Tasks, t.ID)
		}
	}
	intents := []journal.Forgetting{}
	for _, key := range related {
		intents = append(intents, journal.Forgetting{Version: 1, ChatKey: key, At: f.At, By: f.By})
	}
	intents = append(intents, f) // the last: nothing is deleted before all are there
	for i, one := range intents {
		if err := e.intend(ctx, one); err != nil {
			return nil, e.notBegun(ctx, intents[:i], fmt.Errorf("%w: %w", journal.ErrNotBegun, err))
		}
	}
	if err = e.finish(ctx, f); errors.Is(err, journal.ErrNotBegun) {
		return nil, e.notBegun(ctx, intents, err)
	}
	return related, err
}

// notBegun removes intents of which nothing was carried out: later they would delete what comes until then.
func (e *Eraser) notBegun(ctx context.Context, intents []journal.Forgetting, err error) error {
	for _, f := range intents {
		err = errors.Join(err, e.over(context.WithoutCancel(ctx), f.ChatKey))
	}
	return err
}

// over removes the intent to delete a chat.
func (e *Eraser) over(ctx context.Context, key messages.ChatKey) error {
	err := e.intents().WriteFile(ctx, key, intentFile, nil)
	if folder, failed := e.intents().FilePath(key, ""); failed == nil {
		_ = os.Remove(folder) // if something is still in it, it stays
	}
	return err
}

// intend makes the intent to delete a chat durable.
func (e *Eraser) intend(ctx context.Context, f journal.Forgetting) error {
	raw, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("encode the intent to delete a chat: %w", err)
	}
	return e.intents().WriteFile(ctx, f.ChatKey, intentFile, raw)
}

// finish carries out an intent. It may be repeated.
func (e *Eraser) finish(ctx context.Context, f journal.Forgetting) error {
	dir, err := e.store.ChatDir(f.ChatKey)
	if err != nil {
		return err
	}
	if !f.Emptied {
		// A memory that is being written would be made anew by the rest of that write.
		begun := false
		err := Memories(e.state).Alone(ctx, func() error {
			begun = true
			return e.empty(context.WithoutCancel(ctx), f, dir)
		})
		if err != nil && !begun {
			err = fmt.Errorf("%w: %w", journal.ErrNotBegun, err)
		}
		if err != nil {
			return err
		}
		f.Emptied = true
	}
	var all error
	for _, step := range []string{"chat", "files", "people", "runs", "grants", "tasks", "fires", "index"} {
		if slices.Contains(f.Done, step) {
			continue
		}
		if err := e.step(ctx, f, step); err != nil {
			all = errors.Join(all, err)
			continue
		}
		f.Done = append(f.Done, step)
	}
	if all != nil && e.intend(ctx, f) == nil {
		return fmt.Errorf("delete the chat %s: %w", f.ChatKey, all)
	}
	// An intent that does not say what was done must not stay: it would delete what comes later.
	return errors.Join(all, e.over(ctx, f.ChatKey))
}

// step carries out one step of a deletion.
func (e *Eraser) step(ctx context.Context, f journal.Forgetting, step string) error {
	switch step {
	case "chat":
		aside, err := e.aside(f.ChatKey)
		return errors.Join(err, os.RemoveAll(aside))
	case "files":
		folder, err := chatfiles.FolderOf(f.ChatKey)
		if err != nil {
			return err
		}
		return os.RemoveAll(filepath.Join(e.state, "files", filepath.FromSlash(folder)))
	case "people":
		return e.forgetPeople(f)
	case "runs":
		return e.Runs(ctx, f.ChatKey)
	case "grants":
		return Grants(e.state).ForgetGrants(ctx, f.ChatKey)
	case "tasks":
		return e.tasks.ForgetChat(ctx, f.ChatKey, f.Tasks)
	case "fires":
		return e.Fires.ForgetChat(ctx, f.ChatKey)
	default:
		// All of both files, because rows deleted from a database stay readable in its free pages, and vectors tell much
		// about their texts.
		return errors.Join(e.Index.Discard(ctx), e.Vectors(ctx))
	}
}

// empty takes the folder of a chat away, for a later step to delete, and stores what the chat continues with. The error is
// [journal.ErrNotBegun] if the chat is as it was.
func (e *Eraser) empty(ctx context.Context, f journal.Forgetting, dir string) error {
	aside, err := e.aside(f.ChatKey)
	if err == nil {
		err = os.RemoveAll(aside) // of an attempt that was interrupted
	}
	if err == nil {
		if err = os.Rename(dir, aside); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("%w: delete the chat %s: %w", journal.ErrNotBegun, f.ChatKey, err)
	}
	if err := e.keep(ctx, f); err != nil {
		err = fmt.Errorf("keep the ids of %s: %w", f.ChatKey, err)
		if back := errors.Join(os.RemoveAll(dir), os.Rename(aside, dir)); back != nil {
			return errors.Join(err, back)
		}
		return fmt.Errorf("%w: %w", journal.ErrNotBegun, err)
	}
	for _, folder := range []string{filepath.Dir(dir), filepath.Dir(aside)} {
		if err := (document.Disk{}).SyncDir(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// aside is where the folder of a chat waits for its deletion, beside the intent.
func (e *Eraser) aside(key messages.ChatKey) (string, error) {
	return e.intents().FilePath(key, "chat")
}

// forgetPeople removes the memories of the people of a chat, and what they typed in a terminal.
func (e *Eraser) forgetPeople(f journal.Forgetting) (all error) {
	if BotOf(f.ChatKey) == "cli" {
		all = os.RemoveAll(filepath.Join(e.state, "cli-history"))
	}
	for _, user := range f.Users {
		all = errors.Join(all, forgetUser(e.state, user))
	}
	return all
}

// forgetUser removes the memory of a person, with its backups.
func forgetUser(state, user string) error {
	path, err := Memories(state).Path(memories.Place{User: user})
	if err != nil {
		return nil //nolint:nilerr // a name that cannot be a file's has none
	}
	if err := (document.Disk{}).Remove(path); err != nil {
		return err
	}
	backups := filepath.Join(filepath.Dir(path), "backup")
	entries, err := os.ReadDir(backups)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var all error
	for _, entry := range entries {
		if at, ok := strings.CutPrefix(entry.Name(), user+"-"); ok && !strings.Contains(at, "-") { // not of a longer name
			all = errors.Join(all, os.Remove(filepath.Join(backups, entry.Name())))
		}
	}
	return all
}

// keep restores the ids and counters of a deleted chat.
func (e *Eraser) keep(ctx context.Context, f journal.Forgetting) (err error) {
	if f.Keep.N == 0 && f.Keep.Seq == 0 && len(f.Keep.IngressIDs) == 0 {
		return nil
	}
	c, err := e.store.OpenChat(ctx, f.ChatKey)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.Load(ctx); err != nil {
		return err
	}
	return c.Checkpoint(ctx, journal.Checkpoint{Meta: f.Keep})
}

// FinishAll completes the deletions that an earlier process started. It must run before any chat is opened. An order that
// cannot even begin until ctx is over is withdrawn, because the next start would delete what comes until then; if ctx is
// canceled, nothing comes.
func (e *Eraser) FinishAll(ctx context.Context, log func(journal.Forgetting, error)) error {
	root := filepath.Join(e.state, "forgetting")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == root {
			return filepath.SkipAll
		}
		if err != nil || entry.IsDir() || entry.Name() != intentFile {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var f journal.Forgetting
		if err := json.Unmarshal(raw, &f); err != nil || f.Version != 1 {
			return fmt.Errorf("%s is not an intent of this version to delete a chat", path)
		}
		err = e.finish(ctx, f)
		if errors.Is(err, journal.ErrNotBegun) && !errors.Is(ctx.Err(), context.Canceled) {
			err = e.withdraw(ctx, f, err)
		}
		log(f, err)
		return nil
	})
	if err != nil {
		return fmt.Errorf("continue the deletions: %w", err)
	}
	return nil
}

// withdraw removes the intent to delete a chat. If an earlier process had taken its folder away, it is put back first.
func (e *Eraser) withdraw(ctx context.Context, f journal.Forgetting, err error) error {
	dir, failed := e.store.ChatDir(f.ChatKey)
	aside, noAside := e.aside(f.ChatKey)
	if failed = errors.Join(failed, noAside); failed == nil {
		failed = os.Rename(aside, dir)
	}
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return errors.Join(err, failed)
	}
	return e.notBegun(ctx, []journal.Forgetting{f}, err)
}

// ForgetOrder is the body of POST /control/forget.
type ForgetOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
}

// ForgetResult reports that a chat was deleted.
type ForgetResult struct {
	ChatKey messages.ChatKey `json:"chatKey"`
}

// Forget deletes everything that is stored about a chat.
func (d *Desk) Forget(ctx context.Context, o ForgetOrder) (ForgetResult, error) {
	if err := Present(d.store, o.ChatKey); err != nil {
		return ForgetResult{}, err
	}
	_, err := Ask[messages.ChatForgotten](ctx, d.chat, messages.ForgetChat{ChatKey: o.ChatKey, By: d.said})
	return ForgetResult(o), err
}

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
		all = errors.Join(all, e.Index.Discard(ctx))
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
