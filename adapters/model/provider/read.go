package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
)

// usageTime is how long a complete answer may be silent before its usage.
const usageTime = 10 * time.Second

// sink yields events to the reader of a stream. Events without content are delayed, so that an
// answer that fails right after them can still be retried.
type sink struct {
	yield    func(model.Event, error) bool
	onAnswer func() // the model has begun to answer
	onFirst  func()
	held     []model.Event
	started  bool
	first    func() []model.Event // what precedes the answer; may be nil
}

// put yields one event; the error is [errStopped] if the reader stopped.
func (s *sink) put(e model.Event) error {
	if !s.started {
		s.held = append(s.held, e)
		if e.Kind == model.EventStreamStart || e.Kind == model.EventResponseMetadata || e.Kind == model.EventTextStart {
			return nil
		}
		s.started = true
		s.onFirst()
		if s.first != nil {
			s.held = append(s.first(), s.held...)
		}
		for _, e := range s.held {
			if !s.yield(e, nil) {
				return errStopped
			}
		}
		s.held = nil
		return nil
	}
	if !s.yield(e, nil) {
		return errStopped
	}
	return nil
}

// forget drops the events of a failed attempt.
func (s *sink) forget() { s.held = nil }

// reading is where an answer goes while it is read.
type reading struct {
	watch  *watchdog
	sink   *sink
	bill   *bill
	shared int // bytes of the request that an earlier one had
}

func (e *endpoint) read(ctx, actx context.Context, answer protocol.Answer, r reading) error {
	for {
		events, err := answer.Next()
		over := errors.Is(err, io.EOF)
		if err != nil && !over && answer.Complete() && ctx.Err() == nil && !e.opts.Exact {
			break // only the usage is missing
		}
		if err != nil && !over {
			return e.failure(ctx, actx, err, model.ReasonCut)
		}
		if answer.Complete() {
			r.watch.shorten(usageTime)
		}
		if err := e.give(ctx, events, r); err != nil {
			return err
		}
		if over {
			break
		}
	}
	events, err := answer.End()
	if errors.Is(err, protocol.ErrForeign) {
		return e.wrongAddress(err.Error())
	}
	if err != nil {
		return err //nolint:wrapcheck // it is an error of the model
	}
	return e.give(ctx, events, r)
}

// give passes on parsed events.
func (e *endpoint) give(ctx context.Context, events []model.Event, r reading) error {
	for _, event := range events {
		if event.Kind == model.EventError && !e.opts.Exact {
			return event.Err
		}
		if event.Kind == model.EventError && event.Raw != nil {
			event.Raw = json.RawMessage(e.masker.mask(string(event.Raw)))
		}
		r.bill.count(&event)
		if event.Kind == model.EventFinish {
			e.metrics.usage(e.Model, event.Usage)
			e.countCached(ctx, event.Usage, r.shared)
		}
		if err := r.sink.put(event); err != nil {
			return err
		}
	}
	return nil
}
