package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// scriptVar makes the test binary an MCP server: it names a folder with the file
// tools.json, and takes marks of what happened.
const scriptVar = "SMA_TEST_MCP"

func TestMain(m *testing.M) {
	reexec.Main()
	if dir := os.Getenv(scriptVar); dir != "" {
		script{dir: dir, out: os.Stdout}.run()
		return
	}
	goleak.VerifyTestMain(m)
}

// script is a server that does what the name of a called tool says.
type script struct {
	dir string
	out *os.File
}

type request struct {
	line   string          // as it was received
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
		RequestID json.RawMessage
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (s script) mark(name string) {
	f, err := os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, _ = f.WriteString("x")
		_ = f.Close()
	}
}

func (s script) wait(name string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			return
		}
	}
}

func (s script) run() {
	s.mark("started")
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "bad request", err)
			continue
		}
		r.line = in.Text()
		s.answer(r)
	}
	s.mark("ended")
}

func (s script) send(v any) {
	data, _ := json.Marshal(v)
	_, _ = s.out.Write(append(data, '\n'))
}

func (s script) reply(id json.RawMessage, result any) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (s script) tools() json.RawMessage {
	data, err := os.ReadFile(filepath.Join(s.dir, "tools.json"))
	if err != nil {
		return json.RawMessage("[]")
	}
	return data
}

func (s script) answer(r request) {
	switch r.Method {
	case "initialize":
		if _, err := os.Stat(filepath.Join(s.dir, "mute")); err == nil {
			return
		}
		s.reply(r.ID, map[string]any{
			"protocolVersion": "2025-06-18", "serverInfo": map[string]any{"name": "script", "version": "1"},
			"capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
		})
	case "tools/list":
		s.reply(r.ID, map[string]any{"tools": s.tools()})
	case "tools/call":
		s.call(r)
	case "notifications/cancelled":
		s.mark("cancelled")
	default:
		if len(r.ID) > 0 {
			s.send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
		}
	}
}

func text(format string, args ...any) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": fmt.Sprintf(format, args...)}}}
}

func (s script) call(r request) {
	args := r.Params.Arguments
	s.mark("called-" + r.Params.Name)
	switch r.Params.Name {
	case "slow":
	case "unread": // reads nothing after this call
		s.wait("never")
	case "crash":
		os.Exit(3)
	case "env":
		s.reply(r.ID, text("%s", strings.Join(os.Environ(), "\n")))
	case "sh":
		cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", fmt.Sprint(args["text"])) //nolint:gosec // of a test
		cmd.Dir = fmt.Sprint(args["dir"])
		out, err := cmd.CombinedOutput()
		s.reply(r.ID, text("%s %v", out, err))
	case "big":
		n, _ := args["n"].(float64)
		s.reply(r.ID, text("%s", strings.Repeat("y", int(n))))
	case "reach":
		data, _ := os.ReadFile(fmt.Sprint(args["read"])) // what is hidden may look empty
		write := os.WriteFile(fmt.Sprint(args["write"]), []byte("x"), 0o600)
		conn, dial := (&net.Dialer{}).DialContext(context.Background(), "tcp", fmt.Sprint(args["dial"]))
		if dial == nil {
			_ = conn.Close()
		}
		s.reply(r.ID, text("read: %v, write: %v, dial: %v", len(data) > 0, write == nil, dial == nil))
	case "say":
		n, _ := args["n"].(float64)
		for range int(n) {
			fmt.Fprintf(os.Stderr, "%v %s\n", args["text"], strings.Repeat("z", 100))
		}
		s.reply(r.ID, text("said"))
	case "garbage":
		_, _ = s.out.WriteString("{]\n")
	case "progress":
		s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{
			"progressToken": r.Params.Meta.Token, "progress": 1, "total": 2, "message": "half",
		}})
		s.wait("shown")
		s.reply(r.ID, text("whole"))
	case "fail":
		out := text("no: %v", args["why"])
		out["isError"] = true
		s.reply(r.ID, out)
	case "refuse":
		s.send(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32602, "message": "bad arguments"}})
	case "line":
		s.reply(r.ID, text("%s", r.line))
	case "ask":
		s.send(map[string]any{"jsonrpc": "2.0", "id": 99, "method": "sampling/createMessage", "params": map[string]any{"messages": []any{}, "maxTokens": 1}})
		s.reply(r.ID, text("asked"))
	case "raw":
		s.reply(r.ID, args["result"])
	case "relist":
		s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
		s.reply(r.ID, text("relisted"))
	default:
		data, _ := json.Marshal(args)
		s.reply(r.ID, text("%s %s", r.Params.Name, data))
	}
}

// bare starts programs without a sandbox and records how it did.
type bare struct {
	mu    sync.Mutex
	specs []sandbox.Spec
	pids  []int
	err   error
	live  atomic.Int32
}

func (b *bare) begun() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pids)
}

func (*bare) Name() string { return "off" }

func (b *bare) Start(ctx context.Context, s sandbox.Spec) (sandbox.Process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	b.specs = append(b.specs, s)
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Dir, s.Env, s.Stdin, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b.live.Add(1)
	b.pids = append(b.pids, cmd.Process.Pid)
	return &bareProcess{b, cmd}, nil
}

func (b *bare) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *bare) last() sandbox.Spec {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.specs[len(b.specs)-1]
}

type bareProcess struct {
	b   *bare
	cmd *exec.Cmd
}

func (p *bareProcess) Wait() (sandbox.Exit, error) {
	err := p.cmd.Wait()
	p.b.live.Add(-1)
	exit := sandbox.Exit{Code: p.cmd.ProcessState.ExitCode()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal().String()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = nil
	}
	return exit, err
}

func (p *bareProcess) Kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

type world struct {
	t       *testing.T
	dir     string
	box     *bare
	o       Options
	m       *Manager
	changes atomic.Int32
}

// newWorld makes a world; edit may change the manager's options.
func newWorld(t *testing.T, edit func(*Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), box: &bare{}}
	w.o = Options{
		State: filepath.Join(w.dir, "mcp"), Logs: filepath.Join(w.dir, "logs"),
		Files:   tool.ChatFiles{Root: filepath.Join(w.dir, "files"), Folder: func(messages.ChatKey) (string, error) { return "results/chat", nil }},
		Sandbox: w.box, Path: "/usr/local/bin:/usr/bin:/bin", Reserved: []string{"chat_send", "read_file"}, Version: "test",
		Changed: func() { w.changes.Add(1) }, Logger: slog.New(slog.DiscardHandler),
		Limits: Limits{Pause: time.Millisecond, MaxPause: 5 * time.Millisecond, Patience: 20 * time.Second, Relist: time.Millisecond},
	}
	if edit != nil {
		edit(&w.o)
	}
	w.open()
	return w
}

// open creates the manager as a start of the host does.
func (w *world) open() {
	w.t.Helper()
	store, err := OpenStore(filepath.Join(w.o.State, "tools.json"))
	stdtest.Must(w.t, err)
	w.o.Store = store
	m := New(w.o)
	w.m = m
	w.t.Cleanup(func() { w.close(m) })
}

func (w *world) close(m *Manager) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		w.t.Errorf("Stop: %v", err)
	}
}

// server is a scripted server whose tools are given as JSON.
func (w *world) server(name, tools string) Server {
	w.t.Helper()
	dir := filepath.Join(w.dir, "script-"+name)
	stdtest.Must(w.t, os.MkdirAll(dir, 0o700))
	w.list(name, tools)
	self, err := os.Executable()
	stdtest.Must(w.t, err)
	return Server{Name: name, Command: self, Env: []string{scriptVar + "=" + dir}, Shown: "script", Timeout: time.Minute}
}

// list sets the tools that the server lists from now on.
func (w *world) list(name, tools string) {
	w.t.Helper()
	stdtest.Must(w.t, os.WriteFile(filepath.Join(w.dir, "script-"+name, "tools.json"), []byte(tools), 0o600))
}

// marks returns how often something happened in a scripted server.
func (w *world) marks(server, name string) int {
	data, _ := os.ReadFile(filepath.Join(w.dir, "script-"+server, name))
	return len(data)
}

func (w *world) apply(servers ...Server) {
	w.t.Helper()
	stdtest.Must(w.t, w.m.Apply(w.t.Context(), servers))
}

func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.t.Fatalf("waited a minute for %s; the servers: %+v", what, w.m.Status())
		}
	}
}

// up waits until servers have listed their tools.
func (w *world) up(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.until(name+" to be up", func() bool { return w.status(name).Condition == ConditionUp })
	}
}

func (w *world) status(name string) ServerStatus {
	for _, s := range w.m.Status() {
		if s.Name == name {
			return s
		}
	}
	return ServerStatus{}
}

// state returns a tool's state by server:tool.
func (w *world) state(name string) State {
	server, toolName, _ := strings.Cut(name, ":")
	for _, t := range w.status(server).Tools {
		if t.Name == toolName {
			return t.State
		}
	}
	return ""
}

func (w *world) offered() []string {
	var out []string
	for _, t := range w.m.Tools() {
		out = append(out, t.Spec().Name)
	}
	return out
}

func (w *world) tool(name string) tool.Tool {
	w.t.Helper()
	for _, t := range w.m.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	w.t.Fatalf("%s is not offered; there are %q", name, w.offered())
	return nil
}

// explainer returns an offered tool as a tool.Explainer.
func (w *world) explainer(name string) tool.Explainer {
	w.t.Helper()
	e, ok := w.tool(name).(tool.Explainer)
	if !ok {
		w.t.Fatalf("%s explains nothing", name)
	}
	return e
}

func (w *world) call(name, input string) (string, error) {
	w.t.Helper()
	result, err := w.tool(name).Invoke(w.t.Context(), tool.Call{ID: "1", Name: name, Input: json.RawMessage(input)})
	return string(result.Output), err
}

// plain describes tools without parameters.
func plain(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":{"type":"object"}}`, n, n))
	}
	return "[" + strings.Join(out, ",") + "]"
}
