package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell/shelltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// patience is how long a test waits for something to happen.
const patience = 60 * time.Second

// soak returns the full count if SOAK is set, otherwise the short one.
func soak(full, short int) int {
	if os.Getenv("SOAK") != "" {
		return full
	}
	return short
}

type world struct {
	t       *testing.T
	dir     string
	kept    string // where whole outputs go
	open    *shelltest.Open
	shell   *shell.Shell
	tools   map[string]tool.Tool
	set     *tool.Set
	notices chan shell.Ended

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T, change ...func(*shell.Options)) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	stdtest.Must(t, err)
	w := &world{
		t: t, dir: dir, kept: t.TempDir(), open: &shelltest.Open{}, tools: map[string]tool.Tool{}, notices: make(chan shell.Ended, 128),
		now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
	}
	o := shell.Options{
		Sandbox: w.open, Workspace: dir, Temp: t.TempDir(),
		Hidden: []string{filepath.Join(dir, "ship.json")}, ReadOnly: []string{filepath.Join(dir, "Agent.md")},
		State: filepath.Join(dir, ".ship"), Skills: filepath.Join(dir, ".ship/skills"),
		Keep: func(_ messages.ChatKey, name string) (io.WriteCloser, string, error) {
			f, err := os.Create(filepath.Join(w.kept, name))
			return f, "results/" + name, err
		},
		Notify: func(_ context.Context, e shell.Ended) { w.notices <- e },
		Now:    w.clock,
	}
	for _, c := range change {
		c(&o)
	}
	if w.shell, err = shell.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := w.shell.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	tools := w.shell.Tools()
	for _, it := range tools {
		w.tools[it.Spec().Name] = it
	}
	if w.set, err = tool.NewSet(tools...); err != nil {
		t.Fatal(err)
	}
	stdtest.Must(t, w.set.Check())
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) write(name, text string, mode os.FileMode) string {
	w.t.Helper()
	return writeFile(w.t, filepath.Join(w.dir, name), text, mode)
}

func writeFile(tb testing.TB, path, text string, mode os.FileMode) string {
	tb.Helper()
	stdtest.Must(tb, os.MkdirAll(filepath.Dir(path), 0o755))
	stdtest.Must(tb, os.WriteFile(path, []byte(text), mode))
	return path
}

// call is a call in the chat web-chat-a.
func call(name string, input any) tool.Call {
	return callIn("web-chat-a", name, input)
}

func callIn(chat messages.ChatKey, name string, input any) tool.Call {
	doc, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return tool.Call{ID: "c1", Name: name, Input: doc, Run: tool.Run{ChatKey: chat, RunID: "r1", RequestID: "q1"}}
}

type obj = map[string]any

func (w *world) invoke(c tool.Call) (tool.Result, error) {
	w.t.Helper()
	if err := w.set.Validate(c.Name, c.Input); err != nil {
		return tool.Result{}, err
	}
	return w.tools[c.Name].Invoke(w.t.Context(), c)
}

// answer returns the output of a call that must succeed.
func (w *world) answer(c tool.Call) obj {
	w.t.Helper()
	r, err := w.invoke(c)
	if err != nil {
		w.t.Fatalf("%s %s: %v", c.Name, c.Input, err)
	}
	var out obj
	if err := json.Unmarshal(r.Output, &out); err != nil {
		w.t.Fatalf("%s answers %s: %v", c.Name, r.Output, err)
	}
	return out
}

// run runs a command and returns its output, which must be complete.
func (w *world) run(text string) (output string, exitCode int) {
	w.t.Helper()
	out := w.answer(call(shell.ExecName, obj{"command": text, "why": "a test"}))
	text, ok := out["output"].(string)
	if !ok {
		w.t.Fatalf("output = %v, want a text", out["output"])
	}
	code, ok := out["exitCode"].(float64)
	if !ok {
		w.t.Fatalf("exit code = %v, want a number", out["exitCode"])
	}
	return text, int(code)
}

func (w *world) explain(c tool.Call) tool.Explanation {
	w.t.Helper()
	it, ok := w.tools[c.Name].(tool.Explainer)
	if !ok {
		w.t.Fatalf("%s explains nothing", c.Name)
	}
	e, err := it.Explain(c)
	if err != nil {
		w.t.Fatalf("explain %s: %v", c.Input, err)
	}
	return e
}

// broken is a sandbox that cannot be used.
func broken() *shelltest.Open {
	return &shelltest.Open{Err: fmt.Errorf("%w: this kernel has none", sandbox.ErrUnavailable)}
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

// short is an output that was cut; empty: it was not.
func short(out obj) obj {
	doc, _ := out["output"].(obj)
	return doc
}

// words returns a member that is a text, or an empty string.
func words(doc obj, name string) string {
	text, _ := doc[name].(string)
	return text
}

// processes are the processes in the answer of shell_status.
func (w *world) processes() []obj {
	w.t.Helper()
	list, _ := w.answer(call(shell.StatusName, obj{}))["processes"].([]any)
	out := make([]obj, len(list))
	for i, p := range list {
		out[i], _ = p.(obj)
	}
	return out
}

// stream is the tool exec_shell with what it shows.
func (w *world) stream() tool.Streamer {
	w.t.Helper()
	it, ok := w.tools[shell.ExecName].(tool.Streamer)
	if !ok {
		w.t.Fatal("exec_shell shows nothing")
	}
	return it
}
