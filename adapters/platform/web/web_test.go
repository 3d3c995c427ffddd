package web

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// server is a platform on a real loopback socket.
type server struct {
	*httptest.Server
	p    *Platform
	live *platformtest.Live
}

func newServer(t *testing.T, change func(*Options)) *server {
	t.Helper()
	live := platformtest.NewLive()
	opts := Options{Live: live, Open: true, Info: func() Info { return Info{Project: "Test", Model: "demo", Demo: true} }}
	if change != nil {
		change(&opts)
	}
	p, err := New(opts)
	stdtest.Must(t, err)
	s := &server{Server: httptest.NewServer(p.Handler()), p: p, live: live}
	t.Cleanup(func() { p.Close(); s.CloseClientConnections(); s.Close() })
	return s
}

// reply is a response; its body is closed with the test.
type reply struct {
	StatusCode int
	Header     http.Header
	Cookies    []*http.Cookie
	body       io.ReadCloser
}

func (r *reply) close() { _ = r.body.Close() }

// do sends a request; pairs of header names and values follow the body. A body is JSON.
func (s *server) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	stdtest.Must(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return send(t, client, req)
}

func send(t *testing.T, client *http.Client, req *http.Request) *reply {
	t.Helper()
	res, err := client.Do(req)
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return &reply{StatusCode: res.StatusCode, Header: res.Header, Cookies: res.Cookies(), body: res.Body}
}

func readAll(t *testing.T, res *reply) string {
	t.Helper()
	b, err := io.ReadAll(res.body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	return string(b)
}

// submit is the body that the client sends for a new message.
func submit(chat, id, text string) string {
	b, err := json.Marshal(map[string]any{
		"id": chat, "trigger": "submit-message",
		"messages": []any{map[string]any{"id": id, "role": "user", "parts": []any{map[string]any{"type": "text", "text": text}}}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sse reads a stream frame by frame, including comments.
type sse struct {
	t     *testing.T
	lines chan string
}

func newSSE(t *testing.T, res *reply) *sse {
	t.Helper()
	s := &sse{t: t, lines: make(chan string, 1000)}
	go func() {
		defer close(s.lines)
		scan := bufio.NewScanner(res.body)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			if scan.Text() != "" {
				s.lines <- scan.Text()
			}
		}
		if scan.Err() != nil {
			s.lines <- "broken"
		}
	}()
	return s
}

// next returns the next line that is not a comment; "" at the end, "broken" if the stream was cut.
func (s *sse) next() string {
	s.t.Helper()
	for {
		line := s.any()
		if !strings.HasPrefix(line, ":") {
			return line
		}
	}
}

func (s *sse) any() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(10 * time.Second):
		s.t.Fatal("the stream is silent")
		return ""
	}
}

func (s *sse) want(lines ...string) {
	s.t.Helper()
	for _, want := range lines {
		if got := s.next(); got != want {
			s.t.Fatalf("got line %q, want %q", got, want)
		}
	}
}

// wantStart expects the start of a message, live or from the history if the chat was checked after
// a silence.
func (s *sse) wantStart(id string) {
	s.t.Helper()
	if got := s.next(); !strings.HasPrefix(got, `data: {"type":"start","messageId":"`+id+`"`) {
		s.t.Fatalf("got %q, want the start of %s", got, id)
	}
}

func wantStatus(t *testing.T, res *reply, status int, code string) {
	t.Helper()
	body := readAll(t, res)
	if res.StatusCode != status {
		t.Fatalf("got status %d, want %d; body %s", res.StatusCode, status, body)
	}
	if code != "" && !strings.Contains(body, `"error":"`+code+`"`) {
		t.Errorf("got body %s, want code %s", body, code)
	}
}

func TestPlatformDescribesItself(t *testing.T) {
	p, err := New(Options{Live: platformtest.NewLive(), Open: true})
	stdtest.Must(t, err)
	if p.Name() != "web" || p.Capabilities().Outbox || p.Capabilities().ToolEgress {
		t.Errorf("got %s %+v, want web without outbox, direct egress", p.Name(), p.Capabilities())
	}
	var _ platform.Platform = p
}
