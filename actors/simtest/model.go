package simtest

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// simModel is a model that answers and fails as the seed decides.
type simModel struct {
	life *life
	key  messages.ChatKey // whose requests it answers
}

func (m simModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		l, s := m.life, m.life.sim
		s.asked++
		name := "model " + req.ID + " " + itoa(s.asked)
		l.turn(name)
		if err := modeltest.Strict(req); err != nil {
			s.failf("P4 request %s: %v", req.ID, err)
			yield(model.Event{}, &model.Error{Reason: model.ReasonBadRequest, Status: 400, Err: err})
			return
		}
		if !summarizes(req) && ctx.Err() == nil {
			s.witness(m.key).asked(req)
			if !m.takes(req) {
				s.witness(m.key).excuse(tooLong)
				yield(model.Event{}, &model.Error{Reason: model.ReasonTooLong, Status: 400})
				return
			}
		}
		events := m.answer(req)
		fault, at := m.fault(len(events))
		for i, ev := range events {
			if i == at {
				if err := m.fail(ctx, name, fault); err != nil {
					yield(model.Event{}, err)
					return
				}
			}
			if ctx.Err() != nil {
				yield(model.Event{}, context.Cause(ctx))
				return
			}
			if !yield(ev, nil) {
				return
			}
			if s.chance(6) {
				l.wait(name, s.upTo(3*time.Second), ctx.Done())
			}
		}
	}
}

// fault chooses the failure, and the event before which it happens.
func (m simModel) fault(n int) (kind string, at int) {
	s := m.life.sim
	if !s.faulty() || !s.chance(3) {
		return "", -1
	}
	switch s.rnd.IntN(8) {
	case 0:
		return "model 429", 0
	case 1:
		return "model overloaded", s.rnd.IntN(n)
	case 2, 3:
		return "stream cut", s.rnd.IntN(n)
	case 4:
		return "model hangs", s.rnd.IntN(n)
	case 5:
		return "model panic", s.rnd.IntN(n)
	case 6:
		return "model refuses", 0
	default:
		return "delay", s.rnd.IntN(n)
	}
}

// fail is a fault as the caller sees it; nil means that the answer continues.
func (m simModel) fail(ctx context.Context, name, kind string) error {
	l, s := m.life, m.life.sim
	s.fault(kind, name)
	switch kind {
	case "model 429":
		return &model.Error{Reason: model.ReasonRate, Retryable: true, RetryAfter: s.upTo(20 * time.Second), Status: 429}
	case "model overloaded":
		return &model.Error{Reason: model.ReasonOverloaded, Retryable: true, Status: 529}
	case "stream cut":
		return &model.Error{Reason: model.ReasonCut, Retryable: true}
	case "model hangs":
		if !l.wait(name+" hangs", 2*time.Minute, ctx.Done()) {
			return context.Cause(ctx)
		}
		return &model.Error{Reason: model.ReasonIdle, Retryable: true}
	case "model panic":
		panic("a fault in the model")
	case "model refuses":
		return &model.Error{Reason: model.ReasonBadRequest, Status: 400}
	}
	if !l.wait(name+" late", s.upTo(30*time.Second), ctx.Done()) {
		return context.Cause(ctx)
	}
	return nil
}

// answer is words or calls; after some calls in a row, words.
func (m simModel) answer(req model.Request) []model.Event {
	s := m.life.sim
	if summarizes(req) {
		return m.summary()
	}
	results := 0
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != modelmessage.RoleUser; i-- {
		results++
	}
	if results > 6 || s.chance(2) {
		return append(modeltest.TextEvents(m.words()...), modeltest.Finish("stop"))
	}
	var calls []modeltest.Call
	for range 1 + s.rnd.IntN(3) {
		calls = append(calls, m.call(req))
	}
	var events []model.Event
	if s.chance(2) {
		events = modeltest.TextEvents(m.words()...)
	}
	events = append(events, modeltest.CallEvents(calls...)...)
	return append(events, modeltest.Finish("tool-calls"))
}

// words are an answer in pieces, sometimes empty. All pieces are unique.
func (m simModel) words() []string {
	s := m.life.sim
	if s.chance(40) {
		return nil
	}
	pieces := []string{"About " + s.token()}
	long := 1
	if s.chance(8) {
		long = 40
	}
	for range long {
		pieces = append(pieces, " and "+s.token()+strings.Repeat("·", 3))
	}
	return pieces
}

// call is one call, sometimes an invalid one.
func (m simModel) call(req model.Request) modeltest.Call {
	s := m.life.sim
	s.calls++
	c := modeltest.Call{ID: "c" + itoa(s.calls), Name: "nothing", Input: `{"k":` + itoa(s.calls) + `}`}
	if n := s.rnd.IntN(len(req.Tools) + 1); n < len(req.Tools) {
		c.Name = req.Tools[n].Name
	}
	switch {
	case s.chance(30):
		c.Input = `{"broken`
	case s.chance(30):
		c.Input = `{}`
	case c.Name == "ask" && s.calls > 9 && s.chance(6):
		c.Input = `{"k":` + itoa(s.asks) + `}` // the same as in an earlier request
	}
	if c.Name == "ask" {
		s.asks = max(s.asks, number([]byte(c.Input)))
	}
	return c
}
