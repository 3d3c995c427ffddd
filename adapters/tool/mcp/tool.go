package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

const (
	// showEvery is the minimum time between two preliminary results of a call.
	showEvery = 250 * time.Millisecond
	// deadlineSlack is how long a call may take beyond its server's timeout, to report the error.
	deadlineSlack = 5 * time.Second
	// maxErrorText bounds how much of a server's error a model reads.
	maxErrorText = 4 << 10
	// maxProgressText bounds a server's message about the progress of a call.
	maxProgressText = 500
)

// remote is one tool of a server, as it was when it was offered. It implements [tool.Streamer] and [tool.Explainer].
type remote struct {
	m    *Manager
	c    *client
	def  Definition
	hash string
	spec tool.Spec
}

func newTool(m *Manager, c *client, def Definition) *remote {
	s := c.server
	r := &remote{m: m, c: c, def: def, hash: def.hash()}
	r.spec = tool.Spec{
		Name: qualified(s.Name, def.Name), Title: s.mask(def.title()), Description: s.mask(clean(def.Description, maxDescription)),
		InputSchema: def.InputSchema, Foreign: true, Asks: !s.allows(def.Name), Deadline: 2*s.timeout() + deadlineSlack,
	}
	return r
}

func (r *remote) Spec() tool.Spec { return r.spec }

// bind is what a person's decision is bound to, besides the input.
func (r *remote) bind() string { return digest("call", r.c.server.Name, r.c.server.identity(), r.hash) }

func (r *remote) Explain(call tool.Call) (tool.Explanation, error) {
	args, err := arguments(call.Input)
	if err != nil {
		return tool.Explanation{}, err
	}
	hints := r.def.hints()
	e, err := tool.Describe("mcp", struct {
		Title, Tool, Server     string
		Values, Reads, Destroys bool
	}{
		r.spec.Title, r.def.Name, r.c.server.Name, string(args) != "{}",
		hints.ReadOnlyHint, hints.DestructiveHint != nil && *hints.DestructiveHint,
	})
	e.Exact, e.Bind = tool.Lines(args), r.bind()
	return e, err
}

func (r *remote) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	return r.InvokeStream(ctx, call, nil)
}

func (r *remote) InvokeStream(ctx context.Context, call tool.Call, preliminary func(json.RawMessage)) (tool.Result, error) {
	began := time.Now()
	result, err := r.invoke(ctx, call, preliminary)
	r.c.o.Metrics.observe(methodCall, resultOf(err), began)
	return result, err
}

func (r *remote) invoke(ctx context.Context, call tool.Call, preliminary func(json.RawMessage)) (tool.Result, error) {
	if call.Bind != "" && call.Bind != r.bind() {
		return tool.Result{}, fmt.Errorf("%w: %s is not what a person agreed to any more; nothing was done", ErrOff, r.spec.Name)
	}
	select {
	case r.c.calls <- struct{}{}:
		defer func() { <-r.c.calls }()
	case <-ctx.Done():
		return tool.Result{}, fmt.Errorf("%s was not called: %w", r.spec.Name, context.Cause(ctx))
	}
	args, err := arguments(call.Input)
	if err != nil {
		return tool.Result{}, err
	}
	params := &sdk.CallToolParams{Name: r.def.Name, Arguments: args}
	if preliminary != nil {
		token, forget := r.c.watch(preliminary)
		defer forget()
		params.SetProgressToken(token)
	}
	result, err := r.ask(ctx, params)
	if errors.Is(err, sdk.ErrSessionMissing) { // nothing was done
		result, err = r.ask(ctx, params)
	}
	if err != nil {
		return tool.Result{}, err
	}
	return r.result(ctx, call, result)
}

// ask sends a call once the server is up. The error of a server that has forgotten the session, and so did nothing, wraps
// [sdk.ErrSessionMissing]; the next call gets a new session.
func (r *remote) ask(ctx context.Context, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	l, err := r.c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.check(l); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.c.server.timeout())
	defer cancel()
	taken := &atomic.Bool{}
	result, err := l.session.CallTool(context.WithValue(ctx, sentKey{}, taken), params)
	if errors.Is(err, sdk.ErrSessionMissing) {
		_ = l.session.Close() // there is nothing to tell the server
		select {
		case <-l.ended:
		case <-ctx.Done():
		}
		if !taken.Load() {
			return nil, fmt.Errorf("%w: %s: it has forgotten the session; nothing was done: %w", ErrDown, r.c.server.Name, sdk.ErrSessionMissing)
		}
	}
	if err != nil {
		err = r.failure(ctx, l, err)
	}
	return result, err
}

// check compares the tool with what its server lists now and with what is approved.
func (r *remote) check(l *link) error {
	r.c.mu.Lock()
	hash, listed := l.hashes[r.def.Name]
	r.c.mu.Unlock()
	switch {
	case !listed:
		return fmt.Errorf("%w: the server does not list %s any more; nothing was done", ErrOff, r.spec.Name)
	case hash != r.hash, !r.m.offered(r.c.server, r.def.Name, r.hash):
		return fmt.Errorf("%w: %s has changed and waits for an approval by the operator (sma mcp list); nothing was done", ErrOff, r.spec.Name)
	default:
		return nil
	}
}

// failure describes the error of a call that was sent.
func (r *remote) failure(ctx context.Context, l *link, err error) error {
	name := r.spec.Name
	if answer, ok := errors.AsType[*jsonrpc.Error](err); ok && !errors.Is(err, sdk.ErrConnectionClosed) {
		return fmt.Errorf("%s: the server refused the call: %s", name, r.text(answer.Message))
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s took longer than %s and was cancelled; whether it had an effect is unknown: %w", name, r.c.server.timeout(), context.DeadlineExceeded)
	case ctx.Err() != nil:
		return fmt.Errorf("%s was cancelled; whether it had an effect is unknown: %w", name, context.Canceled)
	}
	why := r.c.server.line(err.Error())
	how := l.finished() // the next call gets another session
	if how != "" && (errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed)) {
		why = how // otherwise the host ended it because of the error
	}
	return fmt.Errorf("%s: %w: %s", name, ErrInterrupted, why)
}

// text prepares a text of the server for the model.
func (r *remote) text(s string) string { return clean(r.c.server.mask(s), maxErrorText) }

// watcher shows the progress of a call while the call is running.
type watcher struct {
	mask        func(string) string
	preliminary func(json.RawMessage)

	mu   sync.Mutex
	over bool
	last time.Time
}

// show turns a server's progress into preliminary results, not more often than showEvery.
func (w *watcher) show(p *sdk.ProgressNotificationParams) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.over || !w.last.IsZero() && now.Sub(w.last) < showEvery {
		return
	}
	w.last = now
	out, err := json.Marshal(struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"`
		Message  string  `json:"message,omitempty"`
	}{p.Progress, p.Total, clean(w.mask(p.Message), maxProgressText)})
	if err == nil { // JSON cannot encode infinity
		w.preliminary(out)
	}
}

// watch passes on the progress of a call until forget is called.
func (c *client) watch(preliminary func(json.RawMessage)) (token string, forget func()) {
	w := &watcher{mask: c.server.mask, preliminary: preliminary}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	token = "call-" + strconv.Itoa(c.tokens)
	c.progress[token] = w.show
	return token, func() {
		c.mu.Lock()
		delete(c.progress, token)
		c.mu.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
	}
}

// arguments are a call's input as people see it and as the server gets it: with each member once, because servers
// differ in which of two they read. A missing input becomes an empty object.
func arguments(input json.RawMessage) (json.RawMessage, error) {
	if len(strings.TrimSpace(string(input))) == 0 {
		return json.RawMessage("{}"), nil
	}
	args, err := canonical(input)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	return args, nil
}
