package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/anthropic"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/responses"
)

// Model calls a model and, if that fails, its fallbacks. It is safe for concurrent use. It keeps
// nothing of a call after its end, except for its connection, for up to two seconds, until the
// server has closed the response.
type Model struct {
	endpoints []*endpoint // at least one
	// cheaper returns what answers if a spending limit refuses the endpoints, or nil. It is nil without choices.
	cheaper func() *endpoint
}

var _ model.Model = (*Model)(nil)

// endpoint is one model with everything needed to call it.
type endpoint struct {
	*caller
	opts     *Options
	protocol protocol.Protocol
	sight    *sight
	metrics  *metrics
	log      *slog.Logger
	breaker  breaker
	cached   cacheUse
	noTools  atomic.Bool // requests to it contain no tools
	efforts  refusedEfforts
	density  atomic.Uint64 // tokens per byte of text as the bits of a float; 0 if unknown
}

// New returns a model. It sends nothing.
func New(o Options) (*Model, error) {
	all, err := newEndpoints(o, append([]Endpoint{o.Endpoint}, o.Fallbacks...))
	if err != nil {
		return nil, err
	}
	return &Model{endpoints: all}, nil
}

func newEndpoints(o Options, all []Endpoint) (made []*endpoint, err error) {
	o.setDefaults()
	var secrets []string
	for i, e := range all {
		if all[i], err = e.checked(); err != nil {
			return nil, fmt.Errorf("model %d %q: %w", i+1, e.Model, err)
		}
		secrets = append(secrets, e.secrets()...)
	}
	metrics, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("register model metrics: %w", err)
	}
	masker := newMasker(secrets)
	for _, e := range all {
		c, files := newCaller(e, o.Transport, masker), newSight(e.Settings)
		added := &endpoint{caller: c, opts: &o, protocol: o.protocol(c, files), sight: files, metrics: metrics, log: o.Logger.With("model", e.Model)}
		added.noTools.Store(e.Settings.NoTools)
		made = append(made, added)
	}
	return made, nil
}

func (o *Options) protocol(c *caller, files *sight) protocol.Protocol {
	prompter := protocol.Prompter{Sight: files, Load: o.Load, TakesLink: func(mediaType, link string) bool {
		return !o.Exact && strings.HasPrefix(mediaType, "image/") && strings.HasPrefix(link, "http")
	}}
	all := protocol.Options{
		Prompter: prompter, MaxOutputTokens: c.Settings.MaxOutputTokens, Members: c.Settings.Members, Fail: c.masker.objectError,
		Efforts: protocol.Efforts{Thinking: c.Settings.Thinking, ByWord: c.Settings.Efforts},
	}
	switch c.API {
	case APIMessages:
		return anthropic.New(anthropic.Options{URL: c.BaseURL, Key: c.APIKey, Model: c.Model, OutputLimit: c.Settings.OutputLimit, Options: all})
	case APIResponses:
		return responses.New(responses.Options{Address: c.address(), Options: all})
	case APIChat:
	}
	return chat.New(chat.Options{Address: c.address(), Options: all, MaxTokensField: c.maxTokensField, ReasoningTags: c.Settings.ReasoningTags, Exact: o.Exact})
}

// errStopped ends an attempt whose reader stopped.
var errStopped = errors.New("reader stopped")

// Stream implements [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s := &sink{yield: yield}
		var failed error
		c := chooser{endpoints: m.endpoints, tried: make([]bool, len(m.endpoints))}
		i, probe := c.next()
		for {
			if i > 0 {
				req.Memo = nil // it holds the bytes for the first model
			}
			e := m.endpoints[i]
			s.onAnswer = e.heard
			err := e.ask(ctx, req, s, c.hasNext())
			e.ended(ctx, err, probe)
			if err == nil || errors.Is(err, errStopped) {
				return
			}
			if limit, spent := model.ReasonOf(err).Budget(); spent && m.cheaper != nil {
				if cheaper := m.cheaper(); cheaper != nil && cheaper != e {
					err = cheaper.replace(ctx, req, s, limit)
					if err == nil || errors.Is(err, errStopped) {
						return
					}
					failed = joinFailures(failed, err)
					break
				}
			}
			failed = joinFailures(failed, err)
			if s.started || ctx.Err() != nil || !fallsBack(err) {
				break
			}
			if i, probe = c.next(); i < 0 {
				break
			}
			e.metrics.fallbacks.WithLabelValues(e.Model, string(model.ReasonOf(err))).Inc()
			e.log.WarnContext(ctx, "a model failed; the next one is tried", "request_id", req.ID, "next", m.endpoints[i].Model, "error", err)
		}
		if ctx.Err() != nil {
			failed = context.Cause(ctx)
		}
		yield(model.Event{}, failed)
	}
}

// replace answers a request that a spending limit refused the other models.
func (e *endpoint) replace(ctx context.Context, req model.Request, s *sink, limit string) error {
	req.Memo, req.Effort = nil, "" // both are the other model's
	s.onAnswer = e.heard
	s.first = func() []model.Event {
		if req.Payer.Work != model.WorkRun || !e.opts.Meter.ToTell(req.Payer, limit) {
			return nil
		}
		return []model.Event{{Kind: model.EventCheaper, Delta: limit, ID: e.Model}}
	}
	err := e.ask(ctx, req, s, false)
	e.ended(ctx, err, false)
	return err
}

// chooser decides the order in which one call tries the models.
type chooser struct {
	endpoints []*endpoint
	tried     []bool
	anyway    bool // a model was chosen although it is skipped
}

// next returns the first untried model that is not skipped. After those it returns, once, the
// untried model that is skipped for the shortest time, and then -1.
func (c *chooser) next() (i int, probe bool) {
	best, least := -1, time.Duration(0)
	for i, e := range c.endpoints {
		if c.tried[i] {
			continue
		}
		if ok, probe := e.breaker.admit(); ok {
			c.tried[i] = true
			return i, probe
		}
		if left, _ := e.breaker.left(); best < 0 || left < least {
			best, least = i, left
		}
	}
	if best < 0 || c.anyway {
		return -1, false
	}
	c.tried[best], c.anyway = true, true
	return best, false
}

// hasNext reports whether a model that is not skipped is left.
func (c *chooser) hasNext() bool {
	for i, e := range c.endpoints {
		if left, _ := e.breaker.left(); !c.tried[i] && left == 0 {
			return true
		}
	}
	return false
}

// ended records the result of a call.
func (e *endpoint) ended(ctx context.Context, err error, probe bool) {
	if ctx.Err() != nil {
		err = errStopped // the end of its context says nothing about the endpoint
	}
	e.breaker.ended(err, probe)
	e.showSkipped()
}

// heard records that an answer has begun.
func (e *endpoint) heard() {
	e.breaker.heard()
	e.showSkipped()
}

func (e *endpoint) showSkipped() {
	skipped := 0.0
	if e.breaker.open() {
		skipped = 1
	}
	e.metrics.skipped.WithLabelValues(e.Model, e.host()).Set(skipped)
}

// fallsBack reports whether another model may succeed. If the context does not fit, the caller has
// to shorten it, and our own bugs are not hidden.
func fallsBack(err error) bool {
	r := model.ReasonOf(err)
	_, spent := r.Budget() // as it would be for the next one
	return r != model.ReasonTooLong && r != model.ReasonInternal && !spent
}

// joinFailures returns the first model's failure, followed by those of the others. A spending limit would refuse the
// first model, too.
func joinFailures(first, next error) error {
	e, ok := errors.AsType[*model.Error](first)
	if _, spent := model.ReasonOf(next).Budget(); !ok || spent {
		return next
	}
	joined := *e
	joined.Err = errors.Join(e.Err, next)
	if n, ok := errors.AsType[*model.Error](next); ok && n.Retryable && !joined.Retryable {
		joined.Retryable, joined.RetryAfter = true, n.RetryAfter
	}
	return &joined
}

// call calls one model until it answers or fails permanently. hasNext says that another model can be
// tried after it.
func (e *endpoint) call(ctx context.Context, req model.Request, s *sink, hasNext bool) error {
	asked, body, err := e.prepare(ctx, req)
	if err != nil {
		return err
	}
	r := newRetrier(e.opts, hasNext)
	for {
		err := e.attempt(ctx, body, asked, s)
		failure, ok := errors.AsType[*model.Error](err)
		if !ok || s.started || ctx.Err() != nil {
			return err
		}
		if why, about := refusalOf(err, e.protocol.Shown(req)); about && why != refusalOther && !refusesEffort(asked, failure) {
			return err // the same request would be refused again
		}
		var wait time.Duration
		if e.learns(ctx, asked, failure) {
			var fault error
			if asked, body, fault = e.prepare(ctx, req); fault != nil {
				return fault
			}
		} else if wait, ok = r.next(failure); !ok {
			return err
		}
		e.metrics.retries.WithLabelValues(e.Model, string(failure.Reason)).Inc()
		e.log.InfoContext(ctx, "a model call failed; the request is repeated", "request_id", req.ID, "attempt", r.attempts, "wait", wait, "error", err)
		s.forget()
		if err := apicall.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// learns records what else than content a service refuses, and reports whether that changes the request.
func (e *endpoint) learns(ctx context.Context, asked model.Request, failed *model.Error) bool {
	switch {
	case refusesEffort(asked, failed):
		e.loseEffort(ctx, asked.Effort, failed)
	case len(asked.Tools) > 0 && refusesTools(failed):
		e.loseTools(ctx, failed)
	default:
		return false
	}
	return true
}

// prepare encodes the body of a request in the form that the model accepts.
func (e *endpoint) prepare(ctx context.Context, req model.Request) (model.Request, protocol.Body, error) {
	if e.noTools.Load() && !e.opts.Exact {
		req = withoutTools(req)
	}
	if slices.Contains(e.efforts.list(), req.Effort) {
		req.Effort = ""
	}
	body, err := e.protocol.Write(ctx, req)
	switch {
	case err == nil:
		return req, body, nil
	case ctx.Err() != nil:
		return req, body, context.Cause(ctx)
	}
	return req, body, &model.Error{Reason: model.ReasonInternal, Message: e.masker.message(err.Error()), Err: err}
}

// attempt sends one request and reads its answer into s.
func (e *endpoint) attempt(ctx context.Context, body protocol.Body, req model.Request, s *sink) (err error) {
	account, err := e.reserve(ctx, req)
	if err != nil {
		return err
	}
	defer func() { account.end(err) }()
	start := time.Now()
	actx, watch := newWatchdog(ctx, cmp.Or(e.Settings.FirstByteTimeout, e.opts.FirstByteTimeout), e.opts.IdleTimeout)
	s.onFirst = func() {
		watch.heard()
		s.onAnswer()
		e.metrics.first.WithLabelValues(e.Model).Observe(time.Since(start).Seconds())
	}
	complete := false
	defer func() {
		if !complete {
			watch.stop()
		}
	}()
	defer func() { e.metrics.done(e.Model, outcome(ctx, err), start) }()

	x := e.exchange(body, watch, account)
	answer, err := e.protocol.Ask(actx, x, req)
	if err != nil {
		return e.failure(ctx, actx, err, model.ReasonNetwork)
	}
	account.sent.Store(true)
	defer answer.Close()
	defer func() {
		if !complete {
			_ = x.Resp.Body.Close()
		}
	}()
	err = e.read(ctx, actx, answer, reading{watch, s, account, body.Shared})
	if account.usage = answer.Usage(); err != nil {
		return err
	}
	complete = true
	watch.drain(x.Resp.Body)
	return nil
}

func outcome(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return "ok"
	case ctx.Err() != nil, errors.Is(err, errStopped):
		return "stopped"
	default:
		return string(model.ReasonOf(err))
	}
}

// failure returns the error of a request that failed: the cause of the caller's context comes
// first, then the watchdog's error, then the doer's.
func (e *endpoint) failure(ctx, actx context.Context, err error, reason model.Reason) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if silent, ok := errors.AsType[*model.Error](context.Cause(actx)); ok {
		return silent
	}
	if typed, ok := errors.AsType[*model.Error](err); ok {
		return typed
	}
	return &model.Error{Reason: reason, Retryable: true, Message: e.masker.message(err.Error())}
}
