package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestCallsAndResults(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("s", plain("echo", "fail", "refuse", "ask", "raw", "progress")))
	w.up("s")
	tests := []struct {
		name, tool, input, want, fault string
	}{
		{"text", "s:echo", `{"b":1,"a":"x"}`, `"echo {\"a\":\"x\",\"b\":1}"`, ""},
		{"no input", "s:echo", ``, `"echo {}"`, ""},
		{"a failure of the tool", "s:fail", `{"why":"tired"}`, "", "s:fail failed: no: tired"},
		{"a failure of the call", "s:refuse", `{}`, "", "the server refused the call: bad arguments"},
		{"a request of the server is refused", "s:ask", `{}`, `"asked"`, ""},
		{"structured", "s:raw", `{"result":{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}}`, `{"n":1}`, ""},
		{"structured, with words of its own", "s:raw", `{"result":{"content":[{"type":"text","text":"42 lines"}],"structuredContent":{"n":1}}}`, `{"text":"42 lines","structured":{"n":1}}`, ""},
		{"structured, with the words in a member", "s:raw", `{"result":{"content":[{"type":"text","text":"42 lines"}],"structuredContent":{"result":"42 lines"}}}`, `{"result":"42 lines"}`, ""},
		{"a link", "s:raw", `{"result":{"content":[{"type":"resource_link","uri":"file:///x","name":"x"}]}}`, `{"links":[{"uri":"file:///x","name":"x"}]}`, ""},
		{
			"a resource's text", "s:raw", `{"result":{"content":[{"type":"resource","resource":{"uri":"a:b","text":"inside","mimeType":"text/plain"}}]}}`,
			`{"text":"inside","links":[{"uri":"a:b","description":"its text is in this result","mediaType":"text/plain"}]}`, "",
		},
		{"nothing", "s:raw", `{"result":{"content":[]}}`, `""`, ""},
		{"content that is none", "s:raw", `{"result":{"content":[{"type":"smell"}]}}`, "", "outcome unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := w.call(tt.tool, tt.input)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("error = %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("result = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

// Of a member that an input has twice, some servers read the first value and some the last, and people see one.
func TestServersGetWhatPeopleSaw(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("s", plain("line")))
	w.up("s")
	const input = `{"path":"/etc", "mode":{"deep":true,"deep":false}, "path":"docs"}`
	x, ok := w.tool("s:line").(tool.Explainer)
	if !ok {
		t.Fatal("the tool says nothing to people")
	}
	e, err := x.Explain(tool.Call{Input: json.RawMessage(input)})
	if err != nil || strings.Contains(e.Exact, "/etc") {
		t.Fatalf("people see %q, %v", e.Exact, err)
	}
	got, err := w.call("s:line", input)
	if err != nil || strings.Contains(got, "/etc") || strings.Contains(got, "true") || !strings.Contains(got, `\"docs\"`) {
		t.Errorf("people see %q, the server gets %s, %v", e.Exact, got, err)
	}
}

func TestFilesOfResults(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("s", plain("raw")))
	w.up("s")
	got, err := w.call("s:raw", `{"result":{"content":[{"type":"text","text":"see"},
		{"type":"image","data":"aGVsbG8=","mimeType":"image/png; name=../../x"},
		{"type":"audio","data":"aGVsbG8=","mimeType":"../../etc"},
		{"type":"resource","resource":{"uri":"file:///../x.sh","blob":"aGVsbG8=","mimeType":"text/x-sh"}}]}}`)
	stdtest.Must(t, err)
	var out content
	stdtest.Must(t, json.Unmarshal([]byte(got), &out))
	if out.Text != "see" || len(out.Files) != 3 {
		t.Fatalf("result = %s, want a text and three files", got)
	}
	for i, ending := range []string{".png", ".bin", ".bin"} {
		f := out.Files[i]
		if !strings.HasPrefix(f.Path, "results/chat/mcp-") || !strings.HasSuffix(f.Path, ending) || strings.Count(f.Path, "/") != 2 || strings.Contains(f.Path, "..") {
			t.Errorf("path %q is not one of ours ending in %s", f.Path, ending)
		}
		data, err := os.ReadFile(filepath.Join(w.o.Files.Root, f.Path))
		if err != nil || string(data) != "hello" {
			t.Errorf("file %s holds %q, %v", f.Path, data, err)
		}
	}
}

func TestProgressIsPreliminary(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("s", plain("progress")))
	w.up("s")
	shown := make(chan string, 10)
	s, ok := w.tool("s:progress").(tool.Streamer)
	if !ok {
		t.Fatal("the tool shows nothing while it works")
	}
	result, err := s.InvokeStream(t.Context(), tool.Call{Input: json.RawMessage(`{}`)}, func(out json.RawMessage) {
		shown <- string(out)
		script{dir: filepath.Join(w.dir, "script-s")}.mark("shown")
	})
	if err != nil || string(result.Output) != `"whole"` {
		t.Fatalf("result = %s, %v", result.Output, err)
	}
	select {
	case got := <-shown:
		if got != `{"progress":1,"total":2,"message":"half"}` {
			t.Errorf("shown = %s", got)
		}
	default:
		t.Error("nothing was shown")
	}
}

func TestDeadlineAndCancelReachTheServer(t *testing.T) {
	w := newWorld(t, nil)
	short := w.server("short", plain("slow", "echo"))
	short.Timeout = 50 * time.Millisecond
	w.apply(short, w.server("long", plain("slow", "echo")))
	w.up("short", "long")
	if _, err := w.call("short:slow", `{}`); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("error = %v, want the deadline", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	slow := w.tool("long:slow")
	go func() {
		_, err := slow.Invoke(ctx, tool.Call{Input: json.RawMessage(`{}`)})
		failed <- err
	}()
	w.until("the call to begin", func() bool { return w.marks("long", "called-slow") == 1 })
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want it cancelled", err)
	}
	for _, name := range []string{"short", "long"} {
		w.until(name+" to hear of it", func() bool { return w.marks(name, "cancelled") == 1 })
		if got, err := w.call(name+":echo", `{}`); name == "long" && (err != nil || got != `"echo {}"`) {
			t.Errorf("afterwards: %s, %v", got, err)
		}
	}
}

func TestCrashIsInterruptedAndTheServerComesBack(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("s", plain("crash", "echo")))
	w.up("s")
	_, err := w.call("s:crash", `{}`)
	if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "code 3") {
		t.Errorf("error = %v, want %v and how the server ended", err, ErrInterrupted)
	}
	if got, err := w.call("s:echo", `{}`); err != nil || got != `"echo {}"` {
		t.Errorf("the next call: %s, %v", got, err)
	}
	if n := w.marks("s", "called-crash"); n != 1 {
		t.Errorf("the server was asked %d times, want once", n)
	}
}

func TestBudget(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Limits.Starts = 3 })
	s := w.server("s", plain("crash", "echo"))
	w.apply(s)
	w.up("s")
	broken := s
	broken.Command = "/bin/false"
	w.apply(broken)
	w.until("the budget to be spent", func() bool { return w.status("s").Condition == ConditionOff })
	if got := w.status("s").Reason; !strings.Contains(got, "3 times") || !strings.Contains(got, "code 1") {
		t.Errorf("reason = %q, want how often and why", got)
	}
	status, err := w.m.Test(t.Context(), "s")
	if err != nil || status.Condition == ConditionUp {
		t.Errorf("Test = %+v, %v", status, err)
	}
	w.apply(s)
	w.up("s")
}

func TestToolsAreOfferedWhileTheServerIsDown(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Limits.Patience, o.Limits.Lately = 50*time.Millisecond, time.Nanosecond
		o.Limits.MaxPause = time.Hour
		o.Limits.Pause = time.Hour
	})
	s := w.server("s", plain("echo"))
	w.apply(s)
	w.up("s")
	w.close(w.m)
	w.box.fail(errors.New("no processes left"))
	w.open()
	w.apply(s)
	stdtest.Diff(t, "offered", []string{"s:echo"}, w.offered())
	w.until("it to fail", func() bool { return w.status("s").Condition == ConditionDown })
	if _, err := w.call("s:echo", `{}`); !errors.Is(err, ErrDown) || !strings.Contains(err.Error(), "no processes left") {
		t.Errorf("error = %v, want %v with the reason", err, ErrDown)
	}
	w.box.fail(nil)
	w.until("a call to bring it back", func() bool { got, err := w.call("s:echo", `{}`); return err == nil && got == `"echo {}"` })
}

func TestAMuteServerDelaysNobody(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Limits.Start = time.Hour })
	mute := w.server("mute", plain("echo"))
	stdtest.Must(t, os.WriteFile(filepath.Join(w.dir, "script-mute", "mute"), nil, 0o600))
	w.apply(mute, w.server("s", plain("echo")))
	w.up("s")
	if got, err := w.call("s:echo", `{}`); err != nil || got != `"echo {}"` {
		t.Errorf("the other server: %s, %v", got, err)
	}
	if got := w.status("mute").Condition; got != ConditionStarting {
		t.Errorf("the mute server is %s", got)
	}
}

func TestWithoutASandboxNothingRuns(t *testing.T) {
	w := newWorld(t, nil)
	w.box.fail(sandbox.ErrUnavailable)
	w.apply(w.server("s", plain("echo")))
	w.until("it to be off", func() bool { return w.status("s").Condition == ConditionOff })
	if got := w.status("s").Reason; !strings.Contains(got, sandbox.ErrUnavailable.Error()) {
		t.Errorf("reason = %q", got)
	}
}

// TestSU2Program shows what a program is given, and that what it gives is bounded.
func TestSU2Program(t *testing.T) {
	t.Setenv("CANARY", "canary-in-the-environment")
	w := newWorld(t, func(o *Options) {
		o.Limits.Message = 64 << 10
		o.Hidden = []string{filepath.Dir(o.State), "/project/.env"}
	})
	s := w.server("s", plain("env", "big", "say", "echo", "garbage"))
	s.Env = append(s.Env, "TOKEN=topsecret-token")
	s.Hidden, s.Write, s.Network = []string{"topsecret-token"}, []string{"/project/data"}, false
	w.apply(s)
	w.up("s")
	spec := w.box.last()
	home := filepath.Join(w.o.State, "home", "s")
	wantEnv := []string{"PATH=" + w.o.Path, "HOME=" + home, s.Env[0], "TOKEN=topsecret-token"}
	stdtest.Diff(t, "environment", wantEnv, spec.Env)
	stdtest.Diff(t, "writable, and its own", [][]string{{"/project/data"}, {home}}, [][]string{spec.Writable, spec.Own})
	if spec.Dir != home || spec.Network || !slices.Equal(spec.Hidden, w.o.Hidden) || spec.Limits.Memory == 0 || spec.Limits.Processes == 0 {
		t.Errorf("spec = %+v", spec)
	}
	got, err := w.call("s:env", `{}`)
	if err != nil || strings.Contains(got, "canary") || strings.Contains(got, "topsecret") || !strings.Contains(got, "TOKEN="+stars) {
		t.Errorf("the program's environment: %s, %v", got, err)
	}
	if _, err := w.call("s:big", `{"n":200000}`); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "exceeded the configured maximum") {
		t.Errorf("a giant message: %v, want %v and why", err, ErrInterrupted)
	}
	if _, err := w.call("s:garbage", `{}`); !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "invalid character") {
		t.Errorf("what is not a message: %v, want %v and why", err, ErrInterrupted)
	}
	if got, err := w.call("s:say", `{"n":8000,"text":"topsecret-token"}`); err != nil || got != `"said"` {
		t.Errorf("a talkative program: %s, %v", got, err)
	}
	w.apply()
	if n := w.box.live.Load(); n != 0 {
		t.Errorf("%d programs are left", n)
	}
	log, err := ReadLog(w.o.Logs, "s")
	if err != nil || len(log) > 2*maxLogFile || strings.Contains(log, "topsecret") || !strings.Contains(log, "-- starting script") || strings.Count(log, stars) < 100 {
		t.Errorf("log of %d bytes, %v: %.300s", len(log), err, log)
	}
}

func TestGrantsThatCoverTheStateHideIt(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Hidden = []string{filepath.Dir(o.State)} })
	s := w.server("s", plain("echo"))
	s.Read = []string{filepath.Dir(w.dir)}
	c := newClient(w.o, &s, func() {})
	spec, err := c.spec()
	stdtest.Must(t, err)
	home := filepath.Join(w.o.State, "home", "s")
	if !slices.Equal(spec.Hidden, w.o.Hidden) || len(spec.Writable) != 0 || spec.Dir != home || !slices.Equal(spec.Own, []string{home}) {
		t.Errorf("spec = %+v, want the state hidden but for a home of its own", spec)
	}
	s.Read, s.Dir = nil, "/project/server"
	for command, words := range map[string]string{
		"nothing-of-this-name": "write its whole path", "npx": "install Node.js", "uvx": "install uv", "/nothing/of-this-name": "no such program: /nothing/of-this-name",
	} {
		s.Command, s.Env = command, []string{"PATH=/nothing"}
		if _, err := c.spec(); !errors.Is(err, errNoFile) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s, that there is not: %v", command, err)
		}
	}
}

func TestStopLeavesNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(w.server("a", plain("slow")), w.server("b", plain("echo")))
	w.up("a", "b")
	failed := make(chan error, 1)
	slow := w.tool("a:slow")
	go func() {
		_, err := slow.Invoke(context.Background(), tool.Call{})
		failed <- err
	}()
	w.until("the call to begin", func() bool { return w.marks("a", "called-slow") == 1 })
	w.close(w.m)
	if err := <-failed; !errors.Is(err, ErrInterrupted) {
		t.Errorf("the call under way: %v, want %v", err, ErrInterrupted)
	}
	if n := w.box.live.Load(); n != 0 {
		t.Errorf("%d programs are left", n)
	}
	if n := w.marks("b", "ended"); n != 1 {
		t.Errorf("b heard %d times that its input ended, want once", n)
	}
}

// A server that is removed offers its tools no longer while it stops, which may take seconds.
func TestRemovedServerOffersNothingWhileItStops(t *testing.T) {
	var removing atomic.Bool
	var w *world
	var ended []int // how often the server had ended when its tools were withdrawn
	w = newWorld(t, func(o *Options) {
		o.Changed = func() {
			if removing.Load() && len(w.m.Tools()) == 0 {
				ended = append(ended, w.marks("s", "ended"))
			}
		}
	})
	w.apply(w.server("s", plain("echo")))
	w.up("s")
	w.until("the tools", func() bool { return len(w.m.Tools()) == 1 })
	removing.Store(true)
	w.apply()
	if w.marks("s", "ended") != 1 || len(ended) == 0 || ended[0] != 0 {
		t.Errorf("the tools were withdrawn when the server had ended %v times, want 0 the first time", ended)
	}
}
