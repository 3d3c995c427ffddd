package loop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// run drives a loop and records its output, as chunk types with their ids.
type run struct {
	*loop.Loop
	t    *testing.T
	seen []string
}

func start(t *testing.T, c loop.Config, history ...uimessage.Message) (*run, []loop.Call) {
	t.Helper()
	ids := 0
	c.NewID = func() string { ids++; return fmt.Sprintf("id%d", ids) }
	c.MessageID = "m1"
	c.ErrorText = error.Error
	r := &run{Loop: loop.New(c), t: t}
	chunks, calls := r.Begin(history)
	r.take(chunks)
	return r, calls
}

func (r *run) take(chunks []uistream.Chunk) {
	for _, c := range chunks {
		var m map[string]any
		conformancetest.Decode(r.t, uistream.AppendJSON(nil, c), &m)
		s := c.Type()
		for _, k := range []string{"messageId", "id", "toolCallId", "errorText", "finishReason", "reason"} {
			if v, ok := m[k]; ok {
				s += fmt.Sprintf(" %v", v)
			}
		}
		r.seen = append(r.seen, s)
	}
}

func (r *run) want(lines ...string) {
	r.t.Helper()
	if diff := cmp.Diff(r.seen, lines); diff != "" {
		r.t.Errorf("chunks: -got +want\n%s", diff)
	}
	r.seen = nil
}

func (r *run) events(list ...model.Event) {
	for _, ev := range list {
		r.take(r.AppendEvent(nil, ev))
	}
}

func (r *run) end(err error) loop.Outcome {
	o := r.EndStream(err)
	r.take(o.Chunks)
	return o
}

func (r *run) next() loop.Decision {
	chunks, d := r.EndStep()
	r.take(chunks)
	return d
}

// step is a whole step in which the model makes calls that all succeed.
func (r *run) step(calls ...model.Event) (loop.Outcome, loop.Decision) {
	r.events(calls...)
	r.events(finished("tool-calls"))
	o := r.end(nil)
	for _, c := range o.Calls {
		r.take(r.ToolOutput(c.ID, json.RawMessage(`1`), false))
	}
	return o, r.next()
}

func finished(reason string) model.Event {
	return model.Event{Kind: model.EventFinish, Finish: model.FinishReason{Unified: reason}}
}

func said(id, text string) []model.Event {
	return []model.Event{
		{Kind: model.EventTextStart, ID: id}, {Kind: model.EventTextDelta, ID: id, Delta: text}, {Kind: model.EventTextEnd, ID: id},
	}
}

func called(id, name, input string) model.Event {
	return model.Event{Kind: model.EventToolCall, ID: id, ToolName: name, Input: input}
}

func names(calls []loop.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func TestNextMessage(t *testing.T) {
	r, _ := start(t, loop.Config{Tools: []loop.Tool{{Name: "a"}}})
	if _, d := r.step(append(said("0", "hm"), called("c1", "a", "{}"))...); d.Next != loop.NextStep {
		t.Fatalf("decision %+v", d)
	}
	r.want("start m1", "start-step", "text-start 0", "text-delta 0", "text-end 0", "tool-input-available c1",
		"tool-output-available c1", "finish-step")
	r.take(r.NextMessage("m2"))
	r.events(said("0", "now")...)
	r.events(finished("stop"))
	r.end(nil)
	if d := r.next(); d.Next != loop.NextDone {
		t.Errorf("decision %+v", d)
	}
	r.take(r.Finish())
	r.take(r.Finish())
	r.want("finish tool-calls", "start m2", "start-step", "text-start id1", "text-delta id1", "text-end id1", "finish-step", "finish stop")
}

// A cut stream has no effect: the repeated step gives the same result as an uncut one.
func TestRestartStep(t *testing.T) {
	r, _ := start(t, loop.Config{Tools: []loop.Tool{{Name: "a"}}, Guards: loop.Guards{EqualCalls: 2}})
	r.events(append(said("0", "half"), called("c1", "a", "{}"))...)
	first := slices.Clone(r.seen)
	o := r.end(nil)
	if !o.Cut || len(o.Calls) != 0 {
		t.Fatalf("cut stream: %+v", o)
	}
	r.RestartStep()
	r.seen = r.seen[:1]
	o, d := r.step(append(said("0", "half"), called("c1", "a", "{}"))...)
	if diff := cmp.Diff(r.seen[:len(first)], first); diff != "" {
		t.Errorf("the second try differs: %s", diff)
	}
	if o.Cut || len(o.Calls) != 1 || d.Next != loop.NextStep {
		t.Errorf("second try: %+v, %+v", o, d)
	}
}

func TestEndOfStream(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name   string
		events []model.Event
		err    error
		want   loop.Outcome // Cut, Err and Finish
		next   loop.Next
		chunks []string
	}{
		{
			name: "fails before it says anything", err: broken, next: loop.NextFailed,
			want: loop.Outcome{Cut: true, Err: broken, Finish: model.FinishReason{Unified: "error"}}, chunks: []string{"error broken"},
		},
		{
			name: "fails half way", events: said("t", "a")[:2], err: broken, next: loop.NextFailed,
			want:   loop.Outcome{Cut: true, Err: broken, Finish: model.FinishReason{Unified: "error"}},
			chunks: []string{"start-step", "text-start t", "text-delta t", "error broken", "finish-step", "finish error"},
		},
		{
			name: "error, then an ordinary end", events: []model.Event{{Kind: model.EventError, Err: broken}, finished("stop")}, next: loop.NextDone,
			want:   loop.Outcome{Finish: model.FinishReason{Unified: "stop"}},
			chunks: []string{"start-step", "error broken", "finish-step", "finish stop"},
		},
		{
			name: "says nothing at all", next: loop.NextFailed,
			want:   loop.Outcome{Cut: true, Err: loop.ErrNoOutput, Finish: model.FinishReason{Unified: "error"}},
			chunks: []string{"error " + loop.ErrNoOutput.Error()},
		},
		{
			name: "empty answer", events: []model.Event{{Kind: model.EventStreamStart}, finished("stop")}, next: loop.NextDone,
			want: loop.Outcome{Finish: model.FinishReason{Unified: "stop"}}, chunks: []string{"start-step", "finish-step", "finish stop"},
		},
		{
			name: "raw parts and metadata show nothing", next: loop.NextDone,
			events: []model.Event{{Kind: model.EventResponseMetadata}, {Kind: model.EventRaw}, {Kind: "unheard-of"}, finished("length")},
			want:   loop.Outcome{Finish: model.FinishReason{Unified: "length"}}, chunks: []string{"start-step", "finish-step", "finish length"},
		},
		{
			name: "parts that cannot be read", next: loop.NextFailed,
			events: []model.Event{{Kind: model.EventFile, Raw: json.RawMessage(`1`)}},
			want:   loop.Outcome{Cut: true, Finish: model.FinishReason{Unified: "other"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := start(t, loop.Config{})
			r.seen = nil
			r.events(tt.events...)
			o := r.end(tt.err)
			if o.Cut != tt.want.Cut || !errors.Is(o.Err, tt.want.Err) || o.Finish != tt.want.Finish {
				t.Errorf("outcome %+v, want %+v", o, tt.want)
			}
			if tt.chunks == nil {
				if len(r.seen) != 2 || !strings.HasPrefix(r.seen[1], "error") {
					t.Errorf("chunks %v", r.seen)
				}
				return
			}
			if d := r.next(); d.Next != tt.next {
				t.Errorf("next %s, want %s", d.Next, tt.next)
			}
			r.take(r.Finish())
			r.want(tt.chunks...)
		})
	}
}

func TestWaiting(t *testing.T) {
	r, _ := start(t, loop.Config{Tools: []loop.Tool{
		{Name: "ask", Asks: func(loop.Call) bool { return true }}, {Name: "run"},
	}})
	o, d := r.step(called("c1", "ask", "{}"), called("c3", "run", "{}"), called("c4", "none", "{}"))
	if d.Next != loop.NextWait {
		t.Errorf("decision %+v", d)
	}
	if len(o.Approvals) != 1 || o.Approvals[0].Call.ID != "c1" || o.Approvals[0].ID != "id1" {
		t.Errorf("approvals %+v", o.Approvals)
	}
	if diff := cmp.Diff([][]string{names(o.Calls), names(o.Invalid)}, [][]string{{"c3"}, {"c4"}}); diff != "" {
		t.Errorf("calls, invalid: -got +want\n%s", diff)
	}
}

func TestOutcomesThatNobodyAskedFor(t *testing.T) {
	r, _ := start(t, loop.Config{Tools: []loop.Tool{{Name: "a"}}})
	r.step(called("c1", "a", "{}"))
	r.seen = nil
	r.take(r.ToolOutput("c1", json.RawMessage(`2`), false))
	r.take(r.ToolError("never", errors.New("x")))
	r.want()
	r.take(r.Finish())
	r.events(said("t", "late")...)
	r.want("finish tool-calls")
	if d := r.next(); d.Next != loop.NextFailed {
		t.Errorf("a step ended after the run: %+v", d)
	}
}

func TestInputs(t *testing.T) {
	needsA := func(_ string, in json.RawMessage) error {
		if !strings.Contains(string(in), `"a"`) {
			return errors.New("a is missing")
		}
		return nil
	}
	tests := []struct {
		name, input, want, err string
	}{
		{"fits", `{"a":1}`, `{"a":1}`, ""},
		{"spaces go", "{ \"a\" :\n1 }", `{"a":1}`, ""},
		{"nothing is an empty object", " ", ``, "Invalid input for tool t: a is missing"},
		{"misses its schema", `{"b":1}`, `{"b":1}`, "Invalid input for tool t: a is missing"},
		{"no JSON", `{"a":`, ``, "Invalid input for tool t: JSON parsing failed"},
		{"two values", `{"a":1}{}`, ``, "Invalid input for tool t: JSON parsing failed"},
		{"prototype", `{"a":{"__proto__":{}}}`, ``, "Invalid input for tool t: object contains a forbidden"},
		{"hidden prototype", `{"a":[{"\u005f_proto__":1}]}`, ``, "Invalid input for tool t: object contains a forbidden"},
		{"prototype of a constructor", `{"a":1,"constructor":{"prototype":1}}`, ``, "Invalid input for tool t: object contains a forbidden"},
		{"the word alone is fine", `{"a":"__proto__","constructor":{"x":1}}`, `{"a":"__proto__","constructor":{"x":1}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := start(t, loop.Config{Tools: []loop.Tool{{Name: "t", Check: needsA}}})
			r.events(called("c", "t", tt.input), finished("tool-calls"))
			o := r.end(nil)
			list := append(o.Calls, o.Invalid...)
			if len(list) != 1 {
				t.Fatalf("outcome %+v", o)
			}
			c := list[0]
			if string(c.Input) != tt.want {
				t.Errorf("input %s, want %s", c.Input, tt.want)
			}
			if got := fmt.Sprint(c.Err); tt.err == "" && c.Err != nil || !strings.HasPrefix(got, tt.err) && tt.err != "" {
				t.Errorf("error %v, want %s", c.Err, tt.err)
			}
			if c.Input == nil && c.RawInput != tt.input {
				t.Errorf("raw input %q, want %q", c.RawInput, tt.input)
			}
		})
	}
}

func TestUnknownTools(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tools []loop.Tool
		want  string
	}{
		{"no tools", nil, "Model tried to call unavailable tool 'x'. No tools are available."},
		{"others", []loop.Tool{{Name: "b"}, {Name: "a"}}, "Model tried to call unavailable tool 'x'. Available tools: b, a."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := start(t, loop.Config{Tools: tt.tools})
			o, d := r.step(called("c", "x", "{}"))
			if len(o.Invalid) != 1 || o.Invalid[0].Err.Error() != tt.want || d.Next != loop.NextStep {
				t.Errorf("outcome %+v, %+v", o, d)
			}
		})
	}
}
