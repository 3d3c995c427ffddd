package modeltest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// WireEvent is one event of an answer as a server sends it.
type WireEvent struct {
	Name string // of the event, if the protocol has names
	Data string // a JSON object, or the end mark
}

// parseEvents reads what a server of a test has sent.
func parseEvents(body string) (list []WireEvent) {
	for text := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		var e WireEvent
		for line := range strings.SplitSeq(text, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.Name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				e.Data = data
			}
		}
		list = append(list, e)
	}
	return list
}

// encodeEvents encodes events like a careful server.
func encodeEvents(list []WireEvent) string {
	var b strings.Builder
	for _, e := range list {
		if e.Name != "" {
			b.WriteString("event: " + e.Name + "\n")
		}
		b.WriteString("data: " + e.Data + "\n\n")
	}
	return b.String()
}

// Raw is an answer as bytes, for answers that a script cannot express, such as web pages, silence, or streams without an
// end. The zero value is an empty answer with status 200.
type Raw struct {
	Status int    // 0 means 200
	Type   string // content type; the default is text/event-stream
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

	// Header is one more header: a name, ": " and a value.
	Header string

	piece int // how many bytes are sent at once; 0 means all
	gzip  bool
	end   ending
}

// ending is what happens to the connection after the body.
type ending int

const (
	endWhole    ending = iota
	endSilent          // as with Hold
	endCut             // it is closed within the chunks of HTTP
	endShort           // it is closed before the announced length
	endUnmarked        // it is closed, which is the only sign of the end
	endReset           // it is reset before there is an answer
)

// Events is a stream with an event for each of the data.
func Events(data ...string) Raw {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return Raw{Body: b.String()}
}

// Short is an answer that is cut before its announced length.
func Short(body string) Raw { return Raw{Body: body, end: endShort} }

// Delta is the data of a chunk with a delta, which is a JSON object, and a finish reason. An empty reason is sent as null.
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

// RawServer plays raw answers in order, for any requests. The last one is repeated.
type RawServer struct {
	Endpoint

	mu       sync.Mutex
	answers  []Raw
	requests []RawRequest
}

// NewRawServer starts a server on loopback. The caller closes it.
func NewRawServer(answers ...Raw) *RawServer {
	s := &RawServer{answers: answers}
	s.Listen(nil, "", http.HandlerFunc(s.answer))
	return s
}

// Requests returns the requests so far.
func (s *RawServer) Requests() []RawRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Play replaces the remaining answers.
func (s *RawServer) Play(answers ...Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = answers
}

func (s *RawServer) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return
	}
	s.take(RawRequest{r.URL.Path, r.URL.Query(), r.Header.Clone(), string(body)}).Play(w, r)
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

// Play answers a request.
func (a Raw) Play(w http.ResponseWriter, r *http.Request) {
	switch {
	case a.end == endReset:
		faketest.Reset(w)
		return
	case a.Hold && a.NoHeaders:
		<-r.Context().Done()
		return
	}
	pause(r, a.After)
	a.head(w.Header())
	w.WriteHeader(cmp.Or(a.Status, http.StatusOK))
	a.write(w)
	if a.end == endCut {
		panic(http.ErrAbortHandler)
	}
	pause(r, a.Linger)
	if a.Hold || a.end == endSilent {
		silence(w, r, a.Ping)
	}
}

// pause waits for a time, or until the client disconnects.
func pause(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	}
}

func (a Raw) head(h http.Header) {
	h.Set("Content-Type", cmp.Or(a.Type, "text/event-stream"))
	if name, value, ok := strings.Cut(a.Header, ": "); ok {
		h.Set(name, value)
	}
	if a.end == endShort {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)+100))
	}
	if a.end == endUnmarked {
		h.Set("Transfer-Encoding", "identity")
	}
	if a.gzip {
		h.Set("Content-Encoding", "gzip")
	}
}

// write sends the body. A client that left ends the request's context.
func (a Raw) write(w http.ResponseWriter) {
	flush := http.NewResponseController(w).Flush
	if a.gzip {
		z := gzip.NewWriter(w)
		for event := range strings.SplitAfterSeq(a.Body, "\n\n") {
			_, _ = io.WriteString(z, event)
			_ = z.Flush()
			_ = flush()
		}
		_ = z.Close()
		return
	}
	size := cmp.Or(a.piece, len(a.Body), 1)
	for rest := a.Body; rest != ""; {
		n := min(size, len(rest))
		_, _ = io.WriteString(w, rest[:n])
		_ = flush()
		rest = rest[n:]
	}
	_ = flush()
}

// silence waits until the client disconnects. If every is positive, comments are sent at this interval.
func silence(w http.ResponseWriter, r *http.Request, every time.Duration) {
	var ping <-chan time.Time
	if every > 0 {
		t := time.NewTicker(every)
		defer t.Stop()
		ping = t.C
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-ping:
			_, _ = io.WriteString(w, ": ping\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// indented is the data of an event on several lines.
func indented(data string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(data), "", " ") != nil {
		return data
	}
	return b.String()
}
