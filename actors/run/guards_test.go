package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// tried is the result of a series of calls.
type tried struct {
	ran      int      // starts of the tool
	requests int      // of the model
	outcomes []string // of the calls
	texts    []string // in the chat
}

// try makes the model make these calls, one per step, and then say a word. The tool takes {"n": a
// number}.
func try(t *testing.T, calls ...modeltest.Call) tried {
	t.Helper()
	var out tried
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		look := tooltest.New("look", func(context.Context, tool.Call) (tool.Result, error) {
			ran.Add(1)
			return tool.Result{Output: json.RawMessage("1")}, nil
		})
		look.S.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
		set, err := tool.NewSet(look)
		stdtest.Must(t, err)
		script := modeltest.NewScript()
		for i, c := range calls {
			c.ID = fmt.Sprint("c", i+1)
			script.Add(modeltest.CallTools(c))
		}
		end := modeltest.Say("The end.")
		script.Otherwise = &end
		w := newWorld(t, actortest.Options{Model: script, Tools: actortest.Tools(look), Validate: set.Validate})
		w.Say(alice, "alice", "look")
		<-time.After(time.Minute)
		if faults := script.Faults(); len(faults) > 0 {
			t.Errorf("requests that no strict provider takes: %v", faults)
		}
		out = tried{int(ran.Load()), len(script.Requests()), outcomes(w.View(alice).Messages), w.Platform.Texts(alice)}
	})
	return out
}

func look(input string) modeltest.Call { return modeltest.Call{Name: "look", Input: input} }

// Inputs that are not JSON or do not match the schema are errors that the model reads; the third in
// a row ends the run with a reason, and a valid one in between resets the count.
func TestRL6ThreeBadInputsInARow(t *testing.T) {
	for _, tt := range []struct {
		name     string
		calls    []modeltest.Call
		ran      int
		requests int
		last     string
	}{
		{"three of them", []modeltest.Call{look(`{"n":`), look(`{"n":"one"}`), look(`{}`), look(`{"n":1}`)}, 0, 3, "in ways that they cannot take"},
		{"two, and then a good one", []modeltest.Call{look(`{"n":`), look(`[]`), look(`{"n":1}`)}, 1, 4, "The end."},
		{"never three in a row", []modeltest.Call{look(`{"n":`), look(`{}`), look(`{"n":1}`), look(`{}`), look(`nonsense`), look(`{"n":2}`)}, 2, 7, "The end."},
		{"unknown tools count as well", []modeltest.Call{look(`{}`), {Name: "lock", Input: `{"n":1}`}, look(`{}`)}, 0, 3, "in ways that they cannot take"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := try(t, tt.calls...)
			if got.ran != tt.ran || got.requests != tt.requests || len(got.texts) != 1 || !strings.Contains(got.texts[0], tt.last) {
				t.Errorf("ran %d times in %d requests, said %q; want %d, %d, %q", got.ran, got.requests, got.texts, tt.ran, tt.requests, tt.last)
			}
			for i, outcome := range got.outcomes {
				if bad := tt.calls[i].Input != `{"n":1}` && tt.calls[i].Input != `{"n":2}`; bad && !strings.Contains(outcome, "Invalid input for tool look: ") && !strings.Contains(outcome, "unavailable tool") {
					t.Errorf("call %d came to %q", i+1, outcome)
				}
			}
		})
	}
}

// A call of an unknown tool runs nothing and lists the available tools.
func TestRL7UnknownTool(t *testing.T) {
	got := try(t, modeltest.Call{Name: "lock", Input: `{"n":1}`})
	want := tried{
		ran: 0, requests: 2, texts: []string{"The end."},
		outcomes: []string{"lock output-error Model tried to call unavailable tool 'lock'. Available tools: look."},
	}
	stdtest.Diff(t, "", want, got, cmp.AllowUnexported(tried{}))
}

// The third equal call in a row is not made and ends the run; so does the last step that a run may
// make. People read why.
func TestRL8EndlessRunsEnd(t *testing.T) {
	var endless []modeltest.Call
	for i := range 100 {
		endless = append(endless, look(fmt.Sprintf(`{"n":%d}`, i)))
	}
	for _, tt := range []struct {
		name     string
		calls    []modeltest.Call
		ran      int
		requests int
		last     string
	}{
		{"the same call", []modeltest.Call{look(`{"n":1}`), look(`{ "n": 1 }`), look(`{"n":1}`), look(`{"n":1}`)}, 2, 3, "the same tool call"},
		{"two, and then another", []modeltest.Call{look(`{"n":1}`), look(`{"n":1}`), look(`{"n":2}`), look(`{"n":1}`), look(`{"n":1}`)}, 5, 6, "The end."},
		{"a hundred different ones", endless, 64, 64, "more steps than I may take"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := try(t, tt.calls...)
			if got.ran != tt.ran || got.requests != tt.requests || len(got.texts) != 1 || !strings.Contains(got.texts[0], tt.last) {
				t.Errorf("ran %d times in %d requests, said %q; want %d, %d, %q", got.ran, got.requests, got.texts, tt.ran, tt.requests, tt.last)
			}
		})
	}
}

// The texts of a tool's errors, progress and summaries are bounded before they are stored or shown.
func TestRL9WordsOfToolsAreBounded(t *testing.T) {
	huge := strings.Repeat("y\n", 1<<20)
	output, err := json.Marshal(huge)
	stdtest.Must(t, err)
	synctest.Test(t, func(t *testing.T) {
		fails := actortest.Func{Says: tool.Spec{Name: "fails"}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, errors.New("first words " + huge + "last words")
		}}
		shows := showing{actortest.Func{Says: tool.Spec{Name: "shows"}}, output, huge}
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "fails", Input: "{}"}, modeltest.Call{ID: "c2", Name: "shows", Input: "{}"}), modeltest.Say("ok"))
		w := newWorld(t, actortest.Options{Model: script, Tools: actortest.Tools(fails, shows)})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		frames, err := w.Port.Watch(ctx, alice)
		stdtest.Must(t, err)
		w.Say(alice, "alice", "go")
		<-time.After(time.Second)
		got := outcomes(w.View(alice).Messages)
		if len(got) != 2 || len(got[0]) > 5<<10 || !strings.Contains(got[0], "first words") || !strings.Contains(got[0], "last words") {
			t.Errorf("%d outcomes, the first of %d bytes: %.100q", len(got), len(got[0]), got[0])
		}
		cancel()
		n := 0
		for f := range frames {
			if n++; len(f.Event.Text) > 500 {
				t.Errorf("a summary of %d bytes", len(f.Event.Text))
			}
			for _, c := range f.Chunks {
				if b, err := json.Marshal(c); err != nil || len(b) > 32<<10 {
					t.Errorf("a chunk %s of %d bytes, %v", c.Type(), len(b), err)
				}
			}
		}
		if n == 0 {
			t.Error("nothing was shown")
		}
	})
}

// showing is a tool with large progress reports and a small result.
type showing struct {
	actortest.Func
	output  json.RawMessage
	summary string
}

func (s showing) InvokeStream(_ context.Context, _ tool.Call, show func(json.RawMessage)) (tool.Result, error) {
	show(s.output)
	return tool.Result{Output: json.RawMessage("1"), Summary: s.summary}, nil
}

// A tool that ignores the end of its deadline is abandoned: the run continues, and a later result
// is dropped.
func TestRL9ToolThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := actortest.Func{Says: tool.Spec{Name: "deaf", Deadline: time.Minute}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			<-release
			return tool.Result{Output: json.RawMessage(`"too late"`)}, nil
		}}
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "deaf", Input: "{}"}), modeltest.Say("It hangs."), modeltest.Say("Still here."))
		w := newWorld(t, actortest.Options{Model: script, Tools: actortest.Tools(deaf)})
		w.Say(alice, "alice", "go")
		<-time.After(69 * time.Second)
		if n := len(w.Platform.Texts(alice)); n != 0 {
			t.Errorf("%d texts before the time is up", n)
		}
		<-time.After(2 * time.Second)
		close(release)
		w.Say(alice, "alice", "and now?")
		<-time.After(time.Second)
		stdtest.Diff(t, "sent", []string{"It hangs.", "Still here."}, w.Platform.Texts(alice))
		got := outcomes(w.View(alice).Messages)
		if len(got) != 1 || !strings.Contains(got[0], "could not be stopped") {
			t.Errorf("the call came to %q", got)
		}
	})
}

// An input that is nested so deeply that a message with it could not be read again is one that the tool cannot take. The
// chat continues after a restart.
func TestRL6InputOfGreatDepth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		look := tooltest.New("look", func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Output: json.RawMessage("1")}, nil
		})
		const deep = 9_998
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{"n":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + `}`}))
		end := modeltest.Say("The end.")
		script.Otherwise = &end
		w := newWorld(t, actortest.Options{Model: script, Tools: actortest.Tools(look)})
		w.Say(alice, "alice", "look")
		<-time.After(time.Minute)
		again := w.Again(nil)
		again.Say(alice, "alice", "and now?")
		<-time.After(time.Minute)
		if texts := again.Platform.Texts(alice); len(texts) != 2 || texts[1] != "The end." {
			t.Errorf("said %q", texts)
		}
		if n := len(again.View(alice).Messages); n != 4 {
			t.Errorf("the history has %d messages: %q", n, outcomes(again.View(alice).Messages))
		}
	})
}
