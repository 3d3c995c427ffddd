package host

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/cmd/internal/toolset"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A command that tries all the time to write Agent.md has ended before an agreed change of it is in place, which removes
// what keeps the file from the command.
func TestAgreedChangesStayAsAgreed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	stdtest.Must(t, err)
	box := sandboxes.New("auto")
	if _, _, err := box.Check(t.Context()); err != nil {
		t.Skip(err)
	}
	h := &Host{opts: Options{Dir: dir, State: filepath.Join(dir, ".ship"), Settings: &config.Loaded{}}}
	set, err := toolset.New(h.fileTools(h.workspace(box))...)
	stdtest.Must(t, err)
	write, _ := set.Find(files.WriteName)
	agent := filepath.Join(dir, "Agent.md")
	stdtest.Must(t, errors.Join(os.Mkdir(h.opts.State, 0o700), os.WriteFile(agent, []byte("I am Ada.\n"), 0o600)))
	for range 10 {
		out, in, err := os.Pipe()
		stdtest.Must(t, err)
		p, err := box.Start(t.Context(), sandbox.Spec{
			Argv: []string{"/bin/sh", "-c", "echo begun; while :; do echo evil >Agent.md; done 2>/dev/null"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"},
			Writable: []string{dir}, Readable: []string{agent}, Hidden: []string{h.opts.State}, Stdout: in,
			Limits: sandbox.Limits{Wall: 20 * time.Second},
		})
		stdtest.Must(t, err)
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(agent)
		stdtest.Must(t, err)
		want := string(before) + "I help.\n"
		input, err := json.Marshal(map[string]string{"path": "Agent.md", "content": want})
		stdtest.Must(t, err)
		call := tool.Call{ID: "call-1", Name: files.WriteName, Input: input}
		explainer, _ := write.(tool.Explainer)
		asked, err := explainer.Explain(call)
		stdtest.Must(t, err)
		call.Bind = asked.Bind
		_, failed := write.Invoke(t.Context(), call)
		_, ended := p.Wait()
		if got, err := os.ReadFile(agent); err != nil || string(got) != want || failed != nil || !errors.Is(ended, sandbox.ErrReplaced) {
			t.Fatalf("Agent.md is %q, %v; the call: %v; the command: %v", got, err, failed, ended)
		}
		_, _ = out.Close(), in.Close() // nothing more is read
	}
}

// Only the chat that has a large result can read it, through the pointer that its model was given.
func TestPI6WholeResultsStayWithTheirChat(t *testing.T) {
	dir := t.TempDir()
	h := &Host{opts: Options{Dir: dir, State: filepath.Join(dir, ".ship"), Settings: &config.Loaded{}}}
	set, err := toolset.New(h.fileTools(h.workspace(sandboxes.New("off")))...)
	stdtest.Must(t, err)
	box := &toolbox{Set: set, files: h.chatFiles(), log: slog.New(slog.DiscardHandler)}
	call := tool.Call{ID: "call-1", Name: "x", Run: tool.Run{ChatKey: "web-chat-a", RunID: "run-1"}}
	output, err := json.Marshal(strings.Repeat("the canary ", 10_000))
	stdtest.Must(t, err)
	var short struct{ Whole string }
	if err := json.Unmarshal(box.Cap(t.Context(), call, output), &short); err != nil || short.Whole != "results/web-chat-a/run-1-call-1.txt" {
		t.Fatalf("pointer %q, %v", short.Whole, err)
	}
	if info, err := os.Stat(filepath.Join(h.chatFiles().Root, filepath.FromSlash(short.Whole))); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("stored as %v, %v", info, err)
	}
	read, _ := set.Find(files.ReadName)
	for _, tt := range []struct {
		chat messages.ChatKey
		path string
		want bool
	}{
		{"web-chat-a", short.Whole, true},
		{"web-chat-b", short.Whole, false},
		{"", short.Whole, false},
		{"web-chat", short.Whole, false},
		{"web-chat-b", "results/web-chat-b/../web-chat-a/run-1-call-1.txt", false},
		{"web-chat-b", ".ship/files/" + short.Whole, false},
		{"web-chat-a", ".ship/files/" + short.Whole, false},
		{"web-chat-b", filepath.Join(h.chatFiles().Root, short.Whole), false},
	} {
		input, err := json.Marshal(map[string]string{"path": tt.path})
		stdtest.Must(t, err)
		r, err := read.Invoke(t.Context(), tool.Call{Input: input, Run: tool.Run{ChatKey: tt.chat}})
		if got := err == nil && strings.Contains(string(r.Output), "the canary"); got != tt.want {
			t.Errorf("%s reads %s: %v (%v), want %v", tt.chat, tt.path, got, err, tt.want)
		}
	}
}

// TestAP13FileWritesInAHost: a model makes real calls, a platform asks about them and delivers the
// answers, and files are written only as they were shown.
func TestAP13FileWritesInAHost(t *testing.T) {
	p := newProject(t)
	at := filepath.Join(p.dir, "plan.md")
	stdtest.Write(t, at, "one\ntwo\n")
	edit := func(id, word string) modeltest.Step {
		return modeltest.CallTools(modeltest.Call{ID: id, Name: files.EditName, Input: `{"path":"plan.md","old":"two","new":"` + word + `"}`})
	}
	script := modeltest.NewScript(
		edit("c1", "second"), modeltest.Say("written"), edit("c2", "third"), modeltest.Say("not written"),
		modeltest.CallTools(modeltest.Call{ID: "c3", Name: files.WriteName, Input: `{"path":".env","content":"KEY=1"}`}), modeltest.Say("refused"),
	)
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"], flags["permissions.exec.approvers"] = "direct", "initiator"
	p.start(t, Options{Model: script}, flags)
	holds := func() string {
		text := stdtest.Read(t, at)
		return string(text)
	}
	heard := func(words string) {
		p.api.Await(t, words, func() bool { return strings.Contains(lastSent(p), words) })
	}
	p.api.Say(1, 1, "change the plan", nil)
	heard("+second")
	if asked := lastSent(p); holds() != "one\ntwo\n" || !strings.Contains(asked, "plan.md") || !strings.Contains(asked, "-two") {
		t.Errorf("asked with %q; the file holds %q", asked, holds())
	}
	p.api.Say(1, 1, "yes", nil)
	heard("written")
	if got := holds(); got != "one\nsecond\n" {
		t.Errorf("agreed to, and the file holds %q", got)
	}
	stdtest.Write(t, at, "one\ntwo\n")
	p.api.Say(1, 1, "and again", nil)
	heard("+third")
	stdtest.Write(t, at, "zero\none\ntwo\n") // what was shown is not what would happen now
	p.api.Say(1, 1, "yes", nil)
	heard("not written")
	if got := holds(); got != "zero\none\ntwo\n" {
		t.Errorf("the file changed meanwhile and holds %q", got)
	}
	p.api.Say(1, 1, "set the key", nil)
	heard("refused")
	if _, err := os.Stat(filepath.Join(p.dir, ".env")); err == nil || script.Left() != 0 {
		t.Errorf(".env is there, or %d steps are left", script.Left())
	}
}
