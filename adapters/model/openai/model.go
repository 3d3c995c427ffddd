package openai

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Model asks a model and, should it fail, its fallbacks. It is safe for
// concurrent use. It holds nothing of a call once that has ended, but for two seconds
// its connection, until the server closes the answer.
type Model struct {
	endpoints []*endpoint // at least one
}

var _ model.Model = (*Model)(nil)

// endpoint is one model with all that is needed to ask it.
type endpoint struct {
	Endpoint
	opts    *Options
	client  *openaiapi.Client
	writer  *bodyWriter
	masker  *masker
	metrics *metrics
	log     *slog.Logger
	readers eventReaders
}

// New returns a model. It sends nothing.
func New(o Options) (*Model, error) {
	o.setDefaults()
	metrics, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("register model metrics: %w", err)
	}
	all := append([]Endpoint{o.Endpoint}, o.Fallbacks...)
	var secrets []string
	for _, e := range all {
		secrets = append(secrets, e.secrets()...)
	}
	masker := newMasker(secrets)
	doer := newDoer(o.Transport, masker)
	m := &Model{}
	for i, e := range all {
		e, err := e.checked()
		if err != nil {
			return nil, fmt.Errorf("model %d %q: %w", i+1, e.Model, err)
		}
		m.endpoints = append(m.endpoints, &endpoint{
			Endpoint: e, opts: &o, client: e.client(doer), writer: newWriter(&o, e), masker: masker, metrics: metrics, log: o.Logger.With("model", e.Model),
		})
	}
	return m, nil
}

func newWriter(o *Options, e Endpoint) *bodyWriter {
	return &bodyWriter{
		model: e.Model, settings: e.Settings, stream: true,
		encoder: encoder{
			sight: newSight(e.Settings, e.Model), load: o.Load,
			exact: o.Exact, noReasoning: e.Settings.NoReasoning, optionsKey: "openaiCompatible",
			prompter: prompter{downloader: o.Downloader, takesLink: o.TakesLink},
		},
	}
}

// errStopped ends an attempt whose reader broke off.
var errStopped = errors.New("reader stopped")

// Stream implements [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s := &sink{yield: yield}
		var failed error
		for i, e := range m.endpoints {
			if i > 0 {
				req.Memo = nil // it holds the bytes of the first model
			}
			err := e.ask(ctx, req, s)
			if err == nil || errors.Is(err, errStopped) {
				return
			}
			failed = joinFailures(failed, err)
			if s.started || ctx.Err() != nil || !fallsBack(err) || i == len(m.endpoints)-1 {
				break
			}
			e.metrics.fallbacks.WithLabelValues(e.Model, string(model.ReasonOf(err))).Inc()
			e.log.WarnContext(ctx, "model failed, trying the next", "request_id", req.ID, "next", m.endpoints[i+1].Model, "error", err)
		}
		if ctx.Err() != nil {
			failed = context.Cause(ctx)
		}
		yield(model.Event{}, failed)
	}
}

// fallsBack tells whether another model may do better. A context that does not
// fit is the caller's to shorten, and faults of ours stay ours.
func fallsBack(err error) bool {
	r := model.ReasonOf(err)
	return r != model.ReasonTooLong && r != model.ReasonInternal
}

// joinFailures keeps the first model's failure and remembers the others behind it.
func joinFailures(first, next error) error {
	e, ok := errors.AsType[*model.Error](first)
	if !ok {
		return next
	}
	joined := *e
	joined.Err = errors.Join(e.Err, next)
	if n, ok := errors.AsType[*model.Error](next); ok && n.Retryable && !joined.Retryable {
		joined.Retryable, joined.RetryAfter = true, n.RetryAfter
	}
	return &joined
}

// call asks one model until it answers, or fails for good. It returns which stored files
// the request held.
func (e *endpoint) call(ctx context.Context, req model.Request, s *sink) (shown, error) {
	sent := e.writer.shownIn(req.Messages)
	body, err := e.writer.write(ctx, req)
	if err != nil {
		if ctx.Err() != nil {
			return sent, context.Cause(ctx)
		}
		return sent, &model.Error{Reason: model.ReasonInternal, Message: e.masker.message(err.Error()), Err: err}
	}
	r := newRetrier(e.opts)
	for {
		err := e.attempt(ctx, body, req, s)
		failure, ok := errors.AsType[*model.Error](err)
		if !ok || s.started || ctx.Err() != nil {
			return sent, err
		}
		if why, about := refusalOf(err, sent); about && why != refusalOther {
			return sent, err // the same request would be refused again
		}
		wait, ok := r.next(failure)
		if !ok {
			return sent, err
		}
		e.metrics.retries.WithLabelValues(e.Model, string(failure.Reason)).Inc()
		e.log.InfoContext(ctx, "model failed, asking again", "request_id", req.ID, "attempt", r.attempts, "wait", wait, "error", err)
		s.forget()
		if err := pause(ctx, wait); err != nil {
			return sent, err
		}
	}
}

// attempt sends one request and reads its answer into s.
func (e *endpoint) attempt(ctx context.Context, body body, req model.Request, s *sink) (err error) {
	start := time.Now()
	s.onFirst = func() { e.metrics.first.WithLabelValues(e.Model).Observe(time.Since(start).Seconds()) }
	actx, watch := newWatchdog(ctx, e.opts.FirstByteTimeout, e.opts.IdleTimeout)
	complete := false
	defer func() {
		if !complete {
			watch.stop()
		}
	}()
	defer func() { e.metrics.done(e.Model, outcome(ctx, err), start) }()

	x := &exchange{body: body, headers: e.Headers, watch: watch}
	stream, err := e.client.CreateChatCompletionStream(context.WithValue(actx, exchangeKey{}, x), openaiapi.ChatCompletionRequest{Model: e.Model})
	if err != nil {
		return e.failure(ctx, actx, err, model.ReasonNetwork)
	}
	defer func() {
		if !complete {
			_ = stream.Close()
		}
	}()
	if err := e.read(ctx, actx, x, req, s); err != nil {
		return err
	}
	complete = true
	watch.drain(x.resp.Body)
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

// failure is the error of a request that broke: the caller's context first, then
// the watchdog, then what the doer said.
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
