package modeltest

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// maxBody bounds the requests that the server reads.
const maxBody = 64 << 20

// ServerOptions configure a [Server]; the zero value is useful.
type ServerOptions struct {
	// Key, if set, must come as the bearer; other requests get a 401.
	Key string
	// Lenient takes requests that [StrictBody] refuses.
	Lenient bool
	// Embedder answers POST /v1/embeddings; nil: there is no such address.
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

	model model.Model
	opts  ServerOptions
	cache PromptCache
}

// NewServer starts a server on loopback. Close it.
func NewServer(m model.Model, opts ServerOptions) *Server {
	s := &Server{model: m, opts: opts}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	if opts.Embedder != nil {
		mux.HandleFunc("POST /v1/embeddings", s.embed)
	}
	s.Listen(mux)
	return s
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, "invalid_request_error", err.Error())
		return
	}
	if s.opts.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.opts.Key {
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	}
	b, err := s.accept(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.stream(w, r, b)
}

// accept records and judges a body.
func (s *Server) accept(body []byte) (wireBody, error) {
	b, err := decodeBody(body)
	if err == nil && !s.opts.Lenient {
		err = StrictBody(body)
	}
	if err == nil && !b.Stream {
		err = errors.New("only streams are served")
	}
	b.body = body
	s.Locked(func(r *Record) { b.number = r.Took(body, err) })
	return b, err
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorObject(code, message)) // the client may be gone
}

func errorObject(code, message string) []byte {
	b, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code, "param": nil}})
	if err != nil {
		return []byte(`{"error":{}}`) // Unreachable: strings always encode.
	}
	return b
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, b wireBody) {
	out := &eventWriter{w: w, flush: http.NewResponseController(w).Flush, model: b.Model, usage: b.StreamOptions.IncludeUsage, indexes: map[string]int{}}
	var bill func(output int) Accounting
	for e, err := range s.model.Stream(r.Context(), b.request()) {
		if err != nil {
			s.fail(w, out, err)
			return
		}
		if bill == nil {
			bill = s.begin(b)
		}
		out.event(e)
		if e.Kind == model.EventFinish {
			out.tokens(e.Usage, bill(Tokens(out.said+out.reasoned)))
		}
	}
	if !out.finished {
		panic(http.ErrAbortHandler)
	}
	out.data([]byte("[DONE]"))
}

// begin accounts for the prompt of a call. What it returns adds the output.
func (s *Server) begin(b wireBody) (end func(output int) Accounting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := s.cache.Account(b.Model+"\x00"+b.PromptCacheKey, b.prompt())
	call.Body = b.number
	n := len(s.record.Calls)
	s.record.Calls = append(s.record.Calls, call)
	return func(output int) Accounting {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.record.Calls[n].Output = output
		return s.record.Calls[n]
	}
}

// fail ends an answer the way its error asks for.
func (s *Server) fail(w http.ResponseWriter, out *eventWriter, err error) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		e = &model.Error{Reason: model.ReasonInternal, Message: err.Error()}
	}
	overloaded := e.Reason == model.ReasonOverloaded || e.Reason == model.ReasonRate
	switch {
	case !out.begun:
		if e.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		}
		writeError(w, statusOf(e), codeOf(e.Reason), e.Message)
	case overloaded:
		out.data(errorObject(codeOf(e.Reason), e.Message))
		out.data([]byte("[DONE]"))
	default:
		panic(http.ErrAbortHandler)
	}
}

func statusOf(e *model.Error) int {
	if e.Status != 0 {
		return e.Status
	}
	switch e.Reason {
	case model.ReasonAuth:
		return http.StatusUnauthorized
	case model.ReasonNotFound, model.ReasonAddress:
		return http.StatusNotFound
	case model.ReasonRate, model.ReasonQuota:
		return http.StatusTooManyRequests
	case model.ReasonTooLong, model.ReasonBadRequest, model.ReasonFiltered:
		return http.StatusBadRequest
	case model.ReasonOverloaded, model.ReasonNetwork, model.ReasonCut, model.ReasonIdle, model.ReasonInternal:
	}
	return http.StatusServiceUnavailable
}

func codeOf(r model.Reason) string {
	switch r {
	case model.ReasonTooLong:
		return "context_length_exceeded"
	case model.ReasonRate:
		return "rate_limit_exceeded"
	case model.ReasonQuota:
		return "insufficient_quota"
	case model.ReasonFiltered:
		return "content_filter"
	case model.ReasonAuth:
		return "invalid_api_key"
	case model.ReasonNotFound:
		return "model_not_found"
	case model.ReasonAddress:
		return "not_found"
	case model.ReasonBadRequest:
		return "invalid_request_error"
	case model.ReasonOverloaded, model.ReasonNetwork, model.ReasonCut, model.ReasonIdle, model.ReasonInternal:
	}
	return "server_error"
}

// eventWriter writes events as chat-completions chunks.
type eventWriter struct {
	w        http.ResponseWriter
	flush    func() error
	model    string
	usage    bool
	begun    bool
	finished bool
	indexes  map[string]int // of calls, by id
	said     int            // bytes of text and calls
	reasoned int            // bytes of reasoning
}

func (o *eventWriter) event(e model.Event) {
	switch e.Kind {
	case model.EventTextDelta:
		o.said += len(e.Delta)
		o.delta(map[string]any{"content": e.Delta}, nil)
	case model.EventReasoningDelta:
		o.reasoned += len(e.Delta)
		o.delta(map[string]any{"reasoning_content": e.Delta}, nil)
	case model.EventToolInputStart:
		o.indexes[e.ID] = len(o.indexes)
		o.call(e.ID, map[string]any{"id": e.ID, "type": "function", "function": map[string]any{"name": e.ToolName, "arguments": ""}})
	case model.EventToolInputDelta:
		o.said += len(e.Delta)
		o.call(e.ID, map[string]any{"function": map[string]any{"arguments": e.Delta}})
	case model.EventFinish:
		o.finished = true
		o.delta(map[string]any{}, wireReason(e.Finish.Unified))
	default: // the protocol has no word for the others
	}
}

func wireReason(unified string) string {
	switch unified {
	case "tool-calls":
		return "tool_calls"
	case "content-filter":
		return "content_filter"
	default:
		return unified
	}
}

func (o *eventWriter) call(id string, call map[string]any) {
	call["index"] = o.indexes[id]
	o.delta(map[string]any{"tool_calls": []any{call}}, nil)
}

func (o *eventWriter) delta(delta map[string]any, finish any) {
	o.chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
}

// tokens sends the usage that the model reports, otherwise that of the server's own account.
func (o *eventWriter) tokens(u model.Usage, bill Accounting) {
	if !o.usage {
		return
	}
	in, out, cached, reasoned := int64(bill.InputTokens), int64(bill.Output), new(int64(bill.CacheRead)), new(int64(Tokens(o.reasoned)))
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
	o.chunk(map[string]any{"choices": []any{}, "usage": usage})
}

func (o *eventWriter) chunk(c map[string]any) {
	c["id"], c["object"], c["created"], c["model"] = "chatcmpl-test", "chat.completion.chunk", 1700000000, o.model
	b, err := json.Marshal(c)
	if err != nil {
		return // Unreachable: only strings and numbers are in there.
	}
	o.data(b)
}

func (o *eventWriter) data(b []byte) {
	if !o.begun {
		o.begun = true
		o.w.Header().Set("Content-Type", "text/event-stream")
	}
	var line strings.Builder
	line.WriteString("data: ")
	line.Write(b)
	line.WriteString("\n\n")
	_, _ = io.WriteString(o.w, line.String()) // a client that left ends the request's context
	_ = o.flush()
}
