package actortest

import (
	"context"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// Files are files of chats in memory. They survive a World, like files survive a process.
type Files struct {
	mu    sync.Mutex
	files map[string][]byte
}

var _ persistence.FileStore = (*Files)(nil)

// ReadFile implements [persistence.FileStore].
func (f *Files) ReadFile(_ context.Context, key messages.ChatKey, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.files[string(key)+"/"+name], nil
}

// WriteFile implements [persistence.FileStore].
func (f *Files) WriteFile(_ context.Context, key messages.ChatKey, name string, content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files = map[string][]byte{}
	}
	if len(content) == 0 {
		delete(f.files, string(key)+"/"+name)
		return nil
	}
	f.files[string(key)+"/"+name] = append([]byte(nil), content...)
	return nil
}

// FilePath implements [persistence.FileStore].
func (*Files) FilePath(key messages.ChatKey, name string) (string, error) {
	return "/files/" + string(key) + "/" + name, nil
}
