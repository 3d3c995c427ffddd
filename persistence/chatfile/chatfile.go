// Package chatfile keeps small files in the folders of chats.
//
// Promises: a nil error of a write means durable; after a crash the old or the new
// content is there, whole. Files are 0600 in folders 0700. What a file holds is its
// owner's business, and so is damage in it.
package chatfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// Store implements [persistence.FileStore].
type Store struct {
	dir func(messages.ChatKey) (string, error)
}

var _ persistence.FileStore = (*Store)(nil)

// New makes a store; dir is the folder of a chat, which is made when needed.
func New(dir func(messages.ChatKey) (string, error)) *Store { return &Store{dir: dir} }

// FilePath implements [persistence.FileStore].
func (s *Store) FilePath(key messages.ChatKey, name string) (string, error) { return s.path(key, name) }

func (s *Store) path(key messages.ChatKey, name string) (string, error) {
	dir, err := s.dir(key)
	if err != nil {
		return "", fmt.Errorf("file %s of %s: %w", name, key, err)
	}
	return filepath.Join(dir, name), nil
}

// ReadFile implements [persistence.FileStore].
func (s *Store) ReadFile(_ context.Context, key messages.ChatKey, name string) ([]byte, error) {
	path, err := s.path(key, name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, key, err)
	}
	return data, nil
}

// WriteFile implements [persistence.FileStore].
func (s *Store) WriteFile(_ context.Context, key messages.ChatKey, name string, content []byte) error {
	path, err := s.path(key, name)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		err = remove(path)
	} else {
		err = replace(path, content)
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", name, key, err)
	}
	return nil
}

func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, syncDir(filepath.Dir(path)))
}

func replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
