package demo

import (
	"context"
	"encoding/json"
	"iter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// Name is the model id that the demo model reports.
const Name = "demo"

// The pauses between two pieces of an answer, and of the slow answer.
const (
	pace     = 25 * time.Millisecond
	slowPace = 400 * time.Millisecond
)

// Model is the demo model. It is safe for concurrent use and stateless.
type Model struct {
	// pause returns early with the context's cause when ctx ends.
	pause func(ctx context.Context, d time.Duration) error
}

var _ model.Model = (*Model)(nil)

// New returns a demo model.
func New() *Model { return &Model{apicall.Pause} }

// Stream implements [model.Model].
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		a := plan(req)
		w := &writer{model: m, yield: yield, pace: pace}
		if a.slow {
			w.pace = slowPace
		}
		if err := w.write(ctx, a, req); err != nil {
			yield(model.Event{}, err)
		}
	}
}

// writer streams one answer.
type writer struct {
	model *Model
	pace  time.Duration
	yield func(model.Event, error) bool
	gone  bool // the reader stopped
	out   int  // letters written
}

func (w *writer) put(e model.Event) {
	if !w.gone {
		w.gone = !w.yield(e, nil)
	}
}

// write yields the events of an answer; it ends early, without an error, if the reader stops.
func (w *writer) write(ctx context.Context, a answer, req model.Request) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.put(model.Event{Kind: model.EventStreamStart})
	w.put(model.Event{Kind: model.EventResponseMetadata, Raw: json.RawMessage(`{"id":"demo","modelId":"` + Name + `"}`)})
	if a.text != "" {
		w.put(model.Event{Kind: model.EventTextStart, ID: "txt-0"})
		err := w.pieces(ctx, a.text, func(piece string) { w.put(model.Event{Kind: model.EventTextDelta, ID: "txt-0", Delta: piece}) })
		if err != nil || w.gone {
			return err
		}
		w.put(model.Event{Kind: model.EventTextEnd, ID: "txt-0"})
	}
	reason := "stop"
	for _, c := range a.calls {
		reason = "tool-calls"
		if err := w.call(ctx, c); err != nil || w.gone {
			return err
		}
	}
	w.put(model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: reason, Raw: reason}, Usage: w.usage(req)})
	return nil
}

// call streams the input of a call like a real model, so that its drafts are shown.
func (w *writer) call(ctx context.Context, c call) error {
	w.put(model.Event{Kind: model.EventToolInputStart, ID: c.id, ToolName: c.tool})
	err := w.pieces(ctx, c.input, func(piece string) { w.put(model.Event{Kind: model.EventToolInputDelta, ID: c.id, Delta: piece}) })
	if err != nil || w.gone {
		return err
	}
	w.put(model.Event{Kind: model.EventToolInputEnd, ID: c.id})
	w.put(model.Event{Kind: model.EventToolCall, ID: c.id, ToolName: c.tool, Input: c.input})
	return nil
}

func (w *writer) pieces(ctx context.Context, text string, put func(string)) error {
	for i, piece := range split(text) {
		if i > 0 {
			if err := w.model.pause(ctx, w.pace); err != nil {
				return err
			}
		}
		w.out += len(piece)
		if put(piece); w.gone {
			return nil
		}
	}
	return nil
}

// usage is a rough count, so that budgets and metrics have values.
func (w *writer) usage(req model.Request) model.Usage {
	in := len(req.System)
	for _, m := range req.Messages {
		in += len(m.Text)
		for _, p := range m.Parts {
			if b, err := modelmessage.EncodePart(p); err == nil {
				in += len(b)
			}
		}
	}
	return model.Usage{InputTokens: new(int64(in/4 + 1)), OutputTokens: new(int64(w.out/4 + 1))}
}

// split cuts a text into words with the space after them, and into pairs of letters where words are
// not separated by spaces.
func split(text string) []string {
	var out []string
	start, wide := 0, 0
	for i, r := range text {
		if unicode.Is(unicode.Han, r) {
			wide++
		}
		end := i + utf8.RuneLen(r)
		if r == ' ' || r == '\n' || wide == 2 {
			out = append(out, text[start:end])
			start, wide = end, 0
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// input is the input of chat_send or remember_note.
func input(text string, final bool) string {
	raw, _ := plainjson.Append(nil, struct {
		Text  string `json:"text"`
		Final bool   `json:"final,omitempty"`
	}{text, final}) // it always encodes
	return string(raw)
}
