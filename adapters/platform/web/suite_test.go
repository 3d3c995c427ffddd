package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// visitor is a person's client, or a program, that uses the platform over a socket.
type visitor struct {
	*platformtest.Person
	t      *testing.T
	client *http.Client
	life   context.Context //nolint:containedctx // of the test: requests end with it
	work   sync.WaitGroup
	addr   chan string              // of the server, once it listens
	via    func(addr string) string // maps the server's address to a proxy's; nil for a direct connection
}

const suiteChat = "suite"

func newVisitor(t *testing.T, send func(*visitor, string, platformtest.Letter) bool) (*visitor, *web.Platform) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v := &visitor{
		Person: platformtest.NewPerson(t), t: t, client: &http.Client{Transport: &http.Transport{}}, life: ctx, addr: make(chan string, 1),
	}
	p, err := web.New(web.Options{
		Live: v.Live, Open: true, Listen: "127.0.0.1:0", Heartbeat: 100 * time.Millisecond, Owner: platform.Person{ID: "owner", Name: "Ann"}, APIToken: func() string { return "api-token-of-the-test" },
	})
	stdtest.Must(t, err)
	t.Cleanup(func() {
		cancel()
		v.work.Wait()
		v.client.CloseIdleConnections()
	})
	v.work.Go(func() {
		base := v.base()
		v.Deliver(ctx, func(m platformtest.Letter) bool { return send(v, base, m) })
	})
	return v, p
}

// located is a platform that reports its address to its visitor.
type located struct {
	platform.Platform
	v *visitor
}

func (l located) Receive(ctx context.Context, host platform.Host) error {
	return l.Platform.Receive(ctx, locatedHost{host, l.v})
}

type locatedHost struct {
	platform.Host
	v *visitor
}

func (h locatedHost) Status(up bool, note string) {
	h.Host.Status(up, note)
	if !up {
		return
	}
	addr := strings.TrimPrefix(note, "http://")
	if h.v.via != nil {
		addr = h.v.via(addr)
	}
	h.v.addr <- "http://" + addr
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
func postChat(v *visitor, base string, m platformtest.Letter) bool {
	ctx, cancel := context.WithTimeout(v.life, patience)
	defer cancel()
	status, _ := v.post(ctx, base+"/api/chat", map[string]any{"id": suiteChat, "message": map[string]any{
		"id": m.ID, "role": "user", "parts": []any{map[string]any{"type": "text", "text": m.Text}},
	}})
	return status == http.StatusAccepted
}

// follow reads the chat live, and reconnects whenever the connection breaks.
func (v *visitor) follow() {
	base := v.base()
	for v.life.Err() == nil {
		ctx, cancel := v.Connection(v.life)
		v.read(ctx, base)
		cancel()
	}
}

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
					v.Show(m.ID, p.Text)
				}
			}
		}
		for _, c := range e.Chunks {
			texts[e.MessageID] += c.Delta
		}
		if e.Kind == string(platform.FrameEnd) {
			v.Show(e.MessageID, texts[e.MessageID])
		}
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

// TestSuite runs the suite over a socket with the page's client and a reader of events.
func TestSuite(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		v, p := newVisitor(t, postChat)
		v.work.Go(v.follow)
		h := v.Harness(located{p, v}, suiteTarget(p.Name()))
		v.Live.DecidesAll, h.Press, h.Decided = true, v.press, v.Live.Decided
		return h
	})
}

// TestSuiteOfTheAPI runs it with POST /api/execute over a socket, as a program uses it.
func TestSuiteOfTheAPI(t *testing.T) {
	platformtest.Run(t, func(t *testing.T) platformtest.Harness {
		t.Helper()
		v, p := newVisitor(t, execute)
		return v.Harness(located{p.API(), v}, suiteTarget(p.API().Name()))
	})
}

// execute sends the request in the background, since the response arrives at the end of the run,
// and returns once the message is accepted. If the response is cut off, it is requested again.
func execute(v *visitor, base string, m platformtest.Letter) bool {
	done := make(chan struct{})
	v.work.Go(func() {
		defer close(done)
		for v.life.Err() == nil {
			ctx, cancel := v.Connection(v.life)
			status, answer := v.post(ctx, base+"/api/execute", map[string]string{"instructions": m.Text, "chatId": suiteChat, "userId": "ann", "messageId": m.ID})
			cancel()
			var out struct{ Output string }
			if status == http.StatusOK && json.Unmarshal(answer, &out) == nil {
				v.Show(m.ID, out.Output)
				return
			}
		}
	})
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		for _, in := range v.Live.Accepted() {
			if in.MessageID == m.ID {
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
			go func() { served <- located{p, v}.Receive(ctx, v.Live) }()
			t.Cleanup(func() {
				cancel()
				if err := <-served; err != nil {
					t.Errorf("Receive: %v", err)
				}
			})
			v.work.Go(v.follow)
			to := suiteTarget("web")
			h := v.Harness(located{p, v}, to)
			var said, answered []string
			exchange := func(text string, seen bool) {
				t.Helper()
				h.Say(to, "ask "+text)
				said = append(said, "ask "+text)
				if seen {
					v.Live.AwaitAccepted(t, len(said))
				}
				h.Answer(to, "answer "+text)
				answered = append(answered, "answer "+text)
			}
			v.base()
			exchange("before", true)
			awaitShown(t, h, len(answered))
			proxy.Set(line)
			for i := range 20 {
				exchange(fmt.Sprint("while away ", i), false)
			}
			if os.Getenv("SOAK") != "" {
				<-time.After(10 * time.Minute)
			}
			proxy.Set(faketest.Passing)
			back := time.Now()
			v.Live.AwaitAccepted(t, len(said))
			awaitShown(t, h, len(answered))
			exchange("after", true)
			awaitShown(t, h, len(answered))
			took := time.Since(back)
			var taken []string
			for _, in := range v.Live.Accepted() {
				taken = append(taken, in.Text)
			}
			if diff := cmp.Diff(said, taken); diff != "" {
				t.Errorf("taken (-said +taken):\n%s", diff)
			}
			if diff := cmp.Diff(answered, h.Shown(to)); diff != "" {
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
func awaitShown(t *testing.T, h platformtest.Harness, n int) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for len(h.Shown(h.Chat)) < n {
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("%d answers are seen, want %d", len(h.Shown(h.Chat)), n)
		}
	}
}
