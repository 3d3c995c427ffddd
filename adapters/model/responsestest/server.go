package responsestest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// Server is a Responses API in front of a model. It only streams. It counts tokens itself, four
// bytes each, whatever usage the model reports. A block of text with the id "refusal" is streamed
// as a refusal, and an answer that finishes as one without such a block gets one at its end. What
// the model does wrong, the server does wrong in its own way:
//
//   - an error before the first event is answered by its status, or the one usual for its reason;
//   - after it, an error of reason overloaded is an error event, one of reason rate a
//     response.failed;
//   - any other error after it breaks the connection off, and so does an answer without a finish;
//   - a model that stalls leaves the connection silent.
type Server struct {
	modeltest.Endpoint

	key     string
	cache   modeltest.PromptCache
	needs   map[string]string // the reasoning item that an item was produced after
	follows map[string]string // the first item that was produced after a reasoning item
}

// NewServer starts a server on loopback, for requests with the key, or for all requests if it is empty. Only servers with
// the same key accept encrypted content, as the service does within one organization. The caller closes the server.
func NewServer(m model.Model, key string) *Server {
	s := &Server{key: key, needs: map[string]string{}, follows: map[string]string{}}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/responses", s.Serve(s))
	s.Listen(m, key, mux)
	return s
}

// Key implements [modeltest.Protocol].
func (*Server) Key(h http.Header) string { return modeltest.Bearer(h) }

// Accept implements [modeltest.Protocol].
func (s *Server) Accept(_ http.Header, raw []byte) (modeltest.Answer, error) {
	b, err := read(raw)
	switch {
	case b == nil:
	case !b.Stream:
		err = &fault{rule: ruleSettings, param: "stream", text: "is not true, and only streams are served"}
	default:
		err = errors.Join(err, s.genuine(b.items))
	}
	return &answer{s: s, body: b, calls: map[string]*output{}}, err
}

// Refuse implements [modeltest.Protocol].
func (*Server) Refuse(w http.ResponseWriter, e *model.Error) {
	status, kind, code := classify(e.Reason)
	refusal := object{"message": e.Message, "type": kind, "param": nil, "code": code}
	if f, ok := errors.AsType[*fault](e.Err); ok {
		refusal["param"], refusal["code"] = f.param, nil
		if f.code != "" {
			refusal["code"] = f.code
		}
	}
	limits(w.Header(), e.Reason == model.ReasonRate, e.RetryAfter)
	modeltest.WriteJSON(w, cmp.Or(e.Status, status), object{"error": refusal})
}

// classify returns the status, type and code by which the service reports failures.
func classify(r model.Reason) (status int, kind, code string) {
	status, kind, code = http.StatusServiceUnavailable, "server_error", "server_error"
	row := map[model.Reason]string{
		model.ReasonAuth:       "401 invalid_request_error invalid_api_key",
		model.ReasonNotFound:   "404 invalid_request_error model_not_found",
		model.ReasonAddress:    "404 invalid_request_error unknown_url",
		model.ReasonQuota:      "429 insufficient_quota insufficient_quota",
		model.ReasonRate:       "429 requests rate_limit_exceeded",
		model.ReasonTooLong:    "400 invalid_request_error context_length_exceeded",
		model.ReasonFiltered:   "400 invalid_request_error invalid_prompt",
		model.ReasonBadRequest: "400 invalid_request_error invalid_value",
	}[r]
	_, _ = fmt.Sscan(row, &status, &kind, &code) // an empty row leaves them
	return status, kind, code
}

// limits sets the rate limit headers.
func limits(h http.Header, reached bool, retry time.Duration) {
	remaining := "999"
	if reached {
		remaining = "0"
	}
	for _, what := range []string{"Requests", "Tokens"} {
		h.Set("X-Ratelimit-Limit-"+what, "1000")
		h.Set("X-Ratelimit-Remaining-"+what, remaining)
		h.Set("X-Ratelimit-Reset-"+what, retry.String())
	}
	modeltest.RetryAfter(h, retry)
}

// genuine checks what this server produced: that reasoning is unchanged, and that it and the items
// after it are sent together.
func (s *Server) genuine(items []item) error {
	c, sent := &checker{}, map[string]bool{}
	for i, it := range items {
		if rs := s.needs[it.ID]; rs != "" && !sent[rs] {
			c.fault(ruleFollows, "input", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", it.ID, it.Type, rs)
		}
		if it.Type != typeReasoning {
			continue
		}
		sent[it.ID] = true
		if !hmac.Equal([]byte(s.encrypt(it.ID, it.texts())), []byte(it.Encrypted)) {
			text := "The encrypted content for item " + it.ID + " could not be verified."
			c.faults = append(c.faults, &fault{ruleEncrypted, fmt.Sprintf("input[%d]", i), "invalid_encrypted_content", text})
		}
		want, known := s.follows[it.ID]
		if next := following(items[i:]); known && next != nil && (want == "" || next.ID != "" && next.ID != want) {
			c.unfollowed(it)
		}
	}
	return errors.Join(c.faults...)
}

// encrypt returns the encrypted content of a reasoning item, which proves where it is from and
// that it is unchanged.
func (s *Server) encrypt(id string, summary []string) string {
	mac := hmac.New(sha256.New, []byte("responsestest "+s.key))
	_ = json.NewEncoder(mac).Encode(append([]string{id}, summary...)) // a hash never fails
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
