package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// world is a host in its own process with all that is around it: the model it
// asks, a proxy before it, and a server by which a scenario steers all of them.
type world struct {
	t       *testing.T
	model   *gatedModel
	server  *modeltest.Server
	proxy   *proxy
	control *httptest.Server
	dir     string
	command []string // before the folder, if it is not run

	mu      sync.Mutex
	process *process
	logged  bytes.Buffer
}

// newWorld starts all of it. The state of the host is in a folder of the test.
func newWorld(t *testing.T, demo bool, web string) *world {
	t.Helper()
	return makeWorld(t, demo, web, "")
}

// newWorldWith is one with the scripted model and further settings.
func newWorldWith(t *testing.T, more string) *world {
	t.Helper()
	return makeWorld(t, false, "", more)
}

func makeWorld(t *testing.T, demo bool, web, more string) *world {
	t.Helper()
	w := &world{t: t, model: newGatedModel(), dir: t.TempDir()}
	w.server = modeltest.NewServer(w.model, modeltest.ServerOptions{Key: "sk-e2e"})
	t.Cleanup(w.server.Close)
	llm := fmt.Sprintf(`{"provider": "custom", "baseUrl": %q, "model": "scripted", "apiKey": "${E2E_KEY}"}`, w.server.URL)
	if demo {
		llm = `{"provider": "demo"}`
	}
	w.write("Agent.md", "# Tester\n\n## Persona\n\nSays what it is told to say.\n")
	w.write(".env", "E2E_KEY=sk-e2e\n")
	w.write("ship.json", fmt.Sprintf(`{"llm": %s, "metrics": {"listen": "off"}, "adapters": {"web": {"listen": "127.0.0.1:0"%s}}%s}`, llm, web, more))
	stdtest.Must(t, w.start())
	t.Cleanup(w.kill)
	token := stdtest.Read(t, filepath.Join(w.dir, ".ship", "web.token"))
	w.proxy = newProxy(t, w.address, strings.TrimSpace(string(token)))
	w.control = httptest.NewServer(w.routes())
	t.Cleanup(w.control.Close)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	name = filepath.Join(w.dir, name)
	stdtest.Must(w.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
}

// url is where the host is found, whichever process it is.
func (w *world) url() string { return "http://" + w.proxy.listener.Addr().String() }

func (w *world) faults() []error { return w.server.Faults() }

// routes are what a scenario can ask for.
func (w *world) routes() http.Handler {
	mux := http.NewServeMux()
	answer := func(pattern string, do func(r *http.Request) (any, error)) {
		mux.HandleFunc("POST "+pattern, func(rw http.ResponseWriter, r *http.Request) {
			out, err := do(r)
			if err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(rw).Encode(out) // the scenario may be gone
		})
	}
	answer("/reached/{gate}", func(r *http.Request) (any, error) {
		return nil, w.model.waitReached(r.Context(), r.PathValue("gate"))
	})
	answer("/pass/{gate}", func(r *http.Request) (any, error) { w.model.open(r.PathValue("gate")); return nil, nil })
	answer("/cut", func(*http.Request) (any, error) { w.proxy.cut(); return nil, nil })
	answer("/kill", func(*http.Request) (any, error) { w.kill(); return nil, w.start() })
	answer("/finish", func(*http.Request) (any, error) {
		if err := w.stop(); err != nil {
			return nil, err
		}
		return storedHistories(filepath.Join(w.dir, ".ship", "chat"))
	})
	return mux
}

type process struct {
	cmd     *exec.Cmd
	address string
	ended   chan struct{} // closed when the process is gone
	err     error         // its end, once ended is closed
}

var webLine = regexp.MustCompile(`^\s+web\s+http://(\S+)`)

// start starts the host and waits until it is ready.
func (w *world) start() error {
	command := w.command
	if command == nil {
		command = []string{"run"}
	}
	cmd := exec.CommandContext(w.t.Context(), "sma", append(slices.Clone(command), w.dir)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "GORACE=" + os.Getenv("GORACE"), "NO_COLOR=1"}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the host: %w", err)
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	ready := make(chan string, 1)
	go func() {
		defer close(p.ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			w.note(lines.Text())
			if found := webLine.FindStringSubmatch(lines.Text()); found != nil {
				ready <- found[1]
			}
		}
		p.err = cmd.Wait()
	}()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	select {
	case p.address = <-ready:
	case <-p.ended:
		return fmt.Errorf("the host ended: %w\n%s", p.err, w.log())
	case <-limit.C:
		return errors.New("the host is not ready after 20 s")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process = p
	return nil
}

func (w *world) current() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

func (w *world) address() string { return w.current().address }

// kill ends the host at once, as a crash does.
func (w *world) kill() {
	p := w.current()
	_ = p.cmd.Process.Kill() // gone already is fine
	<-p.ended
}

// stop asks the host to end and wants exit code 0.
func (w *world) stop() error {
	p := w.current()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the host: %w", err)
	}
	<-p.ended
	if p.err != nil {
		return fmt.Errorf("the host did not end well: %w", p.err)
	}
	return nil
}

func (w *world) note(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logged.WriteString(line + "\n")
}

func (w *world) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.String()
}

// storedHistories reads the histories below a folder of chats as the file format
// says it: a later line with an id seen before takes that message's place.
func storedHistories(chats string) ([][]json.RawMessage, error) {
	files, err := filepath.Glob(filepath.Join(chats, "*", "messages", "history.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("find histories: %w", err)
	}
	out := [][]json.RawMessage{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read a history: %w", err)
		}
		var ids []string
		var list []json.RawMessage
		for line := range bytes.Lines(data) {
			var turn struct{ ID string }
			if err := json.Unmarshal(line, &turn); err != nil {
				return nil, fmt.Errorf("%s: %w: %s", file, err, line)
			}
			if i := slices.Index(ids, turn.ID); i >= 0 {
				list[i] = line
				continue
			}
			ids, list = append(ids, turn.ID), append(list, line)
		}
		out = append(out, list)
	}
	if len(out) == 0 {
		return nil, errors.New("the host stored nothing")
	}
	return out, nil
}

// proxy passes requests on, as somebody who is logged in, and can cut all connections.
type proxy struct {
	listener net.Listener
	to       func() string
	token    string

	mu    sync.Mutex
	conns map[*net.TCPConn]bool
}

func newProxy(t *testing.T, to func() string, token string) *proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	p := &proxy{listener: listener, to: to, token: token, conns: map[*net.TCPConn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if client, ok := conn.(*net.TCPConn); ok {
				serving.Go(func() { p.serve(client) })
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // nothing is lost by it
		p.cut()
		serving.Wait()
	})
	return p
}

// serve joins a client with the host; when one of them ends, so does the other.
func (p *proxy) serve(client *net.TCPConn) {
	defer p.drop(client)
	p.hold(client)
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.to())
	if err != nil {
		return
	}
	host, ok := conn.(*net.TCPConn)
	if !ok {
		return // Unreachable: the network is tcp.
	}
	defer p.drop(host)
	p.hold(host)
	var up sync.WaitGroup
	up.Go(func() {
		p.passRequests(host, client)
		p.drop(host)
	})
	_, _ = io.Copy(client, host) // an end is an end
	p.drop(client)
	up.Wait()
}

// passRequests passes requests on until one of both sides ends, and shows the token
// with each: clients of the host know of none.
func (p *proxy) passRequests(host, client *net.TCPConn) {
	for requests := bufio.NewReader(client); ; {
		r, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "Bearer "+p.token)
		if r.Write(host) != nil {
			return
		}
	}
}

func (p *proxy) hold(c *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
}

func (p *proxy) drop(c *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	_ = c.Close() // twice is fine
}

// cut resets every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.SetLinger(0) // a reset instead of an end
		_ = c.Close()
	}
	clear(p.conns)
}
