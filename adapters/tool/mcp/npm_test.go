package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// npm is where install.sh puts the servers of others that the tests drive.
const npm = "../../../cmd/sma/testdata/e2e/node_modules/@modelcontextprotocol/"

// npmServer is a server of npm, started by its path with node.
func npmServer(t *testing.T, name string, args ...string) Server {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		machinetest.Missing(t, "node is not installed")
	}
	script, err := filepath.Abs(npm + "server-" + name + "/dist/index.js")
	stdtest.Must(t, err)
	if _, err := os.Stat(script); err != nil {
		machinetest.Missing(t, "npm packages are missing: run cmd/sma/testdata/e2e/install.sh")
	}
	return Server{Name: name, Command: node, Args: append([]string{script}, args...), Timeout: time.Minute, Shown: name}
}

// mustCall calls a tool that is offered.
func (w *world) mustCall(name, input string) string {
	w.t.Helper()
	out, err := w.call(name, input)
	if err != nil {
		w.t.Fatalf("%s(%s): %v", name, input, err)
	}
	return out
}

func TestFilesystemServer(t *testing.T) {
	dir := t.TempDir()
	stdtest.Must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello file"), 0o600))
	w := newWorld(t, nil)
	w.apply(npmServer(t, "filesystem", dir))
	w.up("filesystem")
	input, err := json.Marshal(map[string]string{"path": filepath.Join(dir, "hello.txt")})
	stdtest.Must(t, err)
	if got := w.mustCall("filesystem:read_text_file", string(input)); !strings.Contains(got, "hello file") {
		t.Errorf("read_text_file = %s", got)
	}
	if _, err := w.call("filesystem:read_text_file", `{"path":"/etc/passwd"}`); err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("a file outside: %v, want the server's refusal", err)
	}
	schema, err := tool.NewSchema(w.tool("filesystem:read_text_file").Spec().InputSchema)
	stdtest.Must(t, err)
	if err := schema.Validate(json.RawMessage(`{}`)); !errors.Is(err, tool.ErrInput) {
		t.Errorf("an input without path: %v, want %v", err, tool.ErrInput)
	}
}

func TestMemoryServer(t *testing.T) {
	w := newWorld(t, nil)
	s := npmServer(t, "memory")
	file := filepath.Join(w.dir, "graph.jsonl")
	s.Env = []string{"MEMORY_FILE_PATH=" + file}
	w.apply(s)
	w.up("memory")
	w.mustCall("memory:create_entities", `{"entities":[{"name":"Ship","entityType":"thing","observations":["floats"]}]}`)
	w.box.kill(t)
	w.until("the server to be back", func() bool { return w.box.begun() == 2 && w.status("memory").Condition == ConditionUp })
	got := w.mustCall("memory:search_nodes", `{"query":"Ship"}`)
	if !strings.Contains(got, "floats") || !json.Valid([]byte(got)) {
		t.Errorf("search_nodes after a kill = %s", got)
	}
}

// kill kills the program that was begun last.
func (b *bare) kill(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	stdtest.Must(t, syscall.Kill(-b.pids[len(b.pids)-1], syscall.SIGKILL))
}

func TestEverythingServer(t *testing.T) {
	w := newWorld(t, nil)
	w.apply(npmServer(t, "everything"))
	w.up("everything")
	driveEverything(t, w, "everything")
}

// driveEverything uses what the server of everything has.
func driveEverything(t *testing.T, w *world, server string) {
	t.Helper()
	if got := w.mustCall(server+":echo", `{"message":"你好 <&>"}`); !strings.Contains(got, "你好 <&>") {
		t.Errorf("echo = %s", got)
	}
	if got := w.mustCall(server+":get-sum", `{"a":2,"b":40}`); !strings.Contains(got, "42") {
		t.Errorf("get-sum = %s", got)
	}
	if got := w.mustCall(server+":get-structured-content", `{"location":"Chicago"}`); !strings.Contains(got, `"temperature"`) {
		t.Errorf("get-structured-content = %s", got)
	}
	var image content
	if got := w.mustCall(server+":get-tiny-image", `{}`); json.Unmarshal([]byte(got), &image) != nil || len(image.Files) != 1 || image.Files[0].MediaType != "image/png" {
		t.Errorf("get-tiny-image = %s", got)
	}
	var links content
	if got := w.mustCall(server+":get-resource-links", `{"count":3}`); json.Unmarshal([]byte(got), &links) != nil || len(links.Links) != 3 {
		t.Errorf("get-resource-links = %s", got)
	}
	shown, over := make(chan string, 100), make(chan struct{})
	long, ok := w.tool(server + ":trigger-long-running-operation").(tool.Streamer)
	if !ok {
		t.Fatal("the tool shows nothing while it works")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(over)
		_, err = long.InvokeStream(ctx, tool.Call{Input: json.RawMessage(`{"duration":300,"steps":3000}`)}, func(out json.RawMessage) {
			select {
			case shown <- string(out):
			default:
			}
		})
	})
	select {
	case got := <-shown:
		if !strings.Contains(got, `"total":3000`) {
			t.Errorf("progress = %s", got)
		}
	case <-over:
		t.Errorf("the long operation ended early: %v", err)
	}
	cancel()
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	if got := w.mustCall(server+":echo", `{"message":"still here"}`); !strings.Contains(got, "still here") {
		t.Errorf("echo after a cancel = %s", got)
	}
}

// TestEverythingServerOverHTTP drives the same server by its address. It listens on
// all interfaces, so it gets a network of its own; a bridge of two pipes is the only
// way in.
func TestEverythingServerOverHTTP(t *testing.T) {
	s := npmServer(t, "everything", "streamableHttp")
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		machinetest.Missing(t, "unshare is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), unshare, "-r", "-n", "true").CombinedOutput(); err != nil {
		machinetest.Missing(t, "no network can be made for the server: "+string(out))
	}
	socket := filepath.Join(t.TempDir(), "s")
	cmd := exec.CommandContext(t.Context(), unshare, "-r", "-n", s.Command, "--input-type=module", "-e", fmt.Sprintf(bridge, socket, s.Args[0]))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PORT=3001"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	stdtest.Must(t, cmd.Start())
	defer func() {
		_ = cmd.Cancel()
		_ = cmd.Wait() // killed
	}()
	address := forward(t, socket)
	w := newWorld(t, nil)
	remote := Server{Name: "remote", URL: "http://" + address + "/mcp", Headers: http.Header{"Authorization": {"Bearer topsecret"}}, Timeout: time.Minute, Shown: "http"}
	w.apply(remote)
	w.up("remote")
	driveEverything(t, w, "remote")
}

// bridge starts the loopback of the server's network and the server, and forwards a socket in the file system to it.
const bridge = `
import net from 'node:net';
import { execFileSync, spawn } from 'node:child_process';
execFileSync('ip', ['link', 'set', 'lo', 'up'], { env: { PATH: process.env.PATH + ':/sbin:/usr/sbin' } });
net.createServer(c => {
  const up = net.connect(3001, '127.0.0.1');
  c.pipe(up).pipe(c);
  c.on('error', () => up.destroy());
  up.on('error', () => c.destroy());
}).listen(%q);
spawn(process.execPath, [%q, 'streamableHttp'], { stdio: 'inherit' });
`

// forward listens on loopback for a socket in the file system.
func forward(t *testing.T, socket string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	proxy := &http.Server{Handler: proxyTo(socket), ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = proxy.Serve(l) }) // ends with Close
	t.Cleanup(func() {
		_ = proxy.Close()
		wg.Wait()
	})
	return l.Addr().String()
}
