package taskfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

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
