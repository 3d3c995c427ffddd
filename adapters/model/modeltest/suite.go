package modeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Service is a protocol for [Suite]: its strict server and its client.
type Service struct {
	// Start serves a model by the protocol until the test ends, for requests with the key. It returns the address, and a
	// function that returns the server's faults.
	Start func(t *testing.T, m model.Model, key string) (url string, faults func() []error)
	// Client returns a client that makes at most the given number of attempts, waits for idle between two pieces of an
	// answer, and ten times as long for its beginning.
	Client func(t *testing.T, url, key string, attempts int, idle time.Duration) model.Model
	// Overloaded is the status of a server that is overloaded.
	Overloaded int
	// Habits turn the events of an answer into those that less careful servers of the protocol send, by their names in
	// the suite. The protocol cannot have the habits that are missing.
	Habits map[string]func([]WireEvent) []WireEvent
}

const suiteKey = "sk-suite-0123456789"

// Suite tests what every protocol promises: the same answer gives the same events, and the same
// failure the same error, whatever the protocol says on its wire.
func Suite(t *testing.T, s Service) {
	t.Helper()
	t.Run("answers", s.answers)
	t.Run("failures", s.failures)
	t.Run("retries", s.retries)
	t.Run("stops", s.stops)
	t.Run("crowd", s.manyCalls)
	t.Run("habits", s.habits)
}

func suiteRequest() model.Request {
	return model.Request{
		System:   "You are kind.",
		Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "hi"}},
		Tools:    []model.ToolSpec{{Name: "look", Description: "looks", InputSchema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`)}},
	}
}

// listen returns the contents of an answer in order: runs of text and reasoning, calls, the finish.
// A call without an input is one with an empty object.
func listen(ctx context.Context, m model.Model, req model.Request) (list []string, err error) {
	add := func(kind, text string) {
		if n := len(list); n > 0 && strings.HasPrefix(list[n-1], kind+" ") && kind != "call" {
			list[n-1] += text
			return
		}
		list = append(list, kind+" "+text)
	}
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return list, err
		}
		switch e.Kind {
		case model.EventTextDelta:
			add("text", e.Delta)
		case model.EventReasoningDelta:
			if e.Delta != "" {
				add("reasoning", e.Delta)
			}
		case model.EventToolCall:
			add("call", e.ID+" "+e.ToolName+" "+cmp.Or(e.Input, "{}"))
		case model.EventFinish:
			add("finish", e.Finish.Unified)
		default: // the rest is not content
		}
	}
	return list, nil
}

func (s Service) begin(t *testing.T, key string, attempts int, steps ...Step) (model.Model, *Script) {
	t.Helper()
	script := NewScript(steps...)
	url, faults := s.Start(t, script, suiteKey)
	t.Cleanup(func() {
		if list := append(faults(), script.Faults()...); len(list) > 0 {
			t.Errorf("requests that the service refuses: %v", list)
		}
	})
	return s.Client(t, url, key, attempts, time.Minute), script
}

func (s Service) answers(t *testing.T) {
	for _, tt := range []struct {
		name string
		step Step
		want []string
	}{
		{"text", Say("Hello", ", you", " <b>\u2028"), []string{"text Hello, you <b>\u2028", "finish stop"}},
		{"reasoning and text", Step{Reasoning: []string{"I ", "think"}, Text: []string{"so"}}, []string{"reasoning I think", "text so", "finish stop"}},
		{"calls", CallTools(Call{ID: "c_1", Name: "look", Input: `{"q":"x \"y\""}`}, Call{ID: "c_2", Name: "look", Input: `{}`}), []string{`call c_1 look {"q":"x \"y\""}`, "call c_2 look {}", "finish tool-calls"}},
		{"text and calls", Step{Text: []string{"I look."}, Calls: []Call{{ID: "c_1", Name: "look", Input: `{"q":"1"}`}}}, []string{"text I look.", `call c_1 look {"q":"1"}`, "finish tool-calls"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := s.begin(t, suiteKey, 1, tt.step)
			got, err := listen(t.Context(), m, suiteRequest())
			stdtest.Must(t, err)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	}
}

func (s Service) failures(t *testing.T) {
	fail := func(r model.Reason) Step { return FailWith(r, true) }
	for _, tt := range []struct {
		name      string
		step      Step
		key       string
		reason    model.Reason
		status    int
		retryable bool
		heard     []string
	}{
		{name: "rate", step: fail(model.ReasonRate), reason: model.ReasonRate, status: 429, retryable: true},
		{name: "overloaded", step: fail(model.ReasonOverloaded), reason: model.ReasonOverloaded, status: s.Overloaded, retryable: true},
		{name: "too long", step: fail(model.ReasonTooLong), reason: model.ReasonTooLong, status: 400},
		{name: "unknown model", step: Fail(&model.Error{Reason: model.ReasonNotFound, Message: "model: m"}), reason: model.ReasonNotFound, status: 404},
		{name: "refused", step: fail(model.ReasonBadRequest), reason: model.ReasonBadRequest, status: 400},
		{name: "wrong key", step: Say("x"), key: "sk-wrong-0123456789", reason: model.ReasonAuth, status: 401},
		{name: "cut", step: CutAfter("half"), reason: model.ReasonCut, retryable: true, heard: []string{"text half"}},
		{name: "overloaded in the stream", step: Step{Text: []string{"half"}, Err: &model.Error{Reason: model.ReasonOverloaded, Message: "busy"}}, reason: model.ReasonOverloaded, retryable: true, heard: []string{"text half"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := tt.key
			if key == "" {
				key = suiteKey
			}
			m, _ := s.begin(t, key, 1, tt.step)
			got, err := listen(t.Context(), m, suiteRequest())
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Reason != tt.reason || e.Status != tt.status || e.Retryable != tt.retryable {
				t.Errorf("failed with %#v, want %s, %d, retryable %t", e, tt.reason, tt.status, tt.retryable)
			}
			if diff := gocmp.Diff(tt.heard, got); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
			if err != nil && (strings.Contains(err.Error(), suiteKey) || strings.Contains(err.Error(), "sk-wrong")) {
				t.Errorf("the error has the key: %v", err)
			}
		})
	}
}

// retries answers only the third request, and tests that an answer that has begun is not requested again.
func (s Service) retries(t *testing.T) {
	m, script := s.begin(t, suiteKey, 3, FailWith(model.ReasonOverloaded, true), Fail(&model.Error{Reason: model.ReasonRate, Status: 429}), Say("at last"))
	got, err := listen(t.Context(), m, suiteRequest())
	if diff := gocmp.Diff([]string{"text at last", "finish stop"}, got); diff != "" || err != nil || script.Left() != 0 {
		t.Errorf("%v, %d steps left (-want +got):\n%s", err, script.Left(), diff)
	}
	m, script = s.begin(t, suiteKey, 3, CutAfter("half"), Say("again"))
	if _, err := listen(t.Context(), m, suiteRequest()); model.ReasonOf(err) != model.ReasonCut || script.Left() != 1 {
		t.Errorf("an answer that was cut: %v, %d steps left, want it not requested again", err, script.Left())
	}
}

// stops ends reading an answer early, by itself and by the end of the context.
func (s Service) stops(t *testing.T) {
	m, _ := s.begin(t, suiteKey, 3, Step{Text: []string{"half"}, Stall: true}, Step{Text: []string{"half"}, Stall: true})
	for _, err := range m.Stream(t.Context(), suiteRequest()) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	gone := errors.New("the person left")
	for e, err := range m.Stream(ctx, suiteRequest()) {
		if e.Kind == model.EventTextDelta {
			cancel(gone)
		}
		if err != nil && !errors.Is(err, gone) {
			t.Errorf("ended with %v, want the cause", err)
		}
	}
	if !errors.Is(context.Cause(ctx), gone) {
		t.Error("nothing was heard")
	}
}

// manyCalls makes many calls at once.
func (s Service) manyCalls(t *testing.T) {
	const calls = 30
	steps := make([]Step, calls)
	for i := range steps {
		steps[i] = Say("a", "b", "c")
	}
	m, _ := s.begin(t, suiteKey, 1, steps...)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() {
			req := suiteRequest()
			req.Messages[0].Text = fmt.Sprint("hi ", i)
			if got, err := listen(t.Context(), m, req); err != nil || len(got) != 2 || got[0] != "text abc" {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	all.Wait()
}
