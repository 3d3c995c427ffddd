package chatfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// No two chats share a folder of results, and pointers are short.
func TestPI6FolderOf(t *testing.T) {
	long := strings.Repeat("a", messages.MaxChatKey)
	keys := []messages.ChatKey{
		"web-chat-a", "web-chat-A", "web-chat-a/b", "web-chat-a%2fb", "web-chat-+a", "..", "a/../b", "b", "~", "telegram-chat--100", "telegram-chat--100-topic-1", "字", "é", "e\u0301",
		messages.ChatKey(long), messages.ChatKey(long[1:]), messages.ChatKey(strings.ToUpper(long)), messages.ChatKey(strings.Repeat("字", 300)),
	}
	seen := map[string]messages.ChatKey{}
	for _, key := range keys {
		folder, err := FolderOf(key)
		if err != nil {
			t.Errorf("%.40q: %v", key, err)
			continue
		}
		if other, ok := seen[strings.ToLower(folder)]; ok {
			t.Errorf("%.40q and %.40q share %s", key, other, folder)
		}
		seen[strings.ToLower(folder)] = key
		if len(folder) > 200 || strings.Count(folder, "/") != 1 || !filepath.IsLocal(folder) || strings.Contains(folder, "..") && key != "a/../b" && key != ".." {
			t.Errorf("%.40q: folder %q", key, folder)
		}
	}
	if folder, err := FolderOf(""); err == nil {
		t.Errorf("no chat has the folder %q", folder)
	}
}

// A chat reads only its own whole results, whatever pointer it is given.
func TestPI6WholeResultsAreTheChats(t *testing.T) {
	const maxResult = 1 << 20
	stored := t.TempDir()
	mine, theirs := "telegram-chat-1", "telegram-chat-2"
	keep := func(key, name string, size int) string {
		t.Helper()
		pointer, err := At(stored).Keep(messages.ChatKey(key))(t.Context(), name, []byte(strings.Repeat("x", size)))
		stdtest.Must(t, err)
		return pointer
	}
	own, other, long := keep(mine, "a", 10), keep(theirs, "b", 10), keep(mine, "c", maxResult+1)
	dir := filepath.Join(stored, filepath.Dir(own))
	stdtest.Must(t, os.Symlink(filepath.Join(stored, other), filepath.Join(dir, "link.txt")))
	stdtest.Must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	folder := filepath.ToSlash(filepath.Dir(own))
	for _, tt := range []struct {
		name, pointer string
		size          int64
		ok            bool
	}{
		{"its own", own, 10, true},
		{"one that is too long", long, maxResult + 1, true},
		{"of another chat", other, 0, false},
		{"a way to another chat", folder + "/../telegram-chat-2/b.txt", 0, false},
		{"a link", folder + "/link.txt", 0, false},
		{"a folder", folder + "/folder", 0, false},
		{"nothing", folder + "/", 0, false},
		{"a file elsewhere", "/etc/passwd", 0, false},
		{"one that is gone", folder + "/gone.txt", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, size, err := At(stored).Whole(messages.ChatKey(mine), tt.pointer, maxResult)
			if (err == nil) != tt.ok || size != tt.size || text != "" && int64(len(text)) != size {
				t.Errorf("%d bytes of %d, error %v; want %d, %v", len(text), size, err, tt.size, tt.ok)
			}
		})
	}
}
