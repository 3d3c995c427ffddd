package taskfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	ext = ".md"
	// maxTasks is how many tasks there may be, apart from those that are done.
	maxTasks = 10_000
)

// Store implements [persistence.TaskStore].
type Store struct {
	state string
	home  *time.Location
	disk  document.Disk
	lock  *document.Lock // serialises the changes of all tasks

	mu       sync.Mutex
	looked   time.Time   // when the numbers were looked at last
	seen     fs.FileInfo // of the numbers when they were read last; nil if there were none
	numbered map[messages.ChatKey]bool
}

// New makes a store in a state folder, which the first change makes. home is the zone of tasks
// without one.
func New(state string, home *time.Location) *Store {
	return &Store{state: state, home: home, lock: document.NewLock(filepath.Join(state, ".tasks.lock"))}
}

// Dir is the folder of the tasks.
func (s *Store) Dir() string { return filepath.Join(s.state, "tasks") }

// Path is the file of a task.
func (s *Store) Path(id string) string { return filepath.Join(s.Dir(), id+ext) }

// Task implements [persistence.TaskStore].
func (s *Store) Task(id string) (timetable.Task, error) {
	if timetable.CheckID(id) != nil {
		return timetable.Task{}, persistence.ErrTask
	}
	return s.read(id)
}

// Tasks implements [persistence.TaskStore].
func (s *Store) Tasks(ctx context.Context) ([]timetable.Task, []timetable.Problem, error) {
	entries, err := os.ReadDir(s.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the tasks: %w", err)
	}
	var tasks []timetable.Task
	var problems []timetable.Problem
	open := 0 // tasks that are not done
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name := e.Name()
		if !strings.HasSuffix(name, ext) || strings.HasPrefix(name, ".") {
			continue
		}
		t, err := s.read(strings.TrimSuffix(name, ext))
		if errors.Is(err, persistence.ErrTask) {
			continue // removed meanwhile
		}
		if err != nil {
			problems = append(problems, problem(s.Path(strings.TrimSuffix(name, ext)), err))
			continue
		}
		if t.Status != timetable.Done {
			open++
		}
		if t.Status == timetable.Done || open <= maxTasks {
			tasks = append(tasks, t)
		} else if open == maxTasks+1 {
			problems = append(problems, problem(s.Path(t.ID), errTooMany()))
		}
	}
	sort.SliceStable(tasks, func(i, j int) bool { return tasks[i].ID < tasks[j].ID })
	return tasks, problems, nil
}

func errTooMany() error {
	return frontmatter.Faultf(0, "remove tasks that are not needed", "there are more than %d tasks; this one and those after it do not run", maxTasks)
}

func problem(path string, err error) timetable.Problem {
	if f, ok := errors.AsType[frontmatter.Fault](err); ok {
		return timetable.Problem{Path: path, Line: f.Line, What: f.What, Hint: f.Hint}
	}
	return timetable.Problem{Path: path, What: err.Error(), Hint: "make it a file that can be read"}
}

func (s *Store) read(id string) (timetable.Task, error) {
	raw, err := s.bytes(id)
	if err != nil {
		return timetable.Task{}, err
	}
	return parse(id, raw, s.home)
}

// bytes reads a regular file, up to just over the maximum, so that parsing can see that it is too
// long.
func (s *Store) bytes(id string) ([]byte, error) {
	info, err := os.Lstat(s.Path(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, persistence.ErrTask
	case err != nil:
		return nil, fmt.Errorf("read a task: %w", err)
	case !info.Mode().IsRegular():
		return nil, frontmatter.Faultf(0, "put a plain file in its place", "it is not a plain file")
	}
	f, err := os.Open(s.Path(id))
	if err != nil {
		return nil, fmt.Errorf("read a task: %w", err)
	}
	defer func() { _ = f.Close() }() // It was only read.
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+4))
	if err != nil {
		return nil, fmt.Errorf("read a task: %w", err)
	}
	return raw, nil
}

// AddTask implements [persistence.TaskStore]. It refuses a task that could not be read back.
func (s *Store) AddTask(ctx context.Context, t timetable.Task) error {
	raw, err := s.Check(t)
	if err != nil {
		return err
	}
	return s.change(ctx, func() error {
		if _, err := os.Lstat(s.Path(t.ID)); err == nil {
			return fmt.Errorf("%w: %s", persistence.ErrTaskExists, t.ID)
		}
		return s.write(t.ID, raw)
	})
}

// Check returns the file of a task, or what is wrong with the task.
func (s *Store) Check(t timetable.Task) ([]byte, error) {
	t.Status, t.CatchUp = cmp.Or(t.Status, timetable.Active), cmp.Or(t.CatchUp, timetable.CatchUpOnce)
	raw, err := format(t)
	if err != nil {
		return nil, err
	}
	if _, err := parse(t.ID, raw, s.home); err != nil {
		return nil, err
	}
	return raw, nil
}

// SetTaskStatus implements [persistence.TaskStore].
func (s *Store) SetTaskStatus(ctx context.Context, id string, status timetable.Status, by string) error {
	return s.changeTask(ctx, id, func() error {
		raw, err := s.bytes(id)
		if err != nil {
			return err
		}
		t, err := parse(id, raw, s.home)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Path(id), err)
		}
		if status == timetable.Active {
			by = ""
		}
		if t.Status == status && t.StoppedBy == by {
			return nil
		}
		next := withStatus(raw, status, by)
		if got, err := parse(id, next, s.home); err != nil || got.Status != status || got.StoppedBy != by {
			return fmt.Errorf("%s: its status cannot be changed; change it with an editor", s.Path(id))
		}
		return s.write(id, next)
	})
}

// RemoveTask implements [persistence.TaskStore]. It also removes a file that cannot be read.
func (s *Store) RemoveTask(ctx context.Context, id string) error {
	return s.changeTask(ctx, id, func() error {
		if _, err := os.Lstat(s.Path(id)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %s", persistence.ErrTask, id)
		}
		if err := s.disk.Remove(s.Path(id)); err != nil {
			return fmt.Errorf("remove a task: %w", err)
		}
		return nil
	})
}

func (s *Store) write(id string, raw []byte) error {
	if err := s.disk.Write(s.Path(id), raw); err != nil {
		return fmt.Errorf("write a task: %w", err)
	}
	return nil
}

// changeTask is change for an existing task. It refuses ids that cannot name one.
func (s *Store) changeTask(ctx context.Context, id string, work func() error) error {
	return s.change(ctx, func() error {
		if timetable.CheckID(id) != nil {
			return fmt.Errorf("%w: %s", persistence.ErrTask, timetable.ShortText(id, timetable.MaxID))
		}
		return work()
	})
}

// change runs work while holding the lock, after making the folder.
func (s *Store) change(ctx context.Context, work func() error) error {
	return s.lock.Do(ctx, s.disk, func() error {
		if err := s.disk.MakeDir(s.Dir()); err != nil {
			return fmt.Errorf("change the tasks: %w", err)
		}
		return work()
	})
}

// ChangeTask implements [persistence.TaskStore]. The file is written again, without the comments
// that people put into its front matter.
func (s *Store) ChangeTask(ctx context.Context, id string, change func(timetable.Task) (timetable.Task, error)) error {
	return s.changeTask(ctx, id, func() error {
		t, err := s.read(id)
		if err != nil {
			return err
		}
		next, err := change(t)
		if err != nil {
			return err
		}
		next.ID = id
		raw, err := s.Check(next)
		if err != nil {
			return err
		}
		return s.write(id, raw)
	})
}

// numbers are the numbers by which people of a chat refer to its tasks.
type numbers struct {
	Last  int            `json:"last"` // the highest number ever used
	Tasks map[string]int `json:"tasks"`
}

// numbers is the document with the numbers of all chats. One that cannot be decoded is replaced,
// because tasks can be numbered again.
func (s *Store) numbers() document.File[map[messages.ChatKey]numbers] {
	return document.File[map[messages.ChatKey]numbers]{
		Path: filepath.Join(s.state, "task-numbers.json"), Max: maxNumbers, Disk: s.disk,
		Decode: func(raw []byte) (map[messages.ChatKey]numbers, error) {
			all := map[messages.ChatKey]numbers{}
			if raw != nil && (json.Unmarshal(raw, &all) != nil || all == nil) {
				all = map[messages.ChatKey]numbers{}
			}
			return all, nil
		},
		Encode: func(all map[messages.ChatKey]numbers) ([]byte, error) { return json.Marshal(all) },
	}
}

// maxNumbers is the longest file of numbers.
const maxNumbers = 64 << 20

// changeNumbers changes the numbers while holding the lock of the tasks.
func (s *Store) changeNumbers(ctx context.Context, change func(all map[messages.ChatKey]numbers) error) error {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looked = time.Time{}
	}()
	return s.change(ctx, func() error {
		err := s.numbers().Change(ctx, func(all *map[messages.ChatKey]numbers) error { return change(*all) })
		if err != nil {
			return fmt.Errorf("change the numbers of tasks: %w", err)
		}
		return nil
	})
}

// TaskNumbers implements [persistence.TaskStore]. The number of a removed task is deleted but not
// reused.
func (s *Store) TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error) {
	out := make(map[string]int, len(ids))
	err := s.changeNumbers(ctx, func(all map[messages.ChatKey]numbers) error {
		of := all[key]
		fresh := false
		for _, id := range ids {
			if of.Tasks[id] > 0 {
				continue
			}
			if of.Tasks == nil {
				of.Tasks = map[string]int{}
			}
			of.Last++
			of.Tasks[id], fresh = of.Last, true
		}
		for _, id := range ids {
			out[id] = of.Tasks[id]
		}
		if !fresh {
			return document.ErrSame
		}
		maps.DeleteFunc(of.Tasks, func(id string, _ int) bool {
			_, err := os.Lstat(s.Path(id))
			return errors.Is(err, fs.ErrNotExist) && !slices.Contains(ids, id)
		})
		all[key] = of
		return nil
	})
	return out, err
}

// lookEvery is how often the numbers are looked at for changes by other processes.
const lookEvery = time.Second

// HadTasks implements [persistence.TaskStore]. It reads the numbers only after they have changed. While they cannot be
// read, every chat had tasks.
func (s *Store) HadTasks(key messages.ChatKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.looked) >= lookEvery {
		if err := s.look(); err != nil {
			return true
		}
		s.looked = now
	}
	return s.numbered[key]
}

// look reads the numbers if they have changed.
func (s *Store) look() error {
	file := s.numbers()
	info, err := os.Stat(file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen, s.numbered = nil, nil
		return nil
	}
	if err != nil || s.seen != nil && os.SameFile(s.seen, info) && s.seen.Size() == info.Size() && s.seen.ModTime().Equal(info.ModTime()) {
		return err
	}
	all, err := file.Read()
	if err != nil {
		return err
	}
	s.seen, s.numbered = info, make(map[messages.ChatKey]bool, len(all))
	for key := range all {
		s.numbered[key] = true
	}
	return nil
}

// ForgetChat removes those tasks of a chat that have one of the ids, or all tasks if ids is nil, with their numbers there.
func (s *Store) ForgetChat(ctx context.Context, key messages.ChatKey, ids []string) error {
	all, _, err := s.Tasks(ctx)
	if err != nil {
		return err
	}
	left := false
	for _, t := range all {
		if t.ChatKey != key {
			continue
		}
		if ids != nil && !slices.Contains(ids, t.ID) {
			left = true
			continue
		}
		if err := s.RemoveTask(ctx, t.ID); err != nil && !errors.Is(err, persistence.ErrTask) {
			return err
		}
	}
	return s.changeNumbers(ctx, func(all map[messages.ChatKey]numbers) error {
		of, ok := all[key]
		if !ok {
			return document.ErrSame
		}
		for _, id := range ids {
			delete(of.Tasks, id)
		}
		if !left {
			delete(all, key)
		}
		return nil
	})
}

// Numbered returns the tasks of a chat in the order of their numbers.
func (s *Store) Numbered(ctx context.Context, key messages.ChatKey) ([]timetable.Task, map[string]int, error) {
	all, _, err := s.Tasks(ctx)
	if err != nil {
		return nil, nil, err
	}
	mine := slices.DeleteFunc(all, func(t timetable.Task) bool { return t.ChatKey != key })
	var ids []string
	for _, t := range mine {
		ids = append(ids, t.ID)
	}
	if len(ids) == 0 {
		return nil, nil, nil
	}
	given, err := s.TaskNumbers(ctx, key, ids)
	if err != nil {
		return nil, nil, err
	}
	sort.SliceStable(mine, func(i, j int) bool { return given[mine[i].ID] < given[mine[j].ID] })
	return mine, given, nil
}
