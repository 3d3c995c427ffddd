package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages"
)

// visitor is a person's client, or a program, that uses the platform over a socket. It sends one
// message after the other, repeating each until it is accepted.
type visitor struct {
	t      *testing.T
	live   *platformtest.Live
	client *http.Client
	life   context.Context //nolint:containedctx // of the test: requests end with it
	work   sync.WaitGroup
	addr   chan string // of the server, once it listens
	send   func(v *visitor, base string, m letter) bool
	via    func(addr string) string // maps the server's address to a proxy's; nil for a direct connection

	mu    sync.Mutex
	sent  []letter
	queue chan letter
	shown []string
	known map[string]bool // answers that were shown
	cut   context.CancelFunc
}

// letter is a message to deliver.
type letter struct{ id, text string }

const suiteChat = "suite"

func newVisitor(t *testing.T, send func(*visitor, string, letter) bool) (*visitor, *web.Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v := &visitor{
		t: t, live: platformtest.NewLive(), client: &http.Client{Transport: &http.Transport{}}, life: ctx,
		addr: make(chan string, 1), send: send, queue: make(chan letter, 100), known: map[string]bool{},
	}
	p, err := web.New(web.Options{
		Live: v.live, Open: true, Listen: "127.0.0.1:0", Heartbeat: 100 * time.Millisecond, Owner: platform.Person{ID: "owner", Name: "Ann"}, APIToken: func() string { return "api-token-of-the-test" },
		Listening: func(a net.Addr) {
			addr := a.String()
			if v.via != nil {
				addr = v.via(addr)
			}
			v.addr <- "http://" + addr
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		v.work.Wait()
		v.client.CloseIdleConnections()
	})
	v.work.Go(v.deliver)
	return v, p
}

// base waits for the server and returns its URL.
func (v *visitor) base() string {
	select {
	case base := <-v.addr:
		v.addr <- base
		return base
	case <-v.life.Done():
		return ""
	}
}

// deliver sends the queued messages, in order.
func (v *visitor) deliver() {
	base := v.base()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-v.life.Done():
			return
		case m := <-v.queue:
			for v.life.Err() == nil && !v.send(v, base, m) {
				<-again.C
			}
		}
	}
}

func (v *visitor) say(_ platform.Target, text string) string {
	v.mu.Lock()
	m := letter{fmt.Sprintf("m%d", len(v.sent)+1), text}
	v.sent = append(v.sent, m)
	v.mu.Unlock()
	v.queue <- m
	return m.id
}

func (v *visitor) repeat() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.sent {
		v.queue <- m
	}
}

func (v *visitor) answer(to platform.Target, text string) {
	if err := v.live.Answer(to.ChatKey, text); err != nil {
		v.t.Error(err)
	}
}

// show records an answer that people see, once.
func (v *visitor) show(id, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if text != "" && !v.known[id] {
		v.known[id] = true
		v.shown = append(v.shown, text)
	}
}

func (v *visitor) see(platform.Target) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.shown...)
}

// post sends a body and returns the response, or nil if there is none.
func (v *visitor) post(ctx context.Context, url string, body any) (status int, answer []byte) {
	raw, err := json.Marshal(body)
	if err != nil {
		v.t.Error(err)
		return 0, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		v.t.Error(err)
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "respond-async")
	req.Header.Set("Authorization", "Bearer api-token-of-the-test")
	res, err := v.client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = res.Body.Close() }() // everything was read
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	return res.StatusCode, answer
}

// patience is how long a client waits for a sign of life: many times the server's heartbeat, so
// that only a connection that broke silently takes as long.
const patience = 3 * time.Second

// postChat sends a message like the page's client, which waits until it is accepted.
func postChat(v *visitor, base string, m letter) bool {
	ctx, cancel := context.WithTimeout(v.life, patience)
	defer cancel()
	status, _ := v.post(ctx, base+"/api/chat", map[string]any{"id": suiteChat, "message": map[string]any{
		"id": m.id, "role": "user", "parts": []any{map[string]any{"type": "text", "text": m.text}},
	}})
	return status == http.StatusAccepted
}

// follow reads the chat live, and reconnects whenever the connection breaks.
func (v *visitor) follow() {
	base := v.base()
	for v.life.Err() == nil {
		ctx, cancel := context.WithCancel(v.life)
		v.mu.Lock()
		v.cut = cancel
		v.mu.Unlock()
		v.read(ctx, base)
		cancel()
	}
}

// read reads one connection to its end.
func (v *visitor) read(ctx context.Context, base string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(patience, cancel)
	defer silent.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/chat/"+suiteChat+"/events", http.NoBody)
	if err != nil {
		v.t.Error(err)
		return
	}
	res, err := v.client.Do(req)
	if err != nil {
		return
	}
	defer func() { _ = res.Body.Close() }() // as much as could be was read
	texts := map[string]string{}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		silent.Reset(patience)
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Kind, MessageID string
			Chunks          []struct{ Type, Delta string }
			Messages        []struct {
				ID, Role string
				Parts    []struct{ Type, Text string }
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			v.t.Errorf("event: %v", err)
			return
		}
		for _, m := range e.Messages {
			for _, p := range m.Parts {
				if m.Role == "assistant" && p.Type == "text" {
					v.show(m.ID, p.Text)
				}
			}
		}
		for _, c := range e.Chunks {
			texts[e.MessageID] += c.Delta
		}
		if e.Kind == string(platform.FrameEnd) {
			v.show(e.MessageID, texts[e.MessageID])
		}
	}
}

func (v *visitor) cutOff() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.cut != nil {
		v.cut()
	}
}

// press sends what the page sends when somebody presses a button.
func (v *visitor) press(_ platform.Target, ask messages.Ask, approve bool) {
	status, answer := v.post(v.life, v.base()+"/api/chat", map[string]any{"id": suiteChat, "message": map[string]any{
		"id": "a-1", "role": "assistant", "parts": []any{map[string]any{
			"type": "tool-rm", "toolCallId": "c1", "state": "approval-responded", "input": map[string]any{},
			"approval": map[string]any{"id": ask.ApprovalID, "approved": approve},
		}},
	}})
	if status != http.StatusAccepted {
		v.t.Errorf("a button: %d %s", status, answer)
	}
}

func suiteTarget(name string) platform.Target {
	return platform.Target{ChatKey: messages.NewChatKey(name, "", suiteChat, 0), Chat: suiteChat, ChatType: name}
}

func (v *visitor) harness(p platform.Platform) platformtest.Harness {
	return platformtest.Harness{
		Platform: p, Core: v.live.Host, Chat: suiteTarget(p.Name()), Say: v.say, Repeat: v.repeat, Shown: v.see, Answer: v.answer, Cut: v.cutOff,
	}
}

// TestSuite runs the suite over a socket with the page's client and a reader of events.
func TestSuite(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		v, p := newVisitor(t, postChat)
		v.work.Go(v.follow)
		h := v.harness(p)
		h.Press, h.Decided = v.press, v.live.Decided
		return h
	})
}

// TestSuiteOfTheAPI runs it with POST /api/execute over a socket, as a program uses it.
func TestSuiteOfTheAPI(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		v, p := newVisitor(t, execute)
		return v.harness(p.API())
	})
}

// execute sends the request in the background, since the response arrives at the end of the run,
// and returns once the message is accepted. If the response is cut off, it is requested again.
func execute(v *visitor, base string, m letter) bool {
	done := make(chan struct{})
	v.work.Go(func() {
		defer close(done)
		for v.life.Err() == nil {
			ctx, cancel := context.WithCancel(v.life)
			v.mu.Lock()
			v.cut = cancel
			v.mu.Unlock()
			status, answer := v.post(ctx, base+"/api/execute", map[string]string{"instructions": m.text, "chatId": suiteChat, "userId": "ann", "messageId": m.id})
			cancel()
			var out struct{ Output string }
			if status == http.StatusOK && json.Unmarshal(answer, &out) == nil {
				v.show(m.id, out.Output)
				return
			}
		}
	})
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		for _, in := range v.live.Taken() {
			if in.MessageID == m.id {
				return true
			}
		}
		select {
		case <-done:
			return true
		case <-v.life.Done():
			return false
		case <-look.C:
		}
	}
}

// TestIO13Web lets the network between people and the web break, fall silent and recover. What
// people said meanwhile is accepted once and in order, and the answers are read in order.
func TestIO13Web(t *testing.T) {
	for _, line := range []faketest.Line{faketest.Breaking, faketest.Silent} {
		t.Run(string(line), func(t *testing.T) {
			v, p := newVisitor(t, postChat)
			var proxy *faketest.Proxy
			v.via = func(addr string) string {
				proxy = faketest.NewProxy(t, addr)
				return proxy.Address()
			}
			served := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { served <- p.Receive(ctx, v.live) }()
			t.Cleanup(func() {
				cancel()
				if err := <-served; err != nil {
					t.Errorf("Receive: %v", err)
				}
			})
			v.work.Go(v.follow)
			to := suiteTarget("web")
			var said, answered []string
			exchange := func(text string, seen bool) {
				t.Helper()
				v.say(to, "ask "+text)
				said = append(said, "ask "+text)
				if seen {
					v.live.AwaitTaken(t, len(said))
				}
				v.answer(to, "answer "+text)
				answered = append(answered, "answer "+text)
			}
			v.base()
			exchange("before", true)
			v.awaitShown(t, len(answered))
			proxy.Set(line)
			for i := range 20 {
				exchange(fmt.Sprint("while away ", i), false)
			}
			if os.Getenv("SOAK") != "" {
				<-time.After(10 * time.Minute)
			}
			proxy.Set(faketest.Passing)
			back := time.Now()
			v.live.AwaitTaken(t, len(said))
			v.awaitShown(t, len(answered))
			exchange("after", true)
			v.awaitShown(t, len(answered))
			took := time.Since(back)
			var taken []string
			for _, in := range v.live.Taken() {
				taken = append(taken, in.Text)
			}
			if diff := cmp.Diff(said, taken); diff != "" {
				t.Errorf("taken (-said +taken):\n%s", diff)
			}
			if diff := cmp.Diff(answered, v.see(to)); diff != "" {
				t.Errorf("read (-answered +read):\n%s", diff)
			}
			t.Logf("soak: row=IO13 platform=web line=%s lost=0 double=0 back_after=%v", line, took.Round(10*time.Millisecond))
			if os.Getenv("SOAK") != "" && took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// awaitShown waits until people see n answers.
func (v *visitor) awaitShown(t *testing.T, n int) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for len(v.see(platform.Target{})) < n {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("%d answers are seen, want %d", len(v.see(platform.Target{})), n)
		}
	}
}
