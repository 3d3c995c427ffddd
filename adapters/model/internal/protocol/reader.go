package protocol

import (
	"io"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/sse"
)

// Parser turns the data of an answer's events into stream parts.
type Parser interface {
	// Feed parses the data of one event, and does not retain it.
	Feed(data []byte)
	// Events returns what was parsed since the last call. The slice is reused.
	Events() []model.Event
	// Complete reports that at most the usage of the answer is still missing, and Over that the
	// service has said that nothing follows.
	Complete() bool
	Over() bool
	// Usage returns the tokens that were reported so far.
	Usage() model.Usage
	// Known reports that there was an event of a kind that models send.
	Known() bool
	// Close ends the answer. done means that the server sent [sse.Done]. An error means that the answer
	// is not whole.
	Close(done bool) error
}

// Parsed are the stream parts that a parser has made, for parsers to embed.
type Parsed struct {
	Ours bool // there was an event of the protocol
	out  []model.Event
}

// Known is part of [Parser].
func (p *Parsed) Known() bool { return p.Ours }

// Events is part of [Parser].
func (p *Parsed) Events() []model.Event {
	out := p.out
	p.out = p.out[:0]
	return out
}

// Emit adds a stream part.
func (p *Parsed) Emit(e model.Event) { p.out = append(p.out, e) }

// Broken ends the answer with a failure after which it may be requested again.
func (p *Parsed) Broken(what string) {
	p.Emit(model.Event{Kind: model.EventError, Err: &model.Error{Reason: model.ReasonCut, Retryable: true, Message: what, Err: ErrBadAnswer}})
}

// Reader reads an answer with the parser of its protocol; it implements [Answer].
type Reader struct {
	Parser Parser
	Source sse.Source
	done   bool
}

var _ Answer = (*Reader)(nil)

// Next implements [Answer].
func (r *Reader) Next() ([]model.Event, error) {
	data, err := r.Source.Next()
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller describes it
	}
	if string(data) == sse.Done {
		r.done = true
		return nil, io.EOF
	}
	r.Parser.Feed(data)
	if r.Parser.Over() {
		return r.Parser.Events(), io.EOF
	}
	return r.Parser.Events(), nil
}

// Complete implements [Answer].
func (r *Reader) Complete() bool { return r.Parser.Complete() }

// Usage implements [Answer].
func (r *Reader) Usage() model.Usage { return r.Parser.Usage() }

// End implements [Answer].
func (r *Reader) End() ([]model.Event, error) {
	if r.Source.Bare() && !r.Parser.Known() {
		return nil, ErrForeign
	}
	if err := r.Parser.Close(r.done); err != nil {
		return nil, err //nolint:wrapcheck // it is an error of the model
	}
	return r.Parser.Events(), nil
}

// Close implements [Answer].
func (r *Reader) Close() { r.Source.Close() }
