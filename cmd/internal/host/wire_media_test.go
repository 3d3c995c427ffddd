package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A document goes all the way: fetched before the model sees its turn, read by the
// tool, sent back; nothing stored holds the token.
func TestIO12DocumentOnTelegram(t *testing.T) {
	p := newProject(t)
	doc := p.api.AddFile("doc-1", []byte("the words of the document"))
	doc["file_name"] = "../../notes.txt"
	model := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"got it","final":true}`}))
	p.start(t, Options{Model: model}, telegramFlags(p))
	p.api.Say(1, 1, "", map[string]any{"text": nil, "caption": "read this", "document": doc})
	p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) == 1 })
	kept := stdtest.Names(t, filepath.Join(p.dir, ".ship", "files"))
	if len(kept) != 1 {
		t.Fatalf("kept %q", kept)
	}
	content, err := os.ReadFile(filepath.Join(p.dir, ".ship", "files", kept[0]))
	if err != nil || string(content) != "the words of the document" {
		t.Errorf("%q, %v", content, err)
	}
	seen := fmt.Sprintf("%+v", model.Requests()[0].Messages)
	for _, want := range []string{"read this", "[document notes.txt]", kept[0]} {
		if !strings.Contains(seen, want) {
			t.Errorf("the model does not see %q in %s", want, seen)
		}
	}
	for _, name := range stdtest.Names(t, p.dir) {
		raw, err := os.ReadFile(filepath.Join(p.dir, name))
		if err == nil && bytes.Contains(raw, []byte("CANARY")) {
			t.Errorf("%s holds the token", name)
		}
	}
	if strings.Contains(p.log.String(), "CANARY") {
		t.Error("the log holds the token")
	}
}
