package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// soaking reports that long counts are wanted, with the binary as it is released
// instead of the one that the race detector watches.
func soaking() bool { return os.Getenv("SOAK") != "" }

// few is the count of a plain test run, many that of a soak; a short one has a
// fifth of it.
func few(plain, many int) int {
	switch os.Getenv("SOAK") {
	case "":
		return plain
	case "short":
		return max(plain, many/5)
	default:
		return many
	}
}

// worlds is how many worlds are killed at once.
func worlds(plain, soak int) int {
	if soaking() {
		return soak
	}
	return plain
}

// victim runs the binary on a project, again and again.
type victim struct {
	dir  string
	path string
	env  []string
	log  io.Writer
	mu   sync.Mutex // a trap kills from elsewhere
	cmd  *exec.Cmd
	// control asks the host by its socket.
	control console.Control
	kills   int
}

// newVictim prepares a binary on a project. Its log is shown if the test fails.
func newVictim(t *testing.T, dir, path string) *victim {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	stdtest.Must(t, err)
	v := &victim{dir: dir, path: path, log: log, control: console.NewControl(filepath.Join(dir, ".ship")), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"), // commands end at once
	}}
	t.Cleanup(func() {
		if v.cmd != nil {
			_ = v.cmd.Process.Kill() // it may be gone
			_ = v.cmd.Wait()
		}
		_ = log.Close() // read below by its name
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the last of the log:\n%s", text[max(0, len(text)-8000):])
		}
	})
	return v
}

// killable is the binary to kill: the released one in a soak, else this test
// binary, which is the program when it is called by its name.
func killable(t *testing.T) string {
	t.Helper()
	if soaking() {
		return binary(t)
	}
	path, err := os.Executable()
	stdtest.Must(t, err)
	return path
}

func (v *victim) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), v.path)
	cmd.Args = append([]string{"sma"}, args...)
	cmd.Env, cmd.Stderr = v.env, v.log
	return cmd
}

func (v *victim) start(t *testing.T) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cmd = v.command(t, "run", v.dir)
	stdtest.Must(t, v.cmd.Start())
}

// ready waits until the host takes orders: before, commands read the store
// themselves, and keep a host from starting meanwhile.
func (v *victim) ready(t *testing.T) {
	t.Helper()
	faketest.Poll(t, "the host to be ready", func() bool {
		cmd := v.command(t, "status", "--probe", "--dir", v.dir)
		cmd.Stderr = nil // it is not ready, time and again
		return cmd.Run() == nil
	})
}

// kill sends SIGKILL; anybody may, at any moment.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.cmd.Process.Signal(syscall.SIGKILL) // it may be gone
}

// bury waits for the end of a process that was killed.
func (v *victim) bury(t *testing.T) {
	t.Helper()
	err := v.cmd.Wait()
	if status, ok := v.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the host ended before it was killed: %v", err)
	}
	v.cmd = nil
	v.kills++
}

// die kills the host after a while and starts it again.
func (v *victim) die(t *testing.T, after time.Duration, state string, sum *tally) {
	t.Helper()
	pause(after)
	v.kill()
	v.bury(t)
	sum.add("at_"+state, 1)
	v.start(t)
}

// stop ends the host as a service manager does.
func (v *victim) stop(t *testing.T) {
	t.Helper()
	stdtest.Must(t, v.cmd.Process.Signal(syscall.SIGTERM))
	if err := v.cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want exit code 0", err)
	}
	v.cmd = nil
}

// query runs a command that answers in JSON.
func (v *victim) query(t *testing.T, into any, args ...string) {
	t.Helper()
	out, err := v.command(t, append([]string{"--dir", v.dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

type book struct {
	Running bool                  `json:"running"`
	Counts  platform.Counts       `json:"counts"`
	Ledger  []journal.LedgerEntry `json:"ledger"`
	users   []string              // words of the user turns, in order
}

func (v *victim) book(t *testing.T, key string) book {
	t.Helper()
	var b book
	var doc struct {
		Messages []struct {
			Role  string
			Parts []struct{ Text string }
		}
	}
	v.query(t, &b, "chats", "show", "--json", "--last", "1000000", "--", key)
	v.query(t, &doc, "chats", "export", "--json", "--", key)
	for _, m := range doc.Messages {
		if m.Role == "user" {
			b.users = append(b.users, m.Parts[len(m.Parts)-1].Text)
		}
	}
	return b
}

type chatView struct {
	Running  bool
	Messages []struct {
		Role  string
		Parts []callPart
	}
}

type callPart struct{ Type, ToolCallID, State, ErrorText string }

func (v chatView) calls(of func(callPart) bool) (states []string) {
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			switch {
			case !of(p):
			case p.ErrorText != "":
				states = append(states, p.State+": "+p.ErrorText)
			default:
				states = append(states, p.State)
			}
		}
	}
	return states
}

// await asks the host for a chat until it is as wanted.
func (v *victim) await(t *testing.T, key string, ok func(chatView) bool) (view chatView) {
	t.Helper()
	faketest.Poll(t, "chat "+key, func() bool {
		view = chatView{}
		return v.control.Get(t.Context(), "/control/chat?key="+key, &view) == nil && ok(view)
	})
	return view
}

// settled sums the fates of a chat.
func (b book) settled() (n int64) {
	for _, fate := range b.Counts.Fates {
		n += fate
	}
	return n
}

// balanced holds the conservation of ingresses against what was said.
func (b book) balanced(t *testing.T, key string, said int) {
	t.Helper()
	if c := b.Counts; c.Accepted != int64(said) || c.Open != 0 || b.settled() != int64(said) || c.Pending != 0 || b.Running {
		t.Errorf("%s: accepted %d = %v + open %d, pending %d, running %v; %d were said", key, c.Accepted, c.Fates, c.Open, c.Pending, b.Running, said)
	}
}

// phase is a moment of a call of the platform's API.
type phase int

const (
	arrived  phase = iota // nothing has happened; the call is dropped
	begun                 // nothing has happened yet; it will, although nobody waits for it
	effected              // it has happened, and nobody was told
	answered              // the answer is on its way
	phases
)

func (p phase) String() string { return [...]string{"arrived", "begun", "effected", "answered"}[p] }

// trap fires once, at a phase of a call that it wants.
type trap struct {
	at    phase
	wants func(method string, params map[string]any, answer []byte) bool
	delay time.Duration
	fire  func()
	fired chan struct{}
}

// tap is a proxy in front of a fake platform that detects the moment of a trap.
type tap struct {
	api    *telegramtest.API
	server *httptest.Server
	mu     sync.Mutex
	trap   *trap
	offset int64 // the highest that was asked for: what is below is confirmed
}

func newTap(t *testing.T, api *telegramtest.API) *tap {
	t.Helper()
	p := &tap{api: api}
	p.server = httptest.NewServer(p)
	t.Cleanup(func() { p.server.CloseClientConnections(); p.server.Close() })
	return p
}

func (p *tap) set(c *trap) *trap {
	c.fired = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trap = c
	return c
}

// pause lets the host continue for a random time.
func pause(d time.Duration) { <-time.After(d) }

// confirmed is the highest offset that the host asked for.
func (p *tap) confirmed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// spring fires the trap if this is its moment.
func (p *tap) spring(at phase, method string, params map[string]any, answer []byte) bool {
	p.mu.Lock()
	c := p.trap
	if c == nil || c.at != at || !c.wants(method, params, answer) {
		p.mu.Unlock()
		return false
	}
	p.trap = nil
	p.mu.Unlock()
	pause(c.delay)
	c.fire()
	close(c.fired)
	return true
}

func (p *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body) // a caller that was killed sends less, and gets nothing
	method := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	var params map[string]any
	_ = json.Unmarshal(body.Bytes(), &params) // files come as forms; no trap is about them
	p.note(method, params)
	if p.spring(arrived, method, params, nil) {
		panic(http.ErrAbortHandler)
	}
	p.spring(begun, method, params, nil)
	r.Body = http.NoBody
	request := r.Clone(r.Context())
	request.Body = readCloser{&body}
	rec := httptest.NewRecorder()
	p.api.ServeHTTP(rec, request)
	answer := rec.Body.Bytes()
	p.spring(effected, method, params, answer)
	w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
	w.Header().Set("Content-Length", strconv.Itoa(len(answer))) // whole before the handler ends
	w.WriteHeader(rec.Code)
	_, _ = w.Write(answer) // the caller may be dead by now
	_ = http.NewResponseController(w).Flush()
	p.spring(answered, method, params, answer)
}

func (p *tap) note(method string, params map[string]any) {
	offset, _ := params["offset"].(float64)
	if method != "getUpdates" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offset = max(p.offset, int64(offset))
}

type readCloser struct{ *bytes.Buffer }

func (readCloser) Close() error { return nil }

// killWorld is a project on a fake platform with a tap, and the process that is killed.
type killWorld struct {
	*telegramWorld
	*victim
	tap    *tap
	random *rand.Rand
	said   map[int64][]string // words of each chat, in order
}

func newKillWorld(t *testing.T, path string, chats int, egress string, m model.Model, random *rand.Rand) *killWorld {
	t.Helper()
	w := &killWorld{telegramWorld: newTelegramWorld(t, chats, egress, m), random: random, said: map[int64][]string{}}
	w.tap = newTap(t, w.api)
	name := filepath.Join(w.telegramWorld.dir, "ship.json")
	text := stdtest.Read(t, name)
	text = bytes.ReplaceAll(text, []byte(strconv.Quote(w.api.URL())), []byte(strconv.Quote(w.tap.server.URL)))
	stdtest.Must(t, os.WriteFile(name, text, 0o600))
	w.victim = newVictim(t, w.telegramWorld.dir, path)
	return w
}

// say writes into a chat and keeps what was said.
func (w *killWorld) say(chat int64, words string) {
	w.said[chat] = append(w.said[chat], words)
	w.write(chat, words)
}

// next is words that no other message has.
func (w *killWorld) next(chat int64) string { return fmt.Sprintf("m-%d-%d", chat, len(w.said[chat])) }

// killAt starts the host, lays a trap, and returns when the host is dead of it.
func (w *killWorld) killAt(t *testing.T, c trap, meanwhile func()) {
	t.Helper()
	c.fire = w.kill
	set := w.tap.set(&c)
	w.start(t)
	if meanwhile != nil {
		meanwhile()
	}
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	select {
	case <-set.fired:
	case <-late.C:
		t.Fatalf("kill %d: the host did not come to %v", w.kills, c.at)
	}
	w.bury(t)
}

// rest starts the host, waits until everything said is settled, and stops it.
func (w *killWorld) rest(t *testing.T) map[int64]book {
	t.Helper()
	w.start(t)
	w.ready(t)
	w.api.Await(t, "all updates taken", func() bool { return w.api.Pending() == 0 })
	atRest := func() bool {
		for chat := range w.said {
			var b book
			w.query(t, &b, "chats", "show", "--json", "--", fmt.Sprintf("telegram-chat-%d", chat))
			if b.Counts.Open > 0 || b.Counts.Pending > 0 || b.Running {
				return false
			}
		}
		return true
	}
	faketest.Poll(t, "everything to be settled", atRest)
	w.stop(t)
	out := map[int64]book{}
	for chat := range w.said {
		out[chat] = w.book(t, fmt.Sprintf("telegram-chat-%d", chat))
	}
	return out
}

// inWorlds does the kills of a test in several worlds at once, each with a seed of its own.
func inWorlds(t *testing.T, worlds, kills int, do func(t *testing.T, path string, random *rand.Rand, kills int)) {
	t.Helper()
	path := killable(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	t.Run("worlds", func(t *testing.T) {
		for n := range worlds {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				do(t, path, rand.New(rand.NewPCG(seed, uint64(n))), (kills+worlds-1-n)/worlds)
			})
		}
	})
}

// tally sums up what happened in all worlds of a test.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (y *tally) add(name string, n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.counts == nil {
		y.counts = map[string]int{}
	}
	y.counts[name] += n
}

// report prints the line that the soak sums up.
func (y *tally) report(t *testing.T, row string) {
	t.Helper()
	var out strings.Builder
	for _, name := range []string{"kills", "acknowledged", "lost", "doubled", "excused"} {
		fmt.Fprintf(&out, " %s=%d", name, y.counts[name])
	}
	var more []string
	for name, n := range y.counts {
		if !strings.Contains(out.String(), " "+name+"=") {
			more = append(more, fmt.Sprintf(" %s=%d", name, n))
		}
	}
	slices.Sort(more)
	t.Logf("soak: row=%s%s%s", row, out.String(), strings.Join(more, ""))
}
