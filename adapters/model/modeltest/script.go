package modeltest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Step is the answer to one request, played in the order of its members.
type Step struct {
	// Wait, if not nil, holds everything back until the test closes it.
	Wait <-chan struct{}

	Reasoning []string // pieces
	Text      []string // pieces
	// WaitAfterText holds back everything after the text until the test closes it.
	WaitAfterText <-chan struct{}
	Calls         []Call

	// Do, if not nil, returns the events instead of Reasoning, Text and Calls. A complete
	// answer ends with [Finish].
	Do func(req model.Request) []model.Event

	// Err ends the answer here without a finish; it should be a [*model.Error].
	Err error
	// Stall keeps silent here until the caller's context ends.
	Stall bool

	// FinishReason replaces stop, or tool-calls after calls.
	FinishReason string
	Usage        model.Usage
}

// Call is a tool call of a step. An input without pieces is sent whole.
type Call struct {
	ID    string
	Name  string
	Input string // JSON text
}

// Say answers with text, in the given pieces.
func Say(pieces ...string) Step { return Step{Text: pieces} }

// CallTools answers with calls.
func CallTools(calls ...Call) Step { return Step{Calls: calls} }

// Fail fails before the first event.
func Fail(err error) Step { return Step{Err: err} }

// FailWith fails before the first event with an error of this reason.
func FailWith(reason model.Reason, retryable bool) Step {
	return Step{Err: &model.Error{Reason: reason, Retryable: retryable, Message: "scripted"}}
}

// CutAfter streams the pieces and then fails.
func CutAfter(pieces ...string) Step {
	return Step{Text: pieces, Err: &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "scripted cut"}}
}

// Do answers with the events of a function.
func Do(f func(req model.Request) []model.Event) Step { return Step{Do: f} }

// Held is the step, held back until release is closed.
func Held(release <-chan struct{}, s Step) Step {
	s.Wait = release
	return s
}

// Script is a model that plays its steps, one for each request, in the order in
// which requests come. Requests that break the rules of [Strict] fail without
// using up a step.
type Script struct {
	// Otherwise answers when no steps are left. If it is nil, such requests fail.
	Otherwise *Step

	mu       sync.Mutex
	steps    []Step
	requests []model.Request
	faults   []error
	asked    chan struct{} // closed and replaced at every request
}

var _ model.Model = (*Script)(nil)

// NewScript returns a script of the steps.
func NewScript(steps ...Step) *Script {
	return &Script{steps: steps, asked: make(chan struct{})}
}

// NewFunc returns a model that answers every request with the function's events.
func NewFunc(f func(req model.Request) []model.Event) *Script {
	s := NewScript()
	s.Otherwise = &Step{Do: f}
	return s
}

// Add appends steps.
func (s *Script) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Requests returns the requests so far, refused ones included.
func (s *Script) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Faults returns the errors of [Strict], and an error for each request without a step. A test should expect none.
func (s *Script) Faults() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// Left is the number of steps that remain.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// WaitAsked waits until there were n requests in total, or for the end of the context.
func (s *Script) WaitAsked(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		count, asked := len(s.requests), s.asked
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-asked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Stream implements [model.Model].
func (s *Script) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		step, err := s.take(req)
		if err == nil {
			err = step.play(ctx, req, func(e model.Event) bool { return yield(e, nil) })
		}
		if err != nil {
			yield(model.Event{}, err)
		}
	}
}

func (s *Script) take(req model.Request) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	close(s.asked)
	s.asked = make(chan struct{})
	if err := Strict(req); err != nil {
		s.faults = append(s.faults, err)
		return Step{}, &model.Error{Reason: model.ReasonBadRequest, Status: 400, Message: err.Error(), Err: err}
	}
	switch {
	case len(s.steps) > 0:
		step := s.steps[0]
		s.steps = s.steps[1:]
		return step, nil
	case s.Otherwise != nil:
		return *s.Otherwise, nil
	default:
		err := &model.Error{Reason: model.ReasonInternal, Message: "the script is over"}
		s.faults = append(s.faults, err)
		return Step{}, err
	}
}

// play yields the events of the step. It also returns nil if the reader stops early.
func (p Step) play(ctx context.Context, req model.Request, yield func(model.Event) bool) error {
	if err := await(ctx, p.Wait); err != nil {
		return err
	}
	first, second := p.events(req)
	if !all(ctx, first, yield) {
		return context.Cause(ctx)
	}
	if err := await(ctx, p.WaitAfterText); err != nil {
		return err
	}
	if p.Stall {
		return await(ctx, make(chan struct{}))
	}
	if !all(ctx, second, yield) {
		return context.Cause(ctx)
	}
	return p.Err
}

// events returns the events before and after the second wait.
func (p Step) events(req model.Request) (first, second []model.Event) {
	if p.Do != nil {
		return p.Do(req), nil
	}
	first = append(ReasoningEvents(p.Reasoning...), TextEvents(p.Text...)...)
	second = CallEvents(p.Calls...)
	if p.Err != nil {
		return first, second
	}
	reason := p.FinishReason
	switch {
	case reason != "":
	case len(p.Calls) > 0:
		reason = "tool-calls"
	default:
		reason = "stop"
	}
	finish := Finish(reason)
	finish.Usage = p.Usage
	return first, append(second, finish)
}

func all(ctx context.Context, events []model.Event, yield func(model.Event) bool) bool {
	for _, e := range events {
		if ctx.Err() != nil || !yield(e) {
			return false
		}
	}
	return true
}

// await waits for release, at once if it is nil.
func await(ctx context.Context, release <-chan struct{}) error {
	if release == nil {
		return nil
	}
	select {
	case <-release:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TextEvents are the events of one block of text, or none if there are no pieces.
func TextEvents(pieces ...string) []model.Event {
	return block(model.EventTextStart, model.EventTextDelta, model.EventTextEnd, "txt-0", pieces)
}

// ReasoningEvents are the events of one block of reasoning, or none if there are no pieces.
func ReasoningEvents(pieces ...string) []model.Event {
	return block(model.EventReasoningStart, model.EventReasoningDelta, model.EventReasoningEnd, "reasoning-0", pieces)
}

func block(start, delta, end model.EventKind, id string, pieces []string) []model.Event {
	if len(pieces) == 0 {
		return nil
	}
	out := []model.Event{{Kind: start, ID: id}}
	for _, piece := range pieces {
		out = append(out, model.Event{Kind: delta, ID: id, Delta: piece})
	}
	return append(out, model.Event{Kind: end, ID: id})
}

// CallEvents are the events of calls: the deltas of all inputs, then the calls.
func CallEvents(calls ...Call) []model.Event {
	var out []model.Event
	for _, c := range calls {
		out = append(out, model.Event{Kind: model.EventToolInputStart, ID: c.ID, ToolName: c.Name})
		if c.Input != "" {
			out = append(out, model.Event{Kind: model.EventToolInputDelta, ID: c.ID, Delta: c.Input})
		}
	}
	for _, c := range calls {
		out = append(out, model.Event{Kind: model.EventToolInputEnd, ID: c.ID},
			model.Event{Kind: model.EventToolCall, ID: c.ID, ToolName: c.Name, Input: c.Input})
	}
	return out
}

// Finish is the last event of a complete answer.
func Finish(reason string) model.Event {
	return model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: reason, Raw: reason}}
}
