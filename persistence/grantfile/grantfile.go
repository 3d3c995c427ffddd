package grantfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	// version of the files.
	version = 1
	// maxBytes is the longest file that is read: thousands of grants.
	maxBytes = 8 << 20
)

var errVersion = errors.New("written by a newer version")

// Store implements [persistence.GrantStore].
type Store struct {
	dir  string
	disk document.Disk
	name func(messages.ChatKey) (string, error)
}

// New makes a store below a folder, which is made with the first grant. name is
// how the file of a chat is called, without its extension.
func New(dir string, name func(messages.ChatKey) (string, error)) *Store {
	return &Store{dir: dir, name: name}
}

// file is what a file holds.
type file struct {
	V       int                 `json:"v"`
	ChatKey messages.ChatKey    `json:"chatKey"`
	Grants  []persistence.Grant `json:"grants"`
}

func (s *Store) path(key messages.ChatKey) (string, error) {
	name, err := s.name(key)
	if err != nil {
		return "", fmt.Errorf("grants of %s: %w", key, err)
	}
	return filepath.Join(s.dir, name+".json"), nil
}

// Grants implements [persistence.GrantStore].
func (s *Store) Grants(_ context.Context, key messages.ChatKey) ([]persistence.Grant, error) {
	path, err := s.path(key)
	if err != nil {
		return nil, err
	}
	data, err := document.Read(path, maxBytes)
	if err != nil || data == nil {
		return nil, wrapped("read grants", err)
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields() // a limit that we do not know of must not be passed over
	err = dec.Decode(&f)
	switch {
	case err != nil:
	case f.V != version:
		err = errVersion
	case f.ChatKey != key:
		err = fmt.Errorf("they belong to %s", f.ChatKey)
	}
	if err != nil {
		return nil, fmt.Errorf("read grants of %s: %w", key, err)
	}
	return f.Grants, nil
}

// Chats are the chats that have grants, or had some, in the order of their files. A
// file that cannot be read is an error, and the others are listed all the same.
func (s *Store) Chats(ctx context.Context) ([]messages.ChatKey, error) {
	var keys []messages.ChatKey
	var faults []error
	// Long names go on in folders.
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case path == s.dir && errors.Is(err, fs.ErrNotExist):
			return filepath.SkipAll
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			faults = append(faults, fmt.Errorf("list grants: %w", err))
		case !e.IsDir() && filepath.Ext(path) == ".json": // all others a crash cut short
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

// chatOf is the chat that a file says it belongs to.
func (s *Store) chatOf(path string) (messages.ChatKey, error) {
	var f file
	data, err := document.Read(path, maxBytes)
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		return "", err
	}
	if want, err := s.path(f.ChatKey); err != nil || want != path {
		return "", errors.New("it is called otherwise than its chat")
	}
	return f.ChatKey, nil
}

// ForgetGrants removes the file of a chat.
func (s *Store) ForgetGrants(_ context.Context, key messages.ChatKey) error {
	path, err := s.path(key)
	if err != nil {
		return err
	}
	return wrapped("remove grants of "+string(key), s.disk.Remove(path))
}

// SaveGrants implements [persistence.GrantStore].
func (s *Store) SaveGrants(_ context.Context, key messages.ChatKey, grants []persistence.Grant) error {
	path, err := s.path(key)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(file{V: version, ChatKey: key, Grants: grants}, "", "  ")
	if err != nil {
		return fmt.Errorf("save grants of %s: %w", key, err) // Unreachable: grants encode
	}
	return wrapped("save grants of "+string(key), s.disk.Write(path, append(data, '\n')))
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
