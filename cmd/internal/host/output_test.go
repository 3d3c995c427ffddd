package host

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A person who asks for a whole output gets a file on Telegram, without JSON and secrets, and the model is not asked.
func TestOutputOnTelegram(t *testing.T) {
	p := newProject(t)
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "Line %03d of the file.\n", i)
	}
	stdtest.Write(t, filepath.Join(p.dir, "notes.txt"), text.String()+p.api.Token()+"\n")
	script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "read_file", Input: `{"path":"notes.txt"}`}), modeltest.Say("read"))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	p.start(t, Options{Model: script}, flags)
	p.api.Say(1, 1, "read it", nil)
	p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(1, 1, "/output", map[string]any{"entities": []any{telegramtest.Entity("bot_command", 0, 7)}})
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
