package web

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browser is a headless Chromium, controlled through its debugging pipe.
type browser struct {
	t       *testing.T
	to      io.Writer
	session string

	mu      sync.Mutex
	n       int
	waiting map[int]chan json.RawMessage
	console []string // errors and refused requests that the page reported
}

// newBrowser starts Chromium. Without Chromium the test is skipped, unless REQUIRE_ALL=1 forbids
// skipping.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("REQUIRE_ALL") == "1" {
			t.Fatal("no Chromium, and REQUIRE_ALL=1")
		}
		t.Skip("no Chromium on this machine")
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-dev-shm-usage", "--lang=en-US", "--remote-debugging-pipe",
		"--window-size=1100,800", "--user-data-dir="+t.TempDir())
	cmd.Env = append(os.Environ(), "LANGUAGE=en_US")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	toRead, toWrite := pipe(t)
	fromRead, fromWrite := pipe(t)
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toRead.Close(), fromWrite.Close()
	b := &browser{t: t, to: toWrite, waiting: map[int]chan json.RawMessage{}}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
	})
	go b.read(fromRead)
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Runtime", "Log", "Page", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// read receives answers and events, each terminated by a zero byte.
func (b *browser) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
			Params struct {
				Entry            struct{ Level, Text, URL string }
				Type             string
				ExceptionDetails json.RawMessage
				Args             json.RawMessage
				Request          struct{ URL string }
			}
		}
		if json.Unmarshal(bytes.TrimSuffix(line, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		switch {
		case m.ID != 0 && b.waiting[m.ID] != nil:
			b.waiting[m.ID] <- append(m.Result, m.Error...)
			delete(b.waiting, m.ID)
		case m.Method == "Log.entryAdded" && m.Params.Entry.Level == "error":
			b.console = append(b.console, m.Params.Entry.Text+" "+m.Params.Entry.URL)
		case m.Method == "Runtime.exceptionThrown":
			b.console = append(b.console, string(m.Params.ExceptionDetails))
		case m.Method == "Runtime.consoleAPICalled" && m.Params.Type == "error":
			b.console = append(b.console, string(m.Params.Args))
		case m.Method == "Network.requestWillBeSent" && !strings.HasPrefix(m.Params.Request.URL, "http://127.0.0.1:"):
			b.console = append(b.console, "request to "+m.Params.Request.URL)
		}
		b.mu.Unlock()
	}
}

func (b *browser) call(method string, params map[string]any, out any) {
	b.t.Helper()
	answer := make(chan json.RawMessage, 1)
	b.mu.Lock()
	b.n++
	id := b.n
	b.waiting[id] = answer
	b.mu.Unlock()
	msg, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		msg, err = json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(msg, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	select {
	case raw := <-answer:
		if out != nil {
			if err := json.Unmarshal(raw, out); err != nil {
				b.t.Fatalf("%s answered %s: %v", method, raw, err)
			}
		}
	case <-time.After(30 * time.Second):
		b.t.Fatalf("%s: no answer", method)
	}
}

// eval evaluates an expression in the page and awaits its promise.
func (b *browser) eval(format string, args ...any) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	b.call("Runtime.evaluate", map[string]any{
		"expression": fmt.Sprintf(format, args...), "awaitPromise": true, "returnByValue": true,
	}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("eval: %s", out.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(out.Result.Value)
}

// until waits until an expression is true in the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	got := "<nil>"
	for tries := 0; got == "<nil>" && tries < 5; tries++ { // a navigation drops the promise: ask the new page
		got = b.eval(`new Promise((done) => {
		const end = Date.now() + 15000;
		const look = () => { let is; try { is = %s; } catch {} if (is) done('true'); else if (Date.now() > end) done(document.body.innerText); else setTimeout(look, 20); };
		look();
	})`, expression)
	}
	if got != "true" {
		b.t.Fatalf("never true: %s\nthe page shows: %s", expression, got)
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.readyState === 'complete' && document.getElementById('project')?.textContent !== 'ShipMyAgent'`)
}

// say types and sends a message like a person.
func (b *browser) say(text string) {
	b.t.Helper()
	b.eval(`(() => { const i = document.getElementById('input'); i.focus(); i.value = %q; i.dispatchEvent(new Event('input')); return 1; })()`, text)
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}, nil)
	}
}

// faults returns the errors that the page reported so far.
func (b *browser) faults() []string {
	b.eval(`1`) // earlier reports have now arrived
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.console...)
}

// shoot saves a screenshot for people to look at, if SHOTS names a folder.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
