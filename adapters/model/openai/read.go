package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
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
	p := &parser{exact: e.opts.Exact, fail: e.masker.objectError}
	if !e.opts.Exact {
		p.used = usedIDs(req.Messages)
	}
	p.emit(model.Event{Kind: model.EventStreamStart})
	tags := &tagFilter{names: e.Settings.ReasoningTags}
	source, done := e.sourceOf(x)
	defer done()
	said := false // the server sent [DONE]
	for {
		data, err := source.next()
		if said = err == nil && string(data) == doneData; said || errors.Is(err, io.EOF) {
			break
		}
		if err != nil && p.ended && ctx.Err() == nil && !e.opts.Exact {
			break // only the usage is missing
		}
		if err != nil {
			return e.failure(ctx, actx, err, model.ReasonCut)
		}
		if p.feed(data); p.ended {
			x.watch.shorten(usageTime)
		}
		if err := e.give(tags.filter(p.events()), s); err != nil {
			return err
		}
	}
	if _, bare := source.(*objects); bare && p.fed && !p.answer && p.finish == nil && !e.opts.Exact {
		return e.wrongAddress("JSON of another kind")
	}
	if p.finish == nil && !e.opts.Exact {
		if !said && p.usage == nil && !p.whole {
			return errCut("")
		}
		p.unnamed()
	}
	if err := p.close(); err != nil {
		return err
	}
	return e.give(tags.filter(p.events()), s)
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

// source provides the data of an answer, event by event.
type source interface {
	next() ([]byte, error)
}

// sourceOf reads a stream of events, or bare objects: one for a whole answer, or one per line. The
// first byte decides, because proxies send arbitrary content types; in exact mode only the type
// decides. Call done when nothing of it is used any more.
func (e *endpoint) sourceOf(x *exchange) (s source, done func()) {
	r := e.readers.of(x.resp.Body)
	kind, _, err := mime.ParseMediaType(x.resp.Header.Get("Content-Type"))
	bare := err == nil && kind == "application/json"
	if !e.opts.Exact {
		switch r.first() {
		case '{':
			bare = true
		case 'd', 'e', 'i', 'r', ':': // of data, event, id, retry or a comment
			bare = false
		}
	}
	if bare {
		return &objects{json.NewDecoder(io.LimitReader(r.r, maxEvent))}, func() { e.readers.back(r) }
	}
	return r, func() { e.readers.back(r) }
}

// objects returns each value of a body of JSON values as one event.
type objects struct{ decoder *json.Decoder }

func (o *objects) next() ([]byte, error) {
	var value json.RawMessage
	if err := o.decoder.Decode(&value); err != nil {
		return nil, err // the caller adds the context
	}
	return value, nil
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
