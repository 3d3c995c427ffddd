package query

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// MemoryLine is one memory in a state folder. Members are only ever added.
type MemoryLine struct {
	// Memory is project, user:<platform>-<userId>, or the key of a chat.
	Memory  string    `json:"memory"`
	Bytes   int64     `json:"bytes"`
	Changed time.Time `json:"changed"`
}

// Memories opens the memories of a state folder. It is safe while a host runs.
func Memories(state string) *memfile.Store {
	return memfile.New(memfile.Options{State: state, ChatDir: func(key messages.ChatKey) (string, error) { return filestore.ChatDir(state, key) }})
}

// ParseMemory parses a name as in [MemoryLine]. A name for which no file can exist is refused when the place is used.
func ParseMemory(name string) (memories.Place, error) {
	if name == "project" {
		return memories.Place{}, nil
	}
	if user, ok := strings.CutPrefix(name, "user:"); ok && user != "" {
		return memories.Place{User: user}, nil
	}
	key, err := messages.ParseChatKey(name)
	return memories.Place{Chat: key}, err
}

// ListMemories lists the memories of the project, of people and of chats.
func ListMemories(state string) ([]MemoryLine, error) {
	out := []MemoryLine{}
	err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed meanwhile, or never created
			}
			return err
		}
		rel, err := filepath.Rel(state, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if !mayHoldMemories(filepath.ToSlash(rel)) {
				return fs.SkipDir
			}
			return nil
		}
		name, ok := memoryName(filepath.ToSlash(rel))
		if !ok {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out = append(out, MemoryLine{name, info.Size(), info.ModTime().UTC().Truncate(time.Second)})
		return nil
	})
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return cmp.Or(cmp.Compare(rank(a.Memory), rank(b.Memory)), cmp.Compare(a.Memory, b.Memory)) < 0
	})
	return out, err
}

func rank(name string) int {
	switch {
	case name == "project":
		return 0
	case strings.HasPrefix(name, "user:"):
		return 1
	}
	return 2
}

// mayHoldMemories reports whether a folder may contain memories.
func mayHoldMemories(rel string) bool {
	if rel == "." || rel == "memory" || rel == "memory/users" || rel == "chat" {
		return true
	}
	folder, chat := strings.CutPrefix(rel, "chat/")
	if !chat {
		return false
	}
	_, err := chatpath.Decode(strings.TrimSuffix(folder, "/memory"))
	return err == nil || strings.HasSuffix(folder, "~")
}

func memoryName(rel string) (string, bool) {
	if rel == "memory/project.md" {
		return "project", true
	}
	if user, ok := strings.CutPrefix(rel, "memory/users/"); ok {
		return "user:" + strings.TrimSuffix(user, ".md"), strings.HasSuffix(user, ".md")
	}
	folder, ok := strings.CutPrefix(rel, "chat/")
	folder, primary := strings.CutSuffix(folder, "/memory/Primary.md")
	if !ok || !primary {
		return "", false
	}
	key, err := chatpath.Decode(folder)
	return string(key), err == nil
}
