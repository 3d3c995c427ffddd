package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// MaxBody bounds the requests that servers read.
const MaxBody = 32 << 20

// Protocol is what the server of a protocol adds to its [Endpoint].
type Protocol interface {
	// Key returns the key of a request.
	Key(h http.Header) string
	// Accept decodes and checks a body. It is called with the record locked.
	Accept(h http.Header, body []byte) (Answer, error)
	// Refuse answers with an error instead of a stream. The error may wrap one of Accept.
	Refuse(w http.ResponseWriter, e *model.Error)
}

// Answer is the answer to a request that was accepted.
type Answer interface {
	// Request is the request for the server's model.
	Request() model.Request
	// Account counts the prompt. It is called with the record locked.
	Account() Accounting
	// Event sends an event of the model. It fails if the protocol cannot express the event.
	Event(s *Stream, e model.Event) error
	// Fail sends an error within the answer. It returns false if the protocol breaks the connection instead.
	Fail(s *Stream, e *model.Error) bool
}

// Endpoint is the common part of the servers of all protocols: an address, a model, and a record of the requests.
type Endpoint struct {
	// URL is the base URL, ending in /v1.
	URL string

	model  model.Model
	key    string
	http   *httptest.Server
	mu     sync.Mutex
	record Record
}

// Record are the requests and faults of an [Endpoint].
type Record struct {
	Bodies [][]byte // of the requests, refused ones included
	Faults []error  // why requests were refused, and events of scripts that the protocol cannot express
	Calls  []Accounting
}

// fault adds a fault, unless it is nil.
func (r *Record) fault(fault error) {
	if fault != nil {
		r.Faults = append(r.Faults, fault)
	}
}

// Listen starts the endpoint on loopback, for requests with the key, or for all requests if it is empty. The caller
// closes it.
func (e *Endpoint) Listen(m model.Model, key string, h http.Handler) {
	e.model, e.key = m, key
	e.http = httptest.NewServer(h)
	e.URL = e.http.URL + "/v1"
}

// Close ends every connection and stops the server.
func (e *Endpoint) Close() {
	e.http.CloseClientConnections()
	e.http.Close()
}

// ServeHTTP implements [http.Handler], for a test's own server that changes the answers.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.http.Config.Handler.ServeHTTP(w, r)
}

// Serve answers requests of a protocol with the model.
func (e *Endpoint) Serve(p Protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		body, ok := e.admit(w, req, p)
		if !ok {
			return
		}
		var a Answer
		var err error
		s := &Stream{of: e, w: w}
		e.Locked(func(r *Record) {
			a, err = p.Accept(req.Header, body)
			s.Bill.Body = len(r.Bodies)
			r.Bodies = append(r.Bodies, body)
			r.fault(err)
		})
		if err != nil {
			p.Refuse(w, &model.Error{Reason: model.ReasonBadRequest, Status: http.StatusBadRequest, Message: err.Error(), Err: err})
			return
		}
		s.play(req, p, a)
	}
}

// admit reads the body of a request with the key, and refuses others.
func (e *Endpoint) admit(w http.ResponseWriter, r *http.Request, p Protocol) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	switch {
	case err != nil:
		p.Refuse(w, &model.Error{Reason: model.ReasonBadRequest, Status: http.StatusRequestEntityTooLarge, Message: "Request exceeds the maximum size"})
	case e.key != "" && p.Key(r.Header) != e.key:
		p.Refuse(w, &model.Error{Reason: model.ReasonAuth, Status: http.StatusUnauthorized, Message: "Incorrect API key provided"})
	default:
		return body, true
	}
	return nil, false
}

// Stream is an answer that is being sent.
type Stream struct {
	Bill     Accounting
	Call     int  // the index of its accounting in the server's Calls
	Begun    bool // something was sent
	Finished bool

	of *Endpoint
	w  http.ResponseWriter
}

func (s *Stream) play(r *http.Request, p Protocol, a Answer) {
	billed := false
	for e, err := range s.of.model.Stream(r.Context(), a.Request()) {
		if err != nil {
			failed, ok := errors.AsType[*model.Error](err)
			if !ok {
				failed = &model.Error{Reason: model.ReasonInternal, Message: err.Error()}
			}
			if !s.Begun {
				p.Refuse(s.w, failed)
			} else if !a.Fail(s, failed) {
				break
			}
			return
		}
		if !billed {
			billed = true
			s.of.Locked(func(r *Record) {
				number := s.Bill.Body
				s.Bill, s.Call = a.Account(), len(r.Calls)
				s.Bill.Body = number
				r.Calls = append(r.Calls, s.Bill)
			})
		}
		if err := a.Event(s, e); err != nil {
			s.of.Locked(func(r *Record) { r.fault(err) })
			break
		}
	}
	if !s.Finished {
		panic(http.ErrAbortHandler)
	}
}

// Header is the header of the answer. Changes after its beginning have no effect.
func (s *Stream) Header() http.Header { return s.w.Header() }

// Send sends a text unchanged, or another value as JSON, in an event whose name may be empty.
func (s *Stream) Send(name string, data any) {
	text, ok := data.(string)
	if !ok {
		raw, err := json.Marshal(data)
		if err != nil {
			return // Unreachable: events are strings and numbers.
		}
		text = string(raw)
	}
	if !s.Begun {
		s.Begun = true
		s.w.Header().Set("Content-Type", cmp.Or(s.w.Header().Get("Content-Type"), "text/event-stream"))
	}
	_, _ = io.WriteString(s.w, encodeEvents([]WireEvent{{name, text}})) // a client that left ends the request's context
	_ = http.NewResponseController(s.w).Flush()
}

// Finish accounts for the output in tokens.
func (s *Stream) Finish(output int) {
	s.Finished, s.Bill.Output = true, output
	s.of.Locked(func(r *Record) { r.Calls[s.Call].Output = output })
}

// Bearer returns the bearer token of a request.
func Bearer(h http.Header) string {
	key, isBearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !isBearer {
		return ""
	}
	return key
}

// RetryAfter sets the delay that a client shall wait, unless it is 0.
func RetryAfter(h http.Header, d time.Duration) {
	if d > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
	}
}

// WriteJSON answers with a value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// WellNamed reports whether a name matches ^[a-zA-Z0-9_-]{1,64}$, as the names of tools must.
func WellNamed(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

// Locked calls f with the record. A server guards its own state by this lock as well.
func (e *Endpoint) Locked(f func(*Record)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.record)
}

// Bodies returns the request bodies so far, refused ones included.
func (e *Endpoint) Bodies() (out [][]byte) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Bodies) })
	return out
}

// Faults returns the rules that refused requests broke, and the events of scripts that the protocol cannot express. A
// test should expect none.
func (e *Endpoint) Faults() (out []error) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Faults) })
	return out
}

// Calls returns what calls are billed for, in the order in which their answers began. Output is 0
// until an answer has ended.
func (e *Endpoint) Calls() (out []Accounting) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Calls) })
	return out
}
