package run_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// went is what people read after an internal failure of a run.
const went = "Something went wrong here; I could not finish. Please try again."

// hooked is a model whose answers to requests with the word panic come from a hook.
type hooked struct {
	hook model.Model
	rest *modeltest.Script
}

func (h hooked) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	last, err := json.Marshal(req.Messages[len(req.Messages)-1])
	if err == nil && strings.Contains(string(last), "panic") && h.hook != nil {
		return h.hook.Stream(ctx, req)
	}
	return h.rest.Stream(ctx, req)
}

type streams func(yield func(model.Event, error) bool)

func (s streams) Stream(context.Context, model.Request) iter.Seq2[model.Event, error] {
	return iter.Seq2[model.Event, error](s)
}

// trips is a transport that panics, or whose answers' body does.
type trips struct{ atBody bool }

func (p trips) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.atBody {
		panic("in the transport")
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, Header: http.Header{}, Body: io.NopCloser(p)}, nil
}

func (trips) Read([]byte) (int, error) { panic("in the parser") }

// validated is a tool whose policy panics.
type validated struct{ actortest.Func }

func (validated) CheckCall(tool.Call) tool.Verdict { panic("in the policy") }

func through(t *testing.T, rt http.RoundTripper) model.Model {
	t.Helper()
	m, err := provider.New(provider.Options{Endpoint: provider.Endpoint{BaseURL: "http://provider.test", Model: "m"}, Transport: rt})
	stdtest.Must(t, err)
	return m
}

// boom is a step with a call of the tool that panics.
func boom(*testing.T) model.Model {
	return modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "boom", Input: "{}"}))
}

func the(m model.Model) func(*testing.T) model.Model {
	return func(*testing.T) model.Model { return m }
}

func over(rt http.RoundTripper) func(*testing.T) model.Model {
	return func(t *testing.T) model.Model {
		t.Helper()
		return through(t, rt)
	}
}

// A panic in anything that a run calls fails that call or that run, with a notice; a concurrent run
// of another chat succeeds, and so does the next message of the same chat.
func TestRL16OneRunFails(t *testing.T) {
	fn := func(do func()) tool.Tool {
		return actortest.Func{Says: tool.Spec{Name: "boom"}, Do: func(context.Context, tool.Call) (tool.Result, error) {
			do()
			return tool.Result{}, nil
		}}
	}
	for _, tt := range []struct {
		name     string
		model    func(t *testing.T) model.Model
		tool     tool.Tool
		validate func(string, json.RawMessage) error
		want     string
	}{
		{name: "tool", model: boom, tool: fn(func() { panic("in the tool") }), want: "After the tool."},
		{name: "tool, out of range", model: boom, tool: fn(func() { _ = []int(nil)[len(went)] }), want: "After the tool."},
		{name: "tool, end of its goroutine", model: boom, tool: fn(runtime.Goexit), want: "After the tool."},
		{name: "policy", model: boom, tool: validated{actortest.Func{Says: tool.Spec{Name: "boom"}}}, want: went},
		{name: "schema", model: boom, tool: fn(func() {}), validate: func(string, json.RawMessage) error { panic("in the schema") }, want: went},
		{name: "model", model: the(streams(func(func(model.Event, error) bool) { panic("in the model") })), want: went},
		{name: "model, in the middle", model: the(streams(func(yield func(model.Event, error) bool) {
			for _, e := range modeltest.TextEvents("half an ")[:2] {
				yield(e, nil)
			}
			panic("in the model")
		})), want: went},
		{name: "model, end of its goroutine", model: the(streams(func(func(model.Event, error) bool) { runtime.Goexit() })), want: went},
		{name: "transport", model: over(trips{}), want: went},
		{name: "parser", model: over(trips{atBody: true}), want: went},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				rest := modeltest.NewScript(modeltest.Held(release, modeltest.Say("Bob's answer.")), modeltest.Say("After the tool."), modeltest.Say("Alice's answer."))
				if tt.want == went {
					rest = modeltest.NewScript(modeltest.Held(release, modeltest.Say("Bob's answer.")), modeltest.Say("Alice's answer."))
				}
				o := actortest.Options{Model: hooked{tt.model(t), rest}, Validate: tt.validate}
				if tt.tool != nil {
					o.Tools = actortest.Tools(tt.tool)
				}
				w := newWorld(t, o)
				w.Say(bob, "bob", "hi")
				w.Wait()
				w.Say(alice, "alice", "panic")
				<-time.After(time.Minute)
				w.Say(alice, "alice", "again")
				w.Wait()
				close(release)
				w.Wait()
				stdtest.Diff(t, "Alice reads", []string{tt.want, "Alice's answer."}, w.Platform.Texts(alice))
				stdtest.Diff(t, "Bob reads", []string{"Bob's answer."}, w.Platform.Texts(bob))
			})
		})
	}
}

// A panic of the platform while it sends loses no answer and affects no other chat.
func TestRL16PlatformPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sends := 0
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: func(string, int) error {
			if sends++; sends == 1 {
				panic("in the platform")
			}
			return nil
		}}
		answer := modeltest.Say("An answer.")
		script := modeltest.NewScript()
		script.Otherwise = &answer
		w := newWorld(t, actortest.Options{Model: script, Platform: p})
		w.Say(alice, "alice", "hi")
		w.Wait()
		w.Say(bob, "bob", "hi")
		<-time.After(10 * time.Minute)
		w.Say(alice, "alice", "again")
		<-time.After(time.Minute)
		// The outcome of the first send is not known, so it is not repeated automatically.
		for _, key := range []messages.ChatKey{alice, bob} {
			if diff := cmp.Diff([]string{"An answer."}, w.Platform.Texts(key)); diff != "" || w.View(key).Counts.Open != 0 {
				t.Errorf("%s reads (-want +got), with %d open turns:\n%s", key, w.View(key).Counts.Open, diff)
			}
		}
	})
}
