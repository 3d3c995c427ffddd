package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider/internal/answer"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
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
}

// put yields one event; the error is [errStopped] if the reader stopped.
func (s *sink) put(e model.Event) error {
	if !s.started {
		s.held = append(s.held, e)
		if e.Kind == model.EventStreamStart || e.Kind == model.EventResponseMetadata {
			return nil
		}
		s.started = true
		s.onFirst()
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

// read reads an answer to its end.
func (e *endpoint) read(ctx, actx context.Context, x *exchange, req model.Request, s *sink) error {
	var used func(string) bool
	if !e.opts.Exact {
		used = usedIDs(req.Messages)
	}
	p := answer.NewParser(e.opts.Exact, e.Settings.ReasoningTags, e.masker.objectError, used)
	source := e.readers.Open(x.resp.Body, x.resp.Header.Get("Content-Type"), e.opts.Exact)
	defer source.Close()
	said := false // the server sent [DONE]
	for {
		data, err := source.Next()
		if said = err == nil && string(data) == answer.Done; said || errors.Is(err, io.EOF) {
			break
		}
		if err != nil && p.Complete() && ctx.Err() == nil && !e.opts.Exact {
			break // only the usage is missing
		}
		if err != nil {
			return e.failure(ctx, actx, err, model.ReasonCut)
		}
		if p.Feed(data); p.Complete() {
			x.watch.shorten(usageTime)
		}
		if err := e.give(p.Events(), s); err != nil {
			return err
		}
	}
	if source.Bare() && p.Foreign() && !e.opts.Exact {
		return e.wrongAddress("JSON of another kind")
	}
	if err := p.Close(said); err != nil {
		return err
	}
	return e.give(p.Events(), s)
}

// give passes on parsed events.
func (e *endpoint) give(events []model.Event, s *sink) error {
	for _, event := range events {
		if event.Kind == model.EventError && !e.opts.Exact {
			return event.Err
		}
		if event.Kind == model.EventError && event.Raw != nil {
			event.Raw = json.RawMessage(e.masker.mask(string(event.Raw)))
		}
		if event.Kind == model.EventFinish {
			e.metrics.usage(e.Model, event.Usage)
		}
		if err := s.put(event); err != nil {
			return err
		}
	}
	return nil
}

// usedIDs reports which call ids a history contains. The history is scanned when the first call
// arrives.
func usedIDs(messages []modelmessage.Message) func(string) bool {
	var ids map[string]bool
	return func(id string) bool {
		if ids == nil {
			ids = map[string]bool{}
			for _, m := range messages {
				for _, part := range m.Parts {
					if c, ok := part.(modelmessage.ToolCall); ok {
						ids[c.ToolCallID] = true
					}
				}
			}
		}
		return ids[id]
	}
}
