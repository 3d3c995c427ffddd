package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// located is a host that tells a test where the platform listens.
type located struct {
	*platformtest.Live
	at chan string
}

func (l located) Status(up bool, note string) {
	if up {
		l.at <- strings.TrimPrefix(note, "http://")
	}
}

// receive runs the platform's own server and returns its address and its result.
func receive(t *testing.T, change func(*Options)) (addr string, live *platformtest.Live, stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	live = platformtest.NewLive()
	host := located{live, make(chan string, 1)}
	opts := Options{Live: live, Open: true, Listen: "127.0.0.1:0"}
	if change != nil {
		change(&opts)
	}
	p, err := New(opts)
	stdtest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		done <- p.Receive(ctx, host)
	}()
	t.Cleanup(func() {
		cancel()
		<-returned // the server waits for its connections, so none outlives the test
	})
	select {
	case addr := <-host.at:
		return addr, live, cancel, done
	case err := <-done:
		t.Fatalf("the server did not start: %v", err)
	}
	return "", nil, nil, nil
}

// fetch sends a request; a body is JSON.
func fetch(t *testing.T, method, url, body string) *reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	return send(t, http.DefaultClient, req)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	stdtest.Must(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return c
}

func TestTakenPortSaysSo(t *testing.T) {
	addr, _, _, _ := receive(t, nil)
	p, err := New(Options{Live: platformtest.NewLive(), Open: true, Listen: addr})
	stdtest.Must(t, err)
	err = p.Receive(t.Context(), platformtest.NewLive())
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want a taken port", err)
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	addr, live, stop, ended := receive(t, nil)
	live.Start(key, "r1", "a1")
	s := newSSE(t, fetch(t, "GET", "http://"+addr+"/api/chat/c1/stream", ""))
	s.want(`data: {"type":"start","messageId":"a1"}`)
	stop()
	s.want("broken") // not the end of the stream: the reader resumes elsewhere
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("got %v, want nil", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server does not stop")
	}
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr); err == nil {
		t.Error("the port is still open")
	}
}

// WE6: large bodies and headers are refused without reading all of them.
func TestWE6Limits(t *testing.T) {
	addr, _, _, _ := receive(t, func(o *Options) { withToken(o) })
	post := func(size int64) (status int, left int64) {
		body := &blanks{left: size}
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+addr+"/api/chat", body)
		stdtest.Must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+testToken)
		status = send(t, http.DefaultClient, req).StatusCode
		body.mu.Lock()
		defer body.mu.Unlock()
		return status, body.left
	}
	if got, _ := post(1<<20 + 1); got != 413 {
		t.Errorf("body above 1 MiB: got %d, want 413", got)
	}
	if got, _ := post(1 << 20); got != 400 {
		t.Errorf("body of 1 MiB: got %d, want 400", got)
	}
	// Far more than the limit and all socket buffers together.
	if got, left := post(256 << 20); got != 413 || left == 0 {
		t.Errorf("body of 256 MiB: got %d with %d bytes unread, want 413 and most of it unread", got, left)
	}
	for size, want := range map[int]int{15 << 10: 200, 17 << 10: 431} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+addr+"/livez", nil)
		stdtest.Must(t, err)
		req.Header.Set("X-Fill", strings.Repeat("x", size))
		if got := send(t, http.DefaultClient, req).StatusCode; got != want {
			t.Errorf("header of %d bytes: got %d, want %d", size, got, want)
		}
	}
}

// blanks is a body of spaces that counts how much of it was not read.
type blanks struct {
	mu   sync.Mutex
	left int64
}

func (b *blanks) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), b.left))
	for i := range p[:n] {
		p[i] = ' '
	}
	b.left -= int64(n)
	return n, nil
}

// WE7: a body that trickles in is cut off, with or without a token, while others are served.
func TestWE7SlowBodiesAndIdleSockets(t *testing.T) {
	addr, live, _, _ := receive(t, func(o *Options) { o.BodyTimeout = 150 * time.Millisecond })
	live.OnAccept = live.Echo
	for range 200 {
		dial(t, addr) // idle, before anything is sent
	}
	head := "POST /api/chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n"
	for name, extra := range map[string]string{"read": "\r\n{", "refused": "Origin: http://evil.example\r\n\r\n{"} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, addr)
			if _, err := io.WriteString(c, head+extra); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(c) // ends when the server closes the connection
			if err != nil && !errors.Is(err, io.EOF) && len(answer) == 0 {
				t.Errorf("got %q, %v", answer, err)
			}
			if s := string(answer); s != "" && !strings.Contains(s, " 408 ") && !strings.Contains(s, " 403 ") {
				t.Errorf("got %.60q", s)
			}
		})
	}
	if body := readAll(t, fetch(t, "POST", "http://"+addr+"/api/chat", submit("c1", "u1", "hi"))); !strings.Contains(body, "You said: hi") {
		t.Errorf("others are not served: %s", body)
	}
}

// A stream outlives the time limit of its request's body.
func TestStreamOutlivesBodyTimeout(t *testing.T) {
	addr, live, _, _ := receive(t, func(o *Options) { o.BodyTimeout, o.Heartbeat = 50*time.Millisecond, 20*time.Millisecond })
	s := newSSE(t, fetch(t, "POST", "http://"+addr+"/api/chat", submit("c1", "u1", "hi")))
	for range 10 { // 200 ms of comments
		s.any()
	}
	live.Start(key, "r1", "a1")
	live.End(key, true, "done")
	s.wantStart("a1")
	s.want(`data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
}

// A reader that reads nothing is dropped and may resume.
func TestOV3SlowReaderIsDropped(t *testing.T) {
	reg := prometheus.NewRegistry()
	addr, live, _, _ := receive(t, func(o *Options) { o.WriteTimeout, o.Registerer = 100*time.Millisecond, reg })
	live.Start(key, "r1", "a1")
	c := dial(t, addr)
	if _, err := io.WriteString(c, "GET /api/chat/c1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 16) // the response has begun; nothing more is read
	if _, err := io.ReadFull(c, line); err != nil {
		t.Fatal(err)
	}
	big := uistream.TextDelta{ID: "t", Delta: strings.Repeat("x", 64<<10)}
	live.Lock()
	chat := live.Chat(key)
	for range 400 { // 25 MiB: more than the sockets can buffer
		chat.Send(platform.Frame{Kind: platform.FrameChunks, ChatKey: key, MessageID: "a1", Chunks: []uistream.Chunk{big}})
	}
	live.Unlock()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if dropped := metricValue(t, reg, "sma_http_streams_dropped_total"); dropped == 1 && metricValue(t, reg, "sma_http_streams") == 0 {
				return
			}
		case <-deadline:
			t.Fatal("the reader was not dropped")
		}
	}
}

func metricValue(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	stdtest.Must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return -1
}

func TestMetricsHaveFewLabels(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := newServer(t, func(o *Options) { o.Registerer = reg })
	for i := range 50 {
		s.do(t, "GET", fmt.Sprintf("/api/chat/chat-%d", i), "")
		s.do(t, "GET", fmt.Sprintf("/nothing/%d", i), "")
	}
	if n, err := testutil.GatherAndCount(reg, "sma_http_requests_total"); err != nil || n > 3 {
		t.Errorf("got %d series, %v; want at most 3", n, err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("metric lint: %v %v", problems, err)
	}
}

// The watch of a chat may end at any time, for example when the chat is passivated.
func TestEventsEndWithTheWatch(t *testing.T) {
	s := newServer(t, nil)
	stream := newSSE(t, s.do(t, "GET", "/api/chat/c1/events", ""))
	stream.want(`data: {"kind":"view","messages":[],"waiting":[],"running":false,"counts":{"accepted":0,"open":0,"fates":null,"outboxPending":0}}`)
	s.live.Watched(t, key)
	s.live.DropWatchers(key)
	stream.want("")
}

func TestEvents(t *testing.T) {
	s := newServer(t, nil)
	s.live.Seed(key, "u1", "a1")
	stream := newSSE(t, s.do(t, "GET", "/api/chat/c1/events", ""))
	if got := stream.next(); !strings.Contains(got, `"kind":"view"`) || !strings.Contains(got, "text of a1") {
		t.Fatalf("got %s, want the view", got)
	}
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u2", "<two>"), "Prefer", "respond-async"))
	s.live.Start(key, "r1", "a2")
	s.live.Chunk(key, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "<i>"})
	s.live.Lock()
	s.live.Chat(key).Send(platform.Frame{Kind: platform.FrameEvent, RunID: "r1", Event: platform.Event{Name: "tool_summary", Step: 1, Text: "ok"}})
	s.live.Unlock()
	s.live.End(key, true, "done")
	stream.want(
		`data: {"kind":"start","runId":"r1","messageId":"a2","sees":["u2"],"turns":[{"id":"u2","role":"user","parts":[{"type":"text","text":"<two>"}]}]}`,
		`data: {"kind":"chunks","runId":"r1","messageId":"a2","chunks":[{"type":"text-start","id":"t"},{"type":"text-delta","id":"t","delta":"<i>"}]}`,
		`data: {"kind":"event","runId":"r1","event":{"name":"tool_summary","step":1,"text":"ok"}}`,
		`data: {"kind":"end","runId":"r1","messageId":"a2","last":true,"result":"done","settled":["u2"]}`)
}

// With many readers of one chat, and writers, there are no races and every reader gets the end.
func TestManyReaders(t *testing.T) {
	s := newServer(t, nil)
	s.live.Start(key, "r1", "a1")
	var wg sync.WaitGroup
	for range 20 {
		res := s.do(t, "GET", "/api/chat/c1/stream", "")
		wg.Go(func() {
			last := ""
			for scan := bufio.NewScanner(res.body); scan.Scan(); {
				if scan.Text() != "" {
					last = scan.Text()
				}
			}
			if last != "data: [DONE]" {
				t.Errorf("a reader ended with %q", last)
			}
		})
	}
	for range 50 {
		s.live.Say(key, "x")
	}
	s.live.End(key, true, "done")
	wg.Wait()
}
