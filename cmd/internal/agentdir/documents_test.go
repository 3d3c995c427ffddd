package agentdir

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func newTestDocuments(t *testing.T) *Documents {
	t.Helper()
	dir := t.TempDir()
	return NewDocuments(dir, filepath.Join(dir, ".ship"), slog.New(slog.DiscardHandler))
}

func TestDocumentsOfAChat(t *testing.T) {
	d := newTestDocuments(t)
	if err := d.Load(); !errors.Is(err, ErrNoAgent) {
		t.Fatalf("load without Agent.md = %v, want %v", err, ErrNoAgent)
	}
	stdtest.Write(t, filepath.Join(d.dir, "Agent.md"), "\ufeff# Ada\xff\n\n")
	stdtest.Write(t, filepath.Join(d.state, "profile", "Primary.md"), "primary")
	stdtest.Write(t, filepath.Join(d.state, "profile", "other.md"), "other")
	stdtest.Write(t, filepath.Join(d.state, "memory", "project.md"), "project")
	stdtest.Write(t, filepath.Join(d.state, "memory", "users", "telegram-42.md"), "likes tea")
	stdtest.Write(t, filepath.Join(d.state, "chat", "web-chat-1", "memory", "Primary.md"), "of the chat")
	stdtest.Must(t, d.Load())
	got := d.Of("web-chat-1")
	want := decision.Documents{Primary: "primary", Other: "other", ChatMemory: "of the chat", ProjectMemory: "project", Agent: "# Ada\ufffd"}
	stdtest.Diff(t, "documents", want, got, cmpopts.IgnoreFields(decision.Documents{}, "Revision", "UserMemory"))
	for user, want := range map[string]string{"telegram-42": "likes tea", "telegram-43": "", "../project": "", "a/b": "", "..": ""} {
		if got := got.UserMemory(user); got != want {
			t.Errorf("UserMemory(%q) = %q, want %q", user, got, want)
		}
	}
}

func TestDocumentsChangeAsAWhole(t *testing.T) {
	d := newTestDocuments(t)
	now := time.Now()
	d.now = func() time.Time { return now }
	agent := filepath.Join(d.dir, "Agent.md")
	stdtest.Write(t, agent, "first")
	stdtest.Must(t, d.Load())
	before := d.Of("web-chat-1")
	stdtest.Write(t, agent, "the second")
	if got := d.Of("web-chat-1"); got.Agent != "first" {
		t.Errorf("Agent.md changed at once to %q, want it looked at now and then", got.Agent)
	}
	now = now.Add(lookAgain + 1)
	after := d.Of("web-chat-1")
	if after.Agent != "the second" || after.Revision == before.Revision {
		t.Errorf("after a change: %q of revision %q (was %q)", after.Agent, after.Revision, before.Revision)
	}
	stdtest.Must(t, os.Remove(agent))
	now = now.Add(lookAgain + 1)
	if got := d.Of("web-chat-1"); got.Agent != "the second" {
		t.Errorf("without its file Agent.md is %q, want the last one", got.Agent)
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	d := newTestDocuments(t)
	stdtest.Write(t, filepath.Join(d.dir, "Agent.md"), strings.Repeat("长", maxDocument))
	stdtest.Must(t, d.Load())
	if got := len(d.Of("web-chat-1").Agent); got > maxDocument {
		t.Errorf("%d bytes, at most %d wanted", got, maxDocument)
	}
	if !d.Chinese() {
		t.Error("a Chinese Agent.md is not seen as one")
	}
}

// A document in another encoding is used as far as it can be read, with one warning.
func TestDocumentsInOtherEncodings(t *testing.T) {
	d := newTestDocuments(t)
	for name, text := range map[string]string{"GB 18030": "\xc4\xe3\xca\xc7\xd6\xfa\xca\xd6", "UTF-16": "\xff\xfe#\x00 \x00A\x00", "": "\ufeff# 助手\r\n"} {
		var log bytes.Buffer
		d.log = slog.New(slog.NewTextHandler(&log, nil))
		stdtest.Write(t, filepath.Join(d.dir, "Agent.md"), text)
		for range 2 {
			stdtest.Must(t, d.Load())
		}
		if n := bytes.Count(log.Bytes(), []byte("not UTF-8")); n != min(len(name), 1) {
			t.Errorf("%s: %s", name, &log)
		}
	}
}

// Looks that find the same fault warn once, until it is mended.
func TestDocumentsWarnOnce(t *testing.T) {
	var log bytes.Buffer
	d := newTestDocuments(t)
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	agent := filepath.Join(d.dir, "Agent.md")
	stdtest.Write(t, agent, "# Ada")
	stdtest.Must(t, d.Load())
	for want := range 2 {
		stdtest.Must(t, os.Remove(agent))
		for range 3 {
			d.Reload()
		}
		if n := bytes.Count(log.Bytes(), []byte("level=WARN")); n != want+1 {
			t.Errorf("%d warnings, want %d: %s", n, want+1, &log)
		}
		stdtest.Write(t, agent, "# Ada again")
		d.Reload()
	}
}
