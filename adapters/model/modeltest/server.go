package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// ServerOptions configure a [Server]; the zero value is useful.
type ServerOptions struct {
	// Key, if set, is the required bearer token. Other requests get a 401.
	Key string
	// Embedder answers POST /v1/embeddings. If it is nil, there is no such endpoint.
	Embedder model.Embedder
}

// Server is a chat-completions endpoint in front of a model, mostly a [Script].
// What the model does wrong, the server does wrong in its own way:
//
//   - an error before the first event is answered by its Status, or the one
//     usual for its reason, with Retry-After;
//   - an error of reason overloaded or rate after it is an error object in the stream;
//   - any other error after it breaks the connection off;
//   - a model that stalls leaves the connection silent.
//
// It counts tokens itself, four bytes each, and those that a [PromptCache] has: the prompt is the
// tools and then the messages, because tools are injected before the instructions (cookbook "Prompt
// Caching 201", section 4.3). A usage that the model reports is sent in place of its own.
type Server struct {
	Endpoint

	embedder model.Embedder
	cache    PromptCache
}

// NewServer starts a server on loopback. The caller closes it.
func NewServer(m model.Model, opts ServerOptions) *Server {
	s := &Server{embedder: opts.Embedder}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", s.Serve(s))
	if opts.Embedder != nil {
		mux.HandleFunc("POST /v1/embeddings", s.embed)
	}
	s.Listen(m, opts.Key, mux)
	return s
}

// Key implements [Protocol].
func (*Server) Key(h http.Header) string { return Bearer(h) }

// Accept implements [Protocol].
func (s *Server) Accept(_ http.Header, body []byte) (Answer, error) {
	b, err := decodeBody(body)
	if err == nil {
		err = StrictBody(body)
	}
	if err == nil && !b.Stream {
		err = errors.New("only streams are served")
	}
	b.body = body
	return &answer{wireBody: b, cache: &s.cache, indexes: map[string]int{}}, err
}

// Refuse implements [Protocol].
func (*Server) Refuse(w http.ResponseWriter, e *model.Error) {
	RetryAfter(w.Header(), e.RetryAfter)
	status, _ := words(e.Reason)
	WriteJSON(w, cmp.Or(e.Status, status), errorObject(e))
}

func errorObject(e *model.Error) map[string]any {
	_, code := words(e.Reason)
	return map[string]any{"error": map[string]any{"message": e.Message, "type": code, "code": code, "param": nil}}
}

func words(r model.Reason) (status int, code string) {
	status, code = http.StatusServiceUnavailable, "server_error"
	row := map[model.Reason]string{
		model.ReasonAuth:       "401 invalid_api_key",
		model.ReasonNotFound:   "404 model_not_found",
		model.ReasonAddress:    "404 not_found",
		model.ReasonRate:       "429 rate_limit_exceeded",
		model.ReasonQuota:      "429 insufficient_quota",
		model.ReasonTooLong:    "400 context_length_exceeded",
		model.ReasonBadRequest: "400 invalid_request_error",
		model.ReasonFiltered:   "400 content_filter",
	}[r]
	_, _ = fmt.Sscan(row, &status, &code) // an empty row leaves them
	return status, code
}

// answer writes events as chat-completions chunks.
type answer struct {
	wireBody
	cache    *PromptCache
	indexes  map[string]int // of calls, by id
	said     int            // bytes of text and calls
	reasoned int            // bytes of reasoning
}

// Request implements [Answer].
func (a *answer) Request() model.Request { return a.request() }

// Account implements [Answer].
func (a *answer) Account() Accounting {
	return a.cache.Account(a.Model+"\x00"+a.PromptCacheKey, a.prompt())
}

// Fail implements [Answer].
func (*answer) Fail(s *Stream, e *model.Error) bool {
	if e.Reason != model.ReasonOverloaded && e.Reason != model.ReasonRate {
		return false
	}
	s.Send("", errorObject(e))
	s.Send("", "[DONE]")
	return true
}

// Event implements [Answer].
func (a *answer) Event(s *Stream, e model.Event) error {
	switch e.Kind {
	case model.EventTextDelta:
		a.said += len(e.Delta)
		a.delta(s, map[string]any{"content": e.Delta}, nil)
	case model.EventReasoningDelta:
		a.reasoned += len(e.Delta)
		a.delta(s, map[string]any{"reasoning_content": e.Delta}, nil)
	case model.EventToolInputStart:
		a.indexes[e.ID] = len(a.indexes)
		a.call(s, e.ID, map[string]any{"id": e.ID, "type": "function", "function": map[string]any{"name": e.ToolName, "arguments": ""}})
	case model.EventToolInputDelta:
		a.said += len(e.Delta)
		a.call(s, e.ID, map[string]any{"function": map[string]any{"arguments": e.Delta}})
	case model.EventFinish:
		a.delta(s, map[string]any{}, cmp.Or(map[string]string{"tool-calls": "tool_calls", "content-filter": "content_filter"}[e.Finish.Unified], e.Finish.Unified))
		s.Finish(Tokens(a.said + a.reasoned))
		a.tokens(s, e.Usage)
		s.Send("", "[DONE]")
	default: // the protocol has no word for the others
	}
	return nil
}

func (a *answer) call(s *Stream, id string, call map[string]any) {
	call["index"] = a.indexes[id]
	a.delta(s, map[string]any{"tool_calls": []any{call}}, nil)
}

func (a *answer) delta(s *Stream, delta map[string]any, finish any) {
	a.chunk(s, map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

// tokens sends the usage that the model reports, or else the server's own.
func (a *answer) tokens(s *Stream, u model.Usage) {
	if !a.StreamOptions.IncludeUsage {
		return
	}
	in, out, cached, reasoned := int64(s.Bill.InputTokens), int64(s.Bill.Output), new(int64(s.Bill.CacheRead)), new(int64(Tokens(a.reasoned)))
	if u.InputTokens != nil && u.OutputTokens != nil {
		in, out, cached, reasoned = *u.InputTokens, *u.OutputTokens, u.CachedInputTokens, u.ReasoningTokens
	}
	usage := map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
	if cached != nil {
		usage["prompt_tokens_details"] = map[string]any{"cached_tokens": *cached}
	}
	if reasoned != nil {
		usage["completion_tokens_details"] = map[string]any{"reasoning_tokens": *reasoned}
	}
	a.chunk(s, map[string]any{"choices": []any{}, "usage": usage})
}

func (a *answer) chunk(s *Stream, c map[string]any) {
	c["id"], c["object"], c["created"], c["model"] = "chatcmpl-test", "chat.completion.chunk", 1700000000, a.Model
	s.Send("", c)
}
