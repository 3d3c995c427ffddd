package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Browser is a headless Chromium. It ends with the test that started it.
type Browser struct {
	to io.Writer

	mu      sync.Mutex
	n       int
	waiting map[int]chan json.RawMessage
	console map[string][]string // by session: errors and refused requests that the page reported
}

// Start starts Chromium.
func Start(tb testing.TB) *Browser {
	tb.Helper()
	path := find(tb)
	cmd := exec.CommandContext(tb.Context(), path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-dev-shm-usage", "--lang=en-US", "--remote-debugging-pipe",
		"--window-size=1100,800", "--user-data-dir="+tb.TempDir())
	cmd.Env = append(os.Environ(), "LANGUAGE=en_US")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	toRead, toWrite := pipe(tb)
	fromRead, fromWrite := pipe(tb)
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stdtest.Must(tb, cmd.Start())
	_, _ = toRead.Close(), fromWrite.Close()
	tb.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
	})
	b := &Browser{to: toWrite, waiting: map[int]chan json.RawMessage{}, console: map[string][]string{}}
	go b.read(fromRead)
	return b
}

func find(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	machinetest.Missing(tb, "no Chromium on this machine")
	return ""
}

func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	stdtest.Must(tb, err)
	tb.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// message is an answer or an event of Chromium.
type message struct {
	ID        int
	Method    string
	SessionID string
	Result    json.RawMessage
	Error     json.RawMessage
	Params    struct {
		Entry            struct{ Level, Text, URL string }
		Type             string
		ExceptionDetails json.RawMessage
		Args             json.RawMessage
		Request          struct{ URL string }
	}
}

// fault is what a page reports by an event, or empty.
func (m message) fault() string {
	switch p := m.Params; {
	case m.Method == "Log.entryAdded" && p.Entry.Level == "error":
		return p.Entry.Text + " " + p.Entry.URL
	case m.Method == "Runtime.exceptionThrown":
		return string(p.ExceptionDetails)
	case m.Method == "Runtime.consoleAPICalled" && p.Type == "error":
		return string(p.Args)
	case m.Method == "Network.requestWillBeSent" && !strings.HasPrefix(p.Request.URL, "http://127.0.0.1:"):
		return "request to " + p.Request.URL
	default:
		return ""
	}
}

// read receives answers and events, each terminated by a zero byte.
func (b *Browser) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		if waiting := b.waiting[m.ID]; m.ID != 0 && waiting != nil {
			waiting <- append(m.Result, m.Error...)
			delete(b.waiting, m.ID)
		} else if fault := m.fault(); fault != "" {
			b.console[m.SessionID] = append(b.console[m.SessionID], fault)
		}
		b.mu.Unlock()
	}
}

// send sends a request for a method of the debugging protocol, in a session unless it is empty.
func (b *Browser) send(session, method string, params map[string]any) (<-chan json.RawMessage, error) {
	answer := make(chan json.RawMessage, 1)
	b.mu.Lock()
	b.n++
	id := b.n
	b.waiting[id] = answer
	b.mu.Unlock()
	request := map[string]any{"id": id, "method": method, "params": params}
	if session != "" {
		request["sessionId"] = session
	}
	msg, err := json.Marshal(request)
	if err == nil {
		_, err = b.to.Write(append(msg, 0))
	}
	return answer, err
}

// call sends a request and waits for the answer.
func (b *Browser) call(tb testing.TB, session, method string, params map[string]any, out any) {
	tb.Helper()
	answer, err := b.send(session, method, params)
	if err != nil {
		tb.Fatalf("%s: %v", method, err)
	}
	select {
	case raw := <-answer:
		if out != nil {
			if err := json.Unmarshal(raw, out); err != nil {
				tb.Fatalf("%s answered %s: %v", method, raw, err)
			}
		}
	case <-time.After(30 * time.Second):
		tb.Fatalf("%s: no answer", method)
	}
}
