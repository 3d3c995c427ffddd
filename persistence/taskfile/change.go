package taskfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// ChangeTask implements [persistence.TaskStore]. The file is written anew: comments that
// people put into its front matter are not kept.
func (s *Store) ChangeTask(ctx context.Context, id string, change func(persistence.Task) (persistence.Task, error)) error {
	return s.change(ctx, func() error {
		if err := s.named(id); err != nil {
			return err
		}
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

// numbers are what people of a chat call its tasks.
type numbers struct {
	Last  int            `json:"last"` // the highest one that was ever given
	Tasks map[string]int `json:"tasks"`
}

// numbersPath is the file of the numbers of all chats.
func (s *Store) numbersPath() string { return filepath.Join(s.state, "task-numbers.json") }

// TaskNumbers implements [persistence.TaskStore]. Numbers of files that are gone are
// forgotten, and yet not given again.
func (s *Store) TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error) {
	out := make(map[string]int, len(ids))
	err := s.change(ctx, func() error {
		all, err := s.readNumbers()
		if err != nil {
			return err
		}
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
			return nil
		}
		maps.DeleteFunc(of.Tasks, func(id string, _ int) bool {
			_, err := os.Lstat(s.Path(id))
			return errors.Is(err, fs.ErrNotExist) && !slices.Contains(ids, id)
		})
		all[key] = of
		return s.writeNumbers(all)
	})
	return out, err
}

// ForgetChat removes the tasks of a chat, with the numbers that they had there.
func (s *Store) ForgetChat(ctx context.Context, key messages.ChatKey) error {
	all, _, err := s.Tasks(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.ChatKey != key {
			continue
		}
		if err := s.RemoveTask(ctx, t.ID); err != nil && !errors.Is(err, persistence.ErrTask) {
			return err
		}
	}
	return s.change(ctx, func() error {
		all, err := s.readNumbers()
		if err != nil {
			return err
		}
		if _, ok := all[key]; !ok {
			return nil
		}
		delete(all, key)
		return s.writeNumbers(all)
	})
}

// readNumbers reads the numbers. A file that cannot be understood is replaced: what it
// held can be counted anew.
func (s *Store) readNumbers() (map[messages.ChatKey]numbers, error) {
	all := map[messages.ChatKey]numbers{}
	raw, err := os.ReadFile(s.numbersPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, fmt.Errorf("read the numbers of tasks: %w", err)
	case json.Unmarshal(raw, &all) != nil:
		return map[messages.ChatKey]numbers{}, nil
	}
	return all, nil
}

func (s *Store) writeNumbers(all map[messages.ChatKey]numbers) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode the numbers of tasks: %w", err)
	}
	if err := s.disk.Write(s.numbersPath(), raw); err != nil {
		return fmt.Errorf("write the numbers of tasks: %w", err)
	}
	return nil
}

// Numbered are the tasks of a chat in the order of the numbers that people know them by.
func (s *Store) Numbered(ctx context.Context, key messages.ChatKey) ([]persistence.Task, map[string]int, error) {
	all, _, err := s.Tasks(ctx)
	if err != nil {
		return nil, nil, err
	}
	mine := slices.DeleteFunc(all, func(t persistence.Task) bool { return t.ChatKey != key })
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
	slices.SortFunc(mine, func(a, b persistence.Task) int { return cmp.Compare(given[a.ID], given[b.ID]) })
	return mine, given, nil
}
