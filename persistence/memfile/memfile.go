package memfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

const (
	// maxName is the longest name of a person's file, in bytes.
	maxName = 200
	// maxRead is the longest file that is read. It is more than a store writes, because people edit
	// the files too.
	maxRead = 4 * memories.MaxSize
)

// Options configure [New]. State and ChatDir are required.
type Options struct {
	State string // the state folder
	// ChatDir returns the folder of a chat.
	ChatDir func(key messages.ChatKey) (string, error)
}

// Store implements [persistence.MemoryStore]. The first change makes folders and files.
type Store struct {
	opts Options
	disk document.Disk
	lock *document.Lock // serialises the changes of all memories
}

// New makes a store.
func New(o Options) *Store {
	return &Store{opts: o, lock: document.NewLock(filepath.Join(o.State, "memory", ".lock"))}
}

// Path returns the file of a memory.
func (s *Store) Path(place memories.Place) (string, error) {
	switch {
	case place.Chat != "" && place.User != "":
		return "", fmt.Errorf("%w: of a chat and a person", persistence.ErrNoMemory)
	case place.Chat != "":
		dir, err := s.opts.ChatDir(place.Chat)
		if err != nil {
			return "", fmt.Errorf("%w: %w", persistence.ErrNoMemory, err)
		}
		return filepath.Join(dir, "memory", "Primary.md"), nil
	case place.User != "":
		name := place.User + ".md"
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") || len(name) > maxName {
			return "", fmt.Errorf("%w: of a person named %.40q", persistence.ErrNoMemory, place.User)
		}
		return filepath.Join(s.opts.State, "memory", "users", name), nil
	default:
		return filepath.Join(s.opts.State, "memory", "project.md"), nil
	}
}

// ReadMemory implements [persistence.MemoryStore].
func (s *Store) ReadMemory(_ context.Context, place memories.Place) (string, error) {
	file, err := s.Path(place)
	if err != nil {
		return "", err
	}
	return read(file)
}

// AddMemory implements [persistence.MemoryStore].
func (s *Store) AddMemory(ctx context.Context, place memories.Place, facts ...memories.Fact) (int, error) {
	n := 0
	err := s.change(ctx, place, func(file string, was []byte) error {
		if !utf8.Valid(was) {
			return errEncoding
		}
		var text string
		if text, n = memories.Append(string(was), facts...); n == 0 {
			return nil
		}
		return s.put(file, text)
	})
	return n, err
}

// ReplaceMemory implements [persistence.MemoryStore].
func (s *Store) ReplaceMemory(ctx context.Context, place memories.Place, was, text string, backup bool) error {
	return s.change(ctx, place, func(file string, now []byte) error {
		switch {
		case shown(now) != was:
			return persistence.ErrMemoryChanged
		case !backup && !utf8.Valid(now):
			return errEncoding
		}
		if backup && was != "" {
			name := strings.TrimSuffix(filepath.Base(file), ".md") + "-" + time.Now().UTC().Format("20060102T150405.000000000Z") + ".md"
			if err := s.put(filepath.Join(filepath.Dir(file), "backup", name), string(now)); err != nil {
				return fmt.Errorf("back up: %w", err)
			}
		}
		return s.put(file, text)
	})
}

// Alone runs work while nothing changes a memory.
func (s *Store) Alone(ctx context.Context, work func() error) error {
	return s.lock.Do(ctx, s.disk, work)
}

// errEncoding is the error for a change that would lose what a person wrote.
var errEncoding = errors.New("its file is not UTF-8 text; save it as UTF-8")

// change runs work with the content of the file while holding the lock of all memories.
func (s *Store) change(ctx context.Context, place memories.Place, work func(file string, was []byte) error) error {
	file, err := s.Path(place)
	if err != nil {
		return err
	}
	err = s.lock.Do(ctx, s.disk, func() error {
		was, err := document.Read(file, maxRead)
		if err != nil {
			return err
		}
		return work(file, was)
	})
	if err != nil {
		return fmt.Errorf("change a memory: %w", err)
	}
	return nil
}

func (s *Store) put(file, text string) error {
	if len(text) > memories.MaxSize {
		return persistence.ErrMemoryFull
	}
	return s.disk.Write(file, []byte(text))
}

// read returns a text, which is empty if it is missing.
func read(file string) (string, error) {
	text, err := document.Read(file, maxRead)
	if err != nil {
		return "", fmt.Errorf("read a memory: %w", err)
	}
	return shown(text), nil
}

// shown is a text for readers, also one that a person saved in another encoding.
func shown(text []byte) string { return strings.ToValidUTF8(string(text), "\ufffd") }

// cursor is the content of extracted.json. A mark is written in two steps: first as the next one,
// with the digest of the text that belongs to it. It is valid only once that text is durable.
type cursor struct {
	memories.Mark

	Next *memories.Mark `json:"next,omitempty"`
	Text string         `json:"text,omitempty"`
}

// cursor is the document next to the memory of a chat.
func (s *Store) cursor(file string) document.File[cursor] {
	path := filepath.Join(filepath.Dir(file), "extracted.json")
	return document.File[cursor]{
		Path: path, Max: maxRead, Disk: s.disk,
		Decode: func(raw []byte) (c cursor, err error) {
			if len(raw) > 0 {
				err = json.Unmarshal(raw, &c)
			}
			return c, err
		},
		Encode: func(c cursor) ([]byte, error) {
			raw, err := json.Marshal(c)
			return append(raw, '\n'), err
		},
		Unreadable: func(err error) error { return fmt.Errorf("read %s: %w", path, err) },
	}
}

// reached returns the mark that is valid for a text.
func (c cursor) reached(text string) memories.Mark {
	if c.Next != nil && c.Text == digest(text) {
		return *c.Next
	}
	return c.Mark
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Extracted implements [persistence.MemoryCursor].
func (s *Store) Extracted(_ context.Context, key messages.ChatKey) (memories.Mark, error) {
	file, err := s.Path(memories.Place{Chat: key})
	if err != nil {
		return memories.Mark{}, err
	}
	text, err := read(file)
	if err != nil {
		return memories.Mark{}, err
	}
	c, err := s.cursor(file).Read()
	return c.reached(text), err
}

// AddExtracted implements [persistence.MemoryCursor]. The next mark is written before the
// text that it belongs to.
func (s *Store) AddExtracted(ctx context.Context, key messages.ChatKey, to memories.Mark, facts ...memories.Fact) (int, error) {
	n := 0
	err := s.change(ctx, memories.Place{Chat: key}, func(file string, was []byte) error {
		if !utf8.Valid(was) {
			return errEncoding
		}
		marks := s.cursor(file)
		c, err := marks.Read()
		if err != nil {
			return err
		}
		var text string
		if text, n = memories.Append(string(was), facts...); n > 0 {
			if err := marks.Write(cursor{Mark: c.reached(string(was)), Next: &to, Text: digest(text)}); err != nil {
				return err
			}
			if err := s.put(file, text); err != nil {
				return err
			}
		}
		return marks.Write(cursor{Mark: to})
	})
	return n, err
}
