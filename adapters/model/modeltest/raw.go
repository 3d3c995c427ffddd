package modeltest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Raw is an answer as bytes, for what servers send that no script says: web pages,
// silence, streams without an end. The zero value is an empty 200.
type Raw struct {
	Status int    // 0: 200
	Type   string // content type; empty: text/event-stream
	Body   string
	// After is how long nothing at all is sent.
	After time.Duration
	// NoHeaders holds back the headers, too, with Hold.
	NoHeaders bool
	// Hold keeps the connection open after the body until the client leaves. Ping, if
	// set, is the time between comments that are sent meanwhile.
	Hold bool
	Ping time.Duration
	// Linger is how long the connection stays open after the body.
	Linger time.Duration
}

// Events is a stream of these data, each in an event of its own.
func Events(data ...string) Raw {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return Raw{Body: b.String()}
}

// Delta is the data of a chunk with this delta, a JSON object, and finish reason; an
// empty one is null.
func Delta(delta, finish string) string {
	if finish == "" {
		finish = "null"
	} else {
		finish = `"` + finish + `"`
	}
	return `{"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
}

// RawRequest is a request that a [RawServer] got.
type RawRequest struct {
	Path   string
	Query  url.Values
	Header http.Header
	Body   string
}

// RawServer plays raw answers in order, whatever it is asked; the last one is repeated.
type RawServer struct {
	// URL is the base URL, ending in /v1.
	URL string

	http     *httptest.Server
	mu       sync.Mutex
	answers  []Raw
	requests []RawRequest
}

// NewRawServer starts a server on loopback. Close it.
func NewRawServer(answers ...Raw) *RawServer {
	s := &RawServer{answers: answers}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends every connection and stops the server.
func (s *RawServer) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the requests so far.
func (s *RawServer) Requests() []RawRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Play replaces the answers that are left.
func (s *RawServer) Play(answers ...Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = answers
}

// ServeHTTP implements [http.Handler].
func (s *RawServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	s.take(RawRequest{r.URL.Path, r.URL.Query(), r.Header.Clone(), string(body)}).play(w, r)
}

func (s *RawServer) take(r RawRequest) Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.answers) == 0 {
		return Raw{}
	}
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return a
}

func (a Raw) play(w http.ResponseWriter, r *http.Request) {
	if a.Hold && a.NoHeaders {
		<-r.Context().Done()
		return
	}
	select {
	case <-time.After(a.After):
	case <-r.Context().Done():
		return
	}
	kind, status := a.Type, a.Status
	if kind == "" {
		kind = "text/event-stream"
	}
	if status == 0 {
		status = http.StatusOK
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	flush := http.NewResponseController(w).Flush
	_, _ = io.WriteString(w, a.Body) // a client that left ends the request's context
	_ = flush()
	if a.Linger > 0 {
		select {
		case <-time.After(a.Linger):
		case <-r.Context().Done():
		}
	}
	if a.Hold {
		silence(w, r, a.Ping)
	}
}
