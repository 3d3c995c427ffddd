// Package grantfile stores the timed grants of chats, a small document for each chat that has any:
// which commands a person allowed to run without asking, and until when.
//
// A file that cannot be read is an error, and none of its grants is returned; the next grants of its
// chat do not replace it, but rename it. Only one process writes, and only one caller for each chat.
// The chat decides whose grants are valid and when they end.
package grantfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

const (
	// version is the version of the files.
	version = 1
	// maxBytes is the longest file that is read: thousands of grants.
	maxBytes = 8 << 20
	// unreadable is added to the name of a file that cannot be read, with the time.
	unreadable = ".unreadable-"
)

var errVersion = errors.New("written by a newer version")

// Store implements [persistence.GrantStore].
type Store struct {
	dir  string
	disk document.Disk
	name func(messages.ChatKey) (string, error)
}

// New makes a store below a folder, which is made for the first grant. name returns the name of a
// chat's file, without its extension.
func New(dir string, name func(messages.ChatKey) (string, error)) *Store {
	return &Store{dir: dir, name: name}
}

type content struct {
	V       int                `json:"v"`
	ChatKey messages.ChatKey   `json:"chatKey"`
	Grants  []permission.Grant `json:"grants"`
}

func (s *Store) file(key messages.ChatKey) (document.File[content], error) {
	name, err := s.name(key)
	if err != nil {
		return document.File[content]{}, fmt.Errorf("grants of %s: %w", key, err)
	}
	return document.File[content]{
		Path: filepath.Join(s.dir, name+".json"), Max: maxBytes, Disk: s.disk, Encode: document.Indented[content],
		Decode: func(raw []byte) (content, error) { return decode(raw, key) },
	}, nil
}

// decode is strict, because a limit that this version does not know must not be ignored.
func decode(raw []byte, key messages.ChatKey) (c content, err error) {
	if raw == nil {
		return c, nil
	}
	err = document.Strict(raw, &c)
	switch {
	case err != nil:
	case c.V != version:
		err = errVersion
	case c.ChatKey != key:
		err = fmt.Errorf("they belong to %s", c.ChatKey)
	default:
		return c, nil
	}
	return content{}, err
}

// Grants implements [persistence.GrantStore].
func (s *Store) Grants(_ context.Context, key messages.ChatKey) ([]permission.Grant, error) {
	f, err := s.file(key)
	if err != nil {
		return nil, err
	}
	c, err := f.Read()
	return c.Grants, wrapped("read", key, err)
}

// Chats returns the chats that have or had grants, in the order of their files. A file that cannot
// be read is an error; the other chats are returned with it.
func (s *Store) Chats(ctx context.Context) ([]messages.ChatKey, error) {
	var keys []messages.ChatKey
	var faults []error
	// Long names continue in folders.
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case path == s.dir && errors.Is(err, fs.ErrNotExist):
			return filepath.SkipAll
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			faults = append(faults, fmt.Errorf("list grants: %w", err))
		case !e.IsDir() && filepath.Ext(path) == ".json": // A crash may leave temporary files.
			key, err := s.chatOf(path)
			if err != nil {
				faults = append(faults, fmt.Errorf("read grants of %s: %w", filepath.Base(path), err))
				return nil
			}
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return keys, errors.Join(faults...)
}

// chatOf returns the chat that a file says it belongs to.
func (s *Store) chatOf(path string) (messages.ChatKey, error) {
	var c content
	raw, err := document.Read(path, maxBytes)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		return "", err
	}
	if want, err := s.file(c.ChatKey); err != nil || want.Path != path {
		return "", errors.New("its name is not that of its chat")
	}
	return c.ChatKey, nil
}

// ForgetGrants removes the file of a chat, and those of its files that could not be read.
func (s *Store) ForgetGrants(_ context.Context, key messages.ChatKey) error {
	f, err := s.file(key)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(f.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrapped("remove", key, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(f.Path)+unreadable) {
			if err := s.disk.Remove(filepath.Join(filepath.Dir(f.Path), e.Name())); err != nil {
				return wrapped("remove", key, err)
			}
		}
	}
	return wrapped("remove", key, s.disk.Remove(f.Path))
}

// SaveGrants implements [persistence.GrantStore].
func (s *Store) SaveGrants(_ context.Context, key messages.ChatKey, grants []permission.Grant) error {
	f, err := s.file(key)
	if err != nil {
		return err
	}
	if _, err := f.Read(); err != nil {
		aside := f.Path + unreadable + time.Now().UTC().Format("20060102T150405.000000000Z")
		if err := s.disk.Do(document.StepRename, f.Path, func() error { return os.Rename(f.Path, aside) }); err != nil {
			return wrapped("keep", key, err)
		}
	}
	return wrapped("save", key, f.Write(content{V: version, ChatKey: key, Grants: grants}))
}

func wrapped(op string, key messages.ChatKey, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s grants of %s: %w", op, key, err)
}
