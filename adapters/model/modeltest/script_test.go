package modeltest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func question() model.Request {
	return model.Request{Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "hi"}}}
}

// heard collects the text, the kinds and the error of an answer.
func heard(ctx context.Context, m model.Model, req model.Request) (text string, kinds []model.EventKind, err error) {
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return text, kinds, err
		}
		if e.Kind == model.EventTextDelta {
			text += e.Delta
		}
		kinds = append(kinds, e.Kind)
	}
	return text, kinds, nil
}

func TestScriptOrder(t *testing.T) {
	s := NewScript(Say("one"))
	s.Add(Step{Reasoning: []string{"hm"}, Text: []string{"two"}, Calls: []Call{{"c", "t", "{}"}}})
	first, _, _ := heard(t.Context(), s, question())
	second, kinds, _ := heard(t.Context(), s, question())
	if first != "one" || second != "two" {
		t.Errorf("heard %q and %q", first, second)
	}
	want := []model.EventKind{
		model.EventReasoningStart, model.EventReasoningDelta, model.EventReasoningEnd,
		model.EventTextStart, model.EventTextDelta, model.EventTextEnd,
		model.EventToolInputStart, model.EventToolInputDelta, model.EventToolInputEnd, model.EventToolCall, model.EventFinish,
	}
	stdtest.Diff(t, "events", want, kinds)
	if _, _, err := heard(t.Context(), s, question()); model.ReasonOf(err) != model.ReasonInternal || len(s.Faults()) != 1 {
		t.Errorf("a used up script gave %v and faults %v", err, s.Faults())
	}
}

func TestScriptRefuses(t *testing.T) {
	s := NewScript(Say("x"))
	if _, _, err := heard(t.Context(), s, model.Request{}); model.ReasonOf(err) != model.ReasonBadRequest {
		t.Errorf("got %v, want a bad request", err)
	}
	if s.Left() != 1 || len(s.Faults()) != 1 {
		t.Errorf("left %d, faults %v", s.Left(), s.Faults())
	}
}

func TestScriptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := make(chan struct{}), make(chan struct{})
		s := NewFunc(nil)
		s.Otherwise = &Step{Wait: before, Text: []string{"a"}, WaitAfterText: after}
		got := make(chan model.EventKind, 8)
		go func() {
			for e, err := range s.Stream(t.Context(), question()) {
				if err != nil {
					t.Error(err)
				}
				got <- e.Kind
			}
			close(got)
		}()
		stdtest.Must(t, s.WaitAsked(t.Context(), 1))
		synctest.Wait()
		if len(got) != 0 {
			t.Fatal("events before the release")
		}
		close(before)
		synctest.Wait()
		if len(got) != 3 {
			t.Fatalf("%d events before the second release, want the text", len(got))
		}
		close(after)
		synctest.Wait()
		if len(got) != 4 {
			t.Fatalf("%d events, want the finish too", len(got))
		}
	})
}

func TestScriptEndsWithContext(t *testing.T) {
	stop := errors.New("stop")
	for name, step := range map[string]Step{"stalled": {Stall: true}, "held": Held(make(chan struct{}), Say("x"))} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(stop)
			if _, _, err := heard(ctx, NewScript(step), question()); !errors.Is(err, stop) {
				t.Errorf("got %v, want the cause", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewScript().WaitAsked(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ended with %v", err)
	}
}
