package host

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// No two chats share a folder of results, and no pointer is long.
func TestPI6ResultsOf(t *testing.T) {
	long := strings.Repeat("a", messages.MaxChatKey)
	keys := []messages.ChatKey{
		"web-chat-a", "web-chat-A", "web-chat-a/b", "web-chat-a%2fb", "web-chat-+a", "..", "a/../b", "b", "~", "telegram-chat--100", "telegram-chat--100-topic-1", "字", "é", "e\u0301",
		messages.ChatKey(long), messages.ChatKey(long[1:]), messages.ChatKey(strings.ToUpper(long)), messages.ChatKey(strings.Repeat("字", 300)),
	}
	seen := map[string]messages.ChatKey{}
	for _, key := range keys {
		folder, err := resultsOf(key)
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
	if folder, err := resultsOf(""); err == nil {
		t.Errorf("no chat has the folder %q", folder)
	}
}

// A result that is too large is read by the chat that has it, through the pointer
// that its model was given, and by no other chat.
func TestPI6WholeResultsStayWithTheirChat(t *testing.T) {
	dir := t.TempDir()
	h := &Host{opts: Options{Dir: dir, State: filepath.Join(dir, ".ship"), Settings: &config.Loaded{}}}
	stored := filepath.Join(h.opts.State, "files")
	set, err := newToolSet(h.fileTools(stored)...)
	if err != nil {
		t.Fatal(err)
	}
	box := &toolbox{set: set, files: stored, log: slog.New(slog.DiscardHandler)}
	call := tool.Call{ID: "call-1", Name: "x", Run: tool.Run{ChatKey: "web-chat-a", RunID: "run-1"}}
	output, err := json.Marshal(strings.Repeat("the canary ", 10_000))
	if err != nil {
		t.Fatal(err)
	}
	var short struct{ Whole string }
	if err := json.Unmarshal(box.Cap(t.Context(), call, output), &short); err != nil || short.Whole != "results/web-chat-a/run-1-call-1.txt" {
		t.Fatalf("pointer %q, %v", short.Whole, err)
	}
	if info, err := os.Stat(filepath.Join(stored, filepath.FromSlash(short.Whole))); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("stored as %v, %v", info, err)
	}
	read, _ := set.Lookup(files.ReadName)
	for _, tt := range []struct {
		chat messages.ChatKey
		path string
		want bool
	}{
		{"web-chat-a", short.Whole, true}, {"web-chat-b", short.Whole, false}, {"", short.Whole, false}, {"web-chat", short.Whole, false},
		{"web-chat-b", "results/web-chat-b/../web-chat-a/run-1-call-1.txt", false}, {"web-chat-b", ".ship/files/" + short.Whole, false},
		{"web-chat-a", ".ship/files/" + short.Whole, false}, {"web-chat-b", filepath.Join(stored, short.Whole), false},
	} {
		input, err := json.Marshal(map[string]string{"path": tt.path})
		if err != nil {
			t.Fatal(err)
		}
		r, err := read.Invoke(t.Context(), tool.Call{Input: input, Run: tool.Run{ChatKey: tt.chat}})
		if got := err == nil && strings.Contains(string(r.Output), "the canary"); got != tt.want {
			t.Errorf("%s reads %s: %v (%v), want %v", tt.chat, tt.path, got, err, tt.want)
		}
	}
}
