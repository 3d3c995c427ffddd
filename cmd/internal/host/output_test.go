package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Somebody who asks for the whole of what a tool said gets a file on Telegram, with
// no JSON and no secret in it, and the model is not asked.
func TestOutputOnTelegram(t *testing.T) {
	p := newProject(t)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "Line %03d of the file.\n", i)
	}
	write(t, filepath.Join(p.dir, "notes.txt"), text.String()+p.api.Token()+"\n")
	script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "read_file", Input: `{"path":"notes.txt"}`}), modeltest.Say("read"))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	p.start(t, Options{Model: script}, flags)
	p.api.Say(1, 1, "read it", nil)
	p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(1, 1, "/output", map[string]any{"entities": []any{platformtest.Entity("bot_command", 0, 7)}})
	sent := p.api.AwaitCalls(t, "sendDocument", 1)[0].Params
	if name := sent.Text("file_name"); name != "output-1.txt" {
		t.Errorf("the file is called %q", name)
	}
	content := sent.Text("document")
	for i := range 200 {
		if want := fmt.Sprintf("\tLine %03d of the file.\n", i); strings.Count(content, want) != 1 {
			t.Fatalf("%q is %d times in %q", want, strings.Count(content, want), content)
		}
	}
	if strings.Contains(content, p.api.Token()) || strings.Contains(content, `{"`) {
		t.Errorf("the file has a secret or JSON: %q", content)
	}
	if n := len(script.Requests()); n != 2 {
		t.Errorf("the model was asked %d times, want twice", n)
	}
}

// A chat reads whole results of its own, and of nobody else, whatever it is pointed to.
func TestPI6WholeResultsAreTheChats(t *testing.T) {
	stored := t.TempDir()
	mine, theirs := "telegram-chat-1", "telegram-chat-2"
	keep := func(key, name string, size int) string {
		t.Helper()
		pointer, err := keepIn(stored, messages.ChatKey(key))(t.Context(), name, []byte(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		return pointer
	}
	own, other, long := keep(mine, "a", 10), keep(theirs, "b", 10), keep(mine, "c", notices.MaxOutput+1)
	dir := filepath.Join(stored, filepath.Dir(own))
	if err := os.Symlink(filepath.Join(stored, other), filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder := filepath.ToSlash(filepath.Dir(own))
	for _, tt := range []struct {
		name, pointer string
		size          int64
		ok            bool
	}{
		{"its own", own, 10, true},
		{"one that is too long", long, notices.MaxOutput + 1, true},
		{"of another chat", other, 0, false},
		{"a way to another chat", folder + "/../telegram-chat-2/b.txt", 0, false},
		{"a link", folder + "/link.txt", 0, false},
		{"a folder", folder + "/folder", 0, false},
		{"nothing", folder + "/", 0, false},
		{"a file elsewhere", "/etc/passwd", 0, false},
		{"one that is gone", folder + "/gone.txt", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, size, err := wholeOf(stored)(messages.ChatKey(mine), tt.pointer)
			if (err == nil) != tt.ok || size != tt.size || text != "" && int64(len(text)) != size {
				t.Errorf("%d bytes of %d, error %v; want %d, %v", len(text), size, err, tt.size, tt.ok)
			}
		})
	}
}
