package anthropictest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

const statusOverloaded = 529

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

	key      string
	requests atomic.Int64
	cache    cache
	thoughts map[string]bool     // the results of [thought] for blocks that were sent
	answers  map[string][]string // the fingerprints of the answers with a call, by its id
}

// NewServer starts a server on loopback, for requests with the key, or for all requests if it is empty. Signatures depend
// on the key. The caller closes the server.
func NewServer(m model.Model, key string) *Server {
	s := &Server{key: key, cache: cache{}, thoughts: map[string]bool{}, answers: map[string][]string{}}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", s.Serve(s))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.Refuse(w, &model.Error{Status: http.StatusNotFound, Message: "Not found"})
	})
	s.Listen(m, key, mux)
	return s
}

// Key implements [modeltest.Protocol].
func (*Server) Key(h http.Header) string { return h.Get("X-Api-Key") }

// Accept implements [modeltest.Protocol].
func (s *Server) Accept(h http.Header, body []byte) (modeltest.Answer, error) {
	b, err := decode(body)
	switch {
	case err != nil:
	case h.Get("Anthropic-Version") == "":
		err = errors.New("anthropic-version: header is required")
	case !b.Stream:
		err = errors.New("only streams are served")
	default:
		c := &checker{}
		c.check(b)
		s.verify(c, b)
		err = errors.Join(c.faults...)
	}
	return &answer{server: s, body: b}, err
}

// Refuse implements [modeltest.Protocol].
func (s *Server) Refuse(w http.ResponseWriter, e *model.Error) {
	status := statusOf(e)
	limits(w.Header(), status, e.RetryAfter)
	modeltest.WriteJSON(w, status, fields{"type": "error", "error": errorObject(e), "request_id": s.number(w.Header())})
}

// number gives an answer the next number of a request.
func (s *Server) number(h http.Header) string {
	id := fmt.Sprintf("req_%04d", s.requests.Add(1))
	h.Set("Request-Id", id)
	return id
}

// limits are the headers of a refusal for a while (Rate limits, "Response headers").
func limits(h http.Header, status int, after time.Duration) {
	modeltest.RetryAfter(h, after)
	if status == http.StatusTooManyRequests {
		h.Set("Anthropic-Ratelimit-Requests-Limit", "50")
		h.Set("Anthropic-Ratelimit-Requests-Remaining", "0")
		h.Set("Anthropic-Ratelimit-Requests-Reset", time.Now().Add(after).UTC().Format(time.RFC3339))
	}
}

// errorObject names an error by its status (Errors, "HTTP errors").
func errorObject(e *model.Error) fields {
	status, text := statusOf(e), e.Message
	if e.Reason == model.ReasonTooLong {
		text = "prompt is too long: 200001 tokens > 200000 maximum" // clients recognise it by this text only
	}
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
