// Package chatfile stores small documents in the folders of chats. It does not know what they
// contain: the reader of a file validates it.
package chatfile

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// maxBytes is the longest file that is read; all of them are small.
const maxBytes = 64 << 20

// Store implements [persistence.FileStore].
type Store struct {
	dir  func(messages.ChatKey) (string, error)
	disk document.Disk
}

var _ persistence.FileStore = (*Store)(nil)

// New makes a store; dir is the folder of a chat, which is made when needed.
func New(dir func(messages.ChatKey) (string, error)) *Store { return &Store{dir: dir} }

// FilePath implements [persistence.FileStore].
func (s *Store) FilePath(key messages.ChatKey, name string) (string, error) {
	dir, err := s.dir(key)
	if err != nil {
		return "", fmt.Errorf("file %s of %s: %w", name, key, err)
	}
	return filepath.Join(dir, name), nil
}

// ReadFile implements [persistence.FileStore].
func (s *Store) ReadFile(_ context.Context, key messages.ChatKey, name string) ([]byte, error) {
	path, err := s.FilePath(key, name)
	if err != nil {
		return nil, err
	}
	data, err := document.Read(path, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", name, key, err)
	}
	return data, nil
}

// WriteFile implements [persistence.FileStore].
func (s *Store) WriteFile(_ context.Context, key messages.ChatKey, name string, content []byte) error {
	path, err := s.FilePath(key, name)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		err = s.disk.Remove(path)
	} else {
		err = s.disk.Write(path, content)
	}
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", name, key, err)
	}
	return nil
}
