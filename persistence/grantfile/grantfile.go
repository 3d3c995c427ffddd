package grantfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// version of the files.
const version = 1

var errVersion = errors.New("written by a newer version")

// Store implements [persistence.GrantStore].
type Store struct {
	dir  string
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
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
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
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	var keys []messages.ChatKey
	var faults []error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := filepath.Join(s.dir, e.Name())
		if filepath.Ext(path) != ".json" {
			continue // of a save that a crash cut short
		}
		var f file
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &f)
		}
		if want, nameErr := s.path(f.ChatKey); err == nil && (nameErr != nil || want != path) {
			err = errors.New("it is called otherwise than its chat")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("read grants of %s: %w", filepath.Base(path), err))
			continue
		}
		keys = append(keys, f.ChatKey)
	}
	return keys, errors.Join(faults...)
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
	if err := makeDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save grants of %s: %w", key, err)
	}
	if err := writeSynced(path+".new", data); err != nil {
		return fmt.Errorf("save grants of %s: %w", key, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("save grants of %s: %w", key, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save grants of %s: %w", key, err)
	}
	return nil
}

// makeDir makes the folder, and forces that it is there.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Its parent may be new as well.
	return errors.Join(syncDir(filepath.Dir(dir)), syncDir(filepath.Dir(filepath.Dir(dir))))
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
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
