package memfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// maxName is the longest name of a person's file.
const maxName = 200

// Options of a store.
type Options struct {
	State string // the state folder
	// ChatDir is the folder of a chat.
	ChatDir func(key messages.ChatKey) (string, error)
	Now     func() time.Time // nil: time.Now
}

// Store implements [persistence.MemoryStore]. It makes folders and files with the
// first change only.
type Store struct {
	opts Options
	mu   sync.Mutex // held with the lock file
	// step hears of every step of a change, and may end it as a crash would.
	step func(name string) error
}

// New makes a store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{opts: o, step: func(string) error { return nil }}
}

// Path is the file of a memory.
func (s *Store) Path(place persistence.MemoryPlace) (string, error) {
	switch {
	case place.Chat != "" && place.User != "":
		return "", fmt.Errorf("%w: of a chat and a person", persistence.ErrMemoryPlace)
	case place.Chat != "":
		dir, err := s.opts.ChatDir(place.Chat)
		if err != nil {
			return "", fmt.Errorf("%w: %w", persistence.ErrMemoryPlace, err)
		}
		return filepath.Join(dir, "memory", "Primary.md"), nil
	case place.User != "":
		name := place.User + ".md"
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") || len(name) > maxName {
			return "", fmt.Errorf("%w: of a person named %.40q", persistence.ErrMemoryPlace, place.User)
		}
		return filepath.Join(s.opts.State, "memory", "users", name), nil
	default:
		return filepath.Join(s.opts.State, "memory", "project.md"), nil
	}
}

// ReadMemory implements [persistence.MemoryStore].
func (s *Store) ReadMemory(_ context.Context, place persistence.MemoryPlace) (string, error) {
	file, err := s.Path(place)
	if err != nil {
		return "", err
	}
	return read(file)
}

// AddMemory implements [persistence.MemoryStore].
func (s *Store) AddMemory(ctx context.Context, place persistence.MemoryPlace, facts ...persistence.MemoryFact) (int, error) {
	n := 0
	err := s.change(ctx, place, func(file string) error {
		was, err := read(file)
		if err != nil {
			return err
		}
		var text string
		if text, n = persistence.AppendFacts(was, facts...); n == 0 {
			return nil
		}
		return s.put(file, text)
	})
	return n, err
}

// ReplaceMemory implements [persistence.MemoryStore].
func (s *Store) ReplaceMemory(ctx context.Context, place persistence.MemoryPlace, was, text string, backup bool) error {
	return s.change(ctx, place, func(file string) error {
		switch now, err := read(file); {
		case err != nil:
			return err
		case now != was:
			return persistence.ErrMemoryChanged
		}
		if backup && was != "" {
			name := strings.TrimSuffix(filepath.Base(file), ".md") + "-" + s.opts.Now().UTC().Format("20060102T150405.000000000Z") + ".md"
			if err := s.put(filepath.Join(filepath.Dir(file), "backup", name), was); err != nil {
				return fmt.Errorf("back up: %w", err)
			}
		}
		return s.put(file, text)
	})
}

// change runs work alone, in all processes.
func (s *Store) change(ctx context.Context, place persistence.MemoryPlace, work func(file string) error) error {
	file, err := s.Path(place)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	name := filepath.Join(s.opts.State, "memory", ".lock")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("change a memory: %w", err)
	}
	lock := flock.New(name, flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("change a memory: %w", err)
	}
	if err = work(file); err != nil {
		err = fmt.Errorf("change a memory: %w", err)
	}
	return errors.Join(err, lock.Close())
}

// put replaces a file as a whole.
func (s *Store) put(file, text string) error {
	if len(text) > persistence.MaxMemory {
		return persistence.ErrMemoryFull
	}
	dir := filepath.Dir(file)
	if err := makeDir(dir); err != nil {
		return err
	}
	name := filepath.Base(file)
	if err := s.step("write " + name); err != nil {
		return err
	}
	fresh := file + ".new"
	if err := writeSynced(fresh, text); err != nil {
		return err
	}
	if err := s.step("rename " + name); err != nil {
		return err
	}
	if err := os.Rename(fresh, file); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return s.step("done " + name)
}

// makeDir makes a folder, and forces that it is there.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func writeSynced(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// read is a text; what is not there is empty.
func read(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read a memory: %w", err)
	}
	return strings.ToValidUTF8(string(text), "\ufffd"), nil
}
