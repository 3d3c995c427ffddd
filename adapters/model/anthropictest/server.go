package anthropictest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

const (
	maxBody          = 32 << 20 // Errors, "Request size limits"
	statusOverloaded = 529
)

// Options configure a [Server]; the zero value is useful.
type Options struct {
	// Key, if set, must be the x-api-key; other requests get a 401. Signatures depend on it.
	Key string
	// Lenient takes requests that break the rules.
	Lenient bool
	// MinCacheTokens is the shortest prefix that is cached; 0 means 1024.
	MinCacheTokens int
}

// Server is a Messages endpoint in front of a model. What the model does wrong, the server does
// wrong in its own way:
//
//   - an error before the first event is answered by its Status, or the one usual for its reason,
//     with retry-after;
//   - an error of reason overloaded or rate after it is an error event in the stream;
//   - any other error after it breaks the connection off;
//   - a model that stalls leaves the connection silent.
//
// It remembers the thinking of its answers and the prefixes that it cached.
type Server struct {
	modeltest.Endpoint

	model    model.Model
	opts     Options
	requests atomic.Int64

	cache    cache
	thoughts map[string]bool     // what [thought] says of blocks that were sent
	answers  map[string][]string // the fingerprints of the answers with a call, by its id
}

// NewServer starts a server on loopback. Close it.
func NewServer(m model.Model, opts Options) *Server {
	opts.MinCacheTokens = cmp.Or(opts.MinCacheTokens, 1024)
	s := &Server{model: m, opts: opts, cache: cache{}, thoughts: map[string]bool{}, answers: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.handle("create", s.create))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.handle("count", s.count))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { s.fail(w, http.StatusNotFound, "Not found") })
	s.Listen(mux)
	return s
}

// handle checks a request before it is answered.
func (s *Server) handle(request string, answer func(http.ResponseWriter, *http.Request, wireBody)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Request-Id", fmt.Sprintf("req_%04d", s.requests.Add(1)))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			s.fail(w, http.StatusRequestEntityTooLarge, "Request exceeds the maximum size")
			return
		}
		if s.opts.Key != "" && r.Header.Get("X-Api-Key") != s.opts.Key {
			s.fail(w, http.StatusUnauthorized, "invalid x-api-key")
			return
		}
		var b wireBody
		s.Locked(func(seen *modeltest.Record) {
			b, err = s.accept(seen, body, request, r.Header.Get("Anthropic-Version"))
		})
		if err != nil {
			s.fail(w, http.StatusBadRequest, err.Error())
			return
		}
		answer(w, r, b)
	}
}

// accept records and checks a body. The caller holds the lock.
func (s *Server) accept(seen *modeltest.Record, body []byte, request, version string) (wireBody, error) {
	if request == "create" {
		seen.Bodies = append(seen.Bodies, body)
	}
	b, err := decode(body)
	switch {
	case err != nil:
	case version == "":
		err = errors.New("anthropic-version: header is required")
	case request == "create" && !b.Stream:
		err = errors.New("only streams are served")
	case !s.opts.Lenient:
		c := &checker{}
		c.check(b, request)
		s.verify(c, b)
		err = errors.Join(c.faults...)
	}
	seen.Fault(err)
	b.number = len(seen.Bodies) - 1
	return b, err
}

func (s *Server) count(w http.ResponseWriter, _ *http.Request, b wireBody) {
	a := cache{}.account(b.positions(), math.MaxInt)
	s.answer(w, http.StatusOK, fields{"input_tokens": a.InputTokens})
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, b wireBody) {
	out := &stream{server: s, w: w, body: b}
	for e, err := range s.model.Stream(r.Context(), b.request()) {
		if err != nil {
			s.end(w, out, err)
			return
		}
		if err := out.event(e); err != nil {
			s.Locked(func(seen *modeltest.Record) { seen.Fault(err) })
			break
		}
	}
	if !out.finished {
		panic(http.ErrAbortHandler)
	}
}

// end ends an answer the way its error asks for.
func (s *Server) end(w http.ResponseWriter, out *stream, err error) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		e = &model.Error{Reason: model.ReasonInternal, Message: err.Error()}
	}
	status, text := statusOf(e), e.Message
	if e.Reason == model.ReasonTooLong {
		text = "prompt is too long: 200001 tokens > 200000 maximum" // clients have nothing else to go by
	}
	switch {
	case !out.begun:
		limits(w.Header(), status, e.RetryAfter)
		s.fail(w, status, text)
	case e.Reason == model.ReasonOverloaded, e.Reason == model.ReasonRate:
		out.send("error", fields{"error": errorObject(status, text)})
	default:
		panic(http.ErrAbortHandler)
	}
}

// limits are the headers of a refusal for a while (Rate limits, "Response headers").
func limits(h http.Header, status int, after time.Duration) {
	if after > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	if status == http.StatusTooManyRequests {
		h.Set("Anthropic-Ratelimit-Requests-Limit", "50")
		h.Set("Anthropic-Ratelimit-Requests-Remaining", "0")
		h.Set("Anthropic-Ratelimit-Requests-Reset", time.Now().Add(after).UTC().Format(time.RFC3339))
	}
}

func (s *Server) fail(w http.ResponseWriter, status int, text string) {
	s.answer(w, status, fields{"type": "error", "error": errorObject(status, text), "request_id": w.Header().Get("Request-Id")})
}

func (s *Server) answer(w http.ResponseWriter, status int, body fields) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(http.ErrAbortHandler) // Unreachable: strings and numbers always encode.
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client may be gone
}

// errorObject names an error by its status (Errors, "HTTP errors").
func errorObject(status int, text string) fields {
	kind := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusPaymentRequired: "billing_error",
		http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error", http.StatusConflict: "conflict_error",
		http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
		http.StatusGatewayTimeout: "timeout_error", statusOverloaded: "overloaded_error",
	}[status]
	if status >= http.StatusInternalServerError {
		kind = cmp.Or(kind, "api_error")
	}
	return fields{"type": cmp.Or(kind, "invalid_request_error"), "message": text}
}

func statusOf(e *model.Error) int {
	return cmp.Or(e.Status, map[model.Reason]int{
		model.ReasonAuth: http.StatusUnauthorized, model.ReasonQuota: http.StatusPaymentRequired,
		model.ReasonNotFound: http.StatusNotFound, model.ReasonAddress: http.StatusNotFound,
		model.ReasonRate: http.StatusTooManyRequests, model.ReasonOverloaded: statusOverloaded,
		model.ReasonTooLong: http.StatusBadRequest, model.ReasonBadRequest: http.StatusBadRequest, model.ReasonFiltered: http.StatusBadRequest,
	}[e.Reason], http.StatusInternalServerError)
}
