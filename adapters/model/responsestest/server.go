package responsestest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// Options configure a [Server]; the zero value is useful.
type Options struct {
	// Key, if set, must be sent as the bearer; other requests get a 401. Encrypted content is only
	// accepted by servers of the same key, as by the service for one organization.
	Key string
	// Lenient takes requests that break rules, unless they are no requests at all.
	Lenient bool
}

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

	model model.Model
	opts  Options

	cache   modeltest.PromptCache
	needs   map[string]string // the reasoning item that an item was produced after
	follows map[string]string // the first item that was produced after a reasoning item
}

// NewServer starts a server on loopback. Close it.
func NewServer(m model.Model, opts Options) *Server {
	s := &Server{model: m, opts: opts, needs: map[string]string{}, follows: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.respond)
	s.Listen(mux)
	return s
}

func (s *Server) respond(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // The client is gone.
	}
	if s.opts.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.opts.Key {
		refuse(w, &model.Error{Reason: model.ReasonAuth, Message: "Incorrect API key provided"})
		return
	}
	b, err := s.accept(raw)
	if f, ok := errors.AsType[*fault](err); ok {
		e := object{"message": err.Error(), "type": "invalid_request_error", "param": f.param, "code": nil}
		if f.code != "" {
			e["code"] = f.code
		}
		writeError(w, http.StatusBadRequest, e)
		return
	}
	s.stream(w, r, b)
}

// accept records and judges a body.
func (s *Server) accept(raw []byte) (*body, error) {
	b, err := read(raw)
	s.Locked(func(r *modeltest.Record) {
		switch {
		case b == nil:
		case !b.Stream:
			err = &fault{rule: ruleSettings, param: "stream", text: "is not true, and only streams are served"}
		case s.opts.Lenient:
			err = nil
		default:
			err = errors.Join(err, s.genuine(b.items))
		}
		if number := r.Took(raw, err); b != nil {
			b.number = number
		}
	})
	return b, err
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
	mac := hmac.New(sha256.New, []byte("responsestest "+s.opts.Key))
	_ = json.NewEncoder(mac).Encode(append([]string{id}, summary...)) // a hash takes everything
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// begin counts the prompt of a call and keeps it in the cache. It returns the number of the call
// and an id for its answer, which no other answer in a chat has, not even one of another server.
func (s *Server) begin(b *body) (number int, id string) {
	prompt := b.prompt()
	s.Locked(func(r *modeltest.Record) {
		call := s.cache.Account(b.Model+"\x00"+b.PromptCacheKey, prompt)
		call.Body, number = b.number, len(r.Calls)
		r.Calls = append(r.Calls, call)
	})
	return number, fmt.Sprintf("%x_%d", sha256.Sum256(prompt), number+1)[50:]
}
