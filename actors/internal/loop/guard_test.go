package loop_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// guarded runs steps, each a list of calls "tool input", until the loop stops.
func guarded(t *testing.T, g loop.Guards, steps ...[]string) (int, loop.Decision, int) {
	t.Helper()
	strict := loop.Tool{Name: "strict", Check: func(string, json.RawMessage) error { return errors.New("never fits") }}
	r, _ := start(t, loop.Config{Guards: g, Tools: []loop.Tool{{Name: "a"}, {Name: "b"}, strict}})
	executed := 0
	for i, calls := range steps {
		var events []model.Event
		for j, c := range calls {
			name, input, _ := strings.Cut(c, " ")
			events = append(events, called(string(rune('a'+i))+string(rune('0'+j)), name, input))
		}
		o, d := r.step(events...)
		executed += len(o.Calls)
		if d.Next != loop.NextStep {
			return i + 1, d, executed
		}
	}
	return len(steps), loop.Decision{Next: loop.NextStep}, executed
}

func TestGuards(t *testing.T) {
	same, other := []string{`a {"x":1,"y":2}`}, []string{`a {"x":2}`}
	reordered, elsewhere := []string{`a {"y":2, "x":1}`}, []string{`b {"x":1,"y":2}`}
	bad := []string{`strict {"n":1}`}
	tests := []struct {
		name     string
		guards   loop.Guards
		steps    [][]string
		at       int
		reason   loop.Limit
		executed int
	}{
		{"equal calls", loop.HostGuards(), [][]string{same, reordered, same, same}, 3, loop.LimitEqualCalls, 2},
		{"equal calls side by side", loop.HostGuards(), [][]string{{same[0], same[0], same[0]}}, 1, loop.LimitEqualCalls, 2},
		{"another between", loop.HostGuards(), [][]string{same, same, other, same, same}, 5, loop.LimitNone, 5},
		{"another tool between", loop.HostGuards(), [][]string{same, same, elsewhere, same, same}, 5, loop.LimitNone, 5},
		{"schema failures", loop.HostGuards(), [][]string{{`strict {"n":1}`}, {`nope {}`}, {`a {"x"`}}, 3, loop.LimitSchemaFailures, 0},
		{"a good call between", loop.HostGuards(), [][]string{bad, bad, same, {`strict 2`}, {`strict 3`}}, 5, loop.LimitNone, 1},
		{"steps", loop.Guards{Steps: 2}, [][]string{same, other, same}, 2, loop.LimitSteps, 2},
		{"steps made before", loop.Guards{Steps: 5, StepsDone: 4}, [][]string{same, same}, 1, loop.LimitSteps, 1},
		{"none, as in the SDK", loop.Guards{}, [][]string{same, same, same, same, bad, bad, bad, bad}, 8, loop.LimitNone, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at, d, executed := guarded(t, tt.guards, tt.steps...)
			if at != tt.at || d.Reason != tt.reason || executed != tt.executed {
				t.Errorf("got step %d, %+v, %d executed; want step %d, %q, %d", at, d, executed, tt.at, tt.reason, tt.executed)
			}
			if limit := d.Next == loop.NextLimit; limit != (tt.reason != loop.LimitNone) {
				t.Errorf("decision %+v", d)
			}
		})
	}
}

// The call that triggers the guard has an outcome that the model can read.
func TestRefusedCallHasAnOutcome(t *testing.T) {
	r, _ := start(t, loop.Config{Guards: loop.Guards{EqualCalls: 1}, Tools: []loop.Tool{{Name: "a"}}})
	o, d := r.step(called("c", "a", "{}"))
	if len(o.Calls) != 0 || d.Next != loop.NextLimit {
		t.Errorf("outcome %+v, %+v", o, d)
	}
	r.want("start m1", "start-step", "tool-input-available c",
		"tool-output-error c not executed: the same call with the same input was made too often in a row", "finish-step")
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"b":[1, 2.50],"a":{"d":null,"c":"<&>"}}`, `{"a":{"c":"<&>","d":null},"b":[1,2.50]}`},
		{`"\u0041"`, `"A"`},
		{`12345678901234567890`, `12345678901234567890`},
		{`{"a":`, `{"a":`},
		{``, ``},
	} {
		if got := string(loop.Canonical(json.RawMessage(tt.in))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add(`{"b":1,"a":[{"c":2}]}`)
	f.Fuzz(func(t *testing.T, in string) {
		once := loop.Canonical(json.RawMessage(in))
		if twice := loop.Canonical(once); string(twice) != string(once) {
			t.Errorf("%q: %q, then %q", in, once, twice)
		}
		if json.Valid([]byte(in)) && !json.Valid(once) {
			t.Errorf("%q became no JSON: %q", in, once)
		}
	})
}
