package actors_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// asks is a tool that needs a person's approval, and counts its calls.
type asks struct {
	ran  atomic.Int64
	hold chan struct{} // closed: calls return; nil: they do at once
}

func (a *asks) Spec() tool.Spec {
	return tool.Spec{Name: "rm", Title: "Remove", InputSchema: json.RawMessage(`{"type":"object"}`), Asks: true}
}

func (a *asks) Invoke(ctx context.Context, _ tool.Call) (tool.Result, error) {
	a.ran.Add(1)
	if a.hold != nil {
		select {
		case <-a.hold:
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}
	return tool.Result{Output: json.RawMessage(`"removed"`)}, nil
}

func rm(id, path string) modeltest.Call {
	return modeltest.Call{ID: id, Name: "rm", Input: `{"path":"` + path + `"}`}
}

// approvals is a world with a tool that asks.
type approvals struct {
	*actortest.World
	t      *testing.T
	script *modeltest.Script
	tool   *asks
}

func newApprovals(t *testing.T, change func(*actortest.Options), steps ...modeltest.Step) *approvals {
	t.Helper()
	a := &approvals{t: t, script: modeltest.NewScript(steps...), tool: &asks{}}
	o := actortest.Options{Store: newStore(t), Model: a.script, Tools: actortest.Tools(a.tool)}
	if change != nil {
		change(&o)
	}
	a.World = actortest.New(t, o)
	return a
}

func (a *approvals) again() {
	a.t.Helper()
	a.World = a.Again(nil)
	a.Wait()
}

// open are the ids of the calls that are shown as waiting for a person.
func (a *approvals) open() []string {
	a.t.Helper()
	return a.openIn(alice)
}

func (a *approvals) openIn(key messages.ChatKey) []string {
	a.t.Helper()
	v, _ := a.Port.History(a.t.Context(), key) // a chat that cannot be read shows none
	var ids []string
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolApprovalRequested {
				ids = append(ids, t.Approval.ID)
			}
		}
	}
	return ids
}

func (a *approvals) decide(ids []string, approved bool) []messages.DecisionState {
	a.t.Helper()
	var say []messages.Decision
	for _, id := range ids {
		say = append(say, messages.Decision{ApprovalID: id, Approved: approved})
	}
	out, err := a.Port.Decide(a.t.Context(), alice, platform.Person{ID: "alice"}, say)
	if err != nil {
		a.t.Fatalf("decide: %v", err)
	}
	a.Wait()
	var is []messages.DecisionState
	for _, o := range out {
		is = append(is, o.Is)
	}
	return is
}

// history returns the chat as people see it, one line per message.
func (a *approvals) history() []string {
	a.t.Helper()
	var out []string
	for _, m := range a.View(alice).Messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p := p.(type) {
			case uimessage.Text:
				line += " " + p.Text
			case uimessage.Tool:
				line += fmt.Sprintf(" [%s %s]", p.Input, p.State)
			default:
			}
		}
		out = append(out, line)
	}
	return out
}

func (a *approvals) want(history ...string) {
	a.t.Helper()
	if diff := gocmp.Diff(history, a.history()); diff != "" {
		a.t.Errorf("history (-want +got):\n%s", diff)
	}
}

func (a *approvals) ran(want int64) {
	a.t.Helper()
	if got := a.tool.ran.Load(); got != want {
		a.t.Errorf("the tool ran %d times, want %d", got, want)
	}
}

// sound checks what holds for every conversation: requests are strict and begin like the previous ones, nothing is left
// over, and every ingress has its fate.
func (a *approvals) sound() {
	a.t.Helper()
	if faults := a.script.Faults(); len(faults) > 0 {
		a.t.Errorf("faults of the script: %v", faults)
	}
	requests := a.script.Requests()
	for i, req := range requests {
		if err := modeltest.Strict(req); err != nil {
			a.t.Errorf("request %d: %v", i, err)
		}
		if i > 0 {
			a.prefix(requests[i-1], req)
		}
	}
	v := a.View(alice)
	var fates int64
	for _, n := range v.Counts.Fates {
		fates += n
	}
	if v.Running || v.Counts.Open != 0 || v.Counts.Accepted != fates {
		a.t.Errorf("running %v, counts %+v", v.Running, v.Counts)
	}
}

func (a *approvals) prefix(before, req model.Request) {
	a.t.Helper()
	for i, m := range before.Messages {
		if i >= len(req.Messages) || !gocmp.Equal(m, req.Messages[i]) {
			a.t.Errorf("a request does not begin as the one before:\n%s", gocmp.Diff(before.Messages, req.Messages))
			return
		}
	}
}

// results are the outcomes of calls that the model read in its last request.
func (a *approvals) results() []string {
	a.t.Helper()
	var out []string
	requests := a.script.Requests()
	for _, m := range requests[len(requests)-1].Messages {
		for _, p := range m.Parts {
			if r, ok := p.(modelmessage.ToolResult); ok {
				out = append(out, cmp.Or(r.Output.Text, string(r.Output.JSON)))
			}
		}
	}
	return out
}

func done(n int) []messages.DecisionState {
	return slices.Repeat([]messages.DecisionState{messages.DecisionDone}, n)
}

func (a *approvals) decided(approved bool) {
	a.t.Helper()
	open := a.open()
	if got := a.decide(open, approved); !slices.Equal(got, done(len(open))) || len(open) == 0 {
		a.t.Errorf("decided %d: %v", len(open), got)
	}
}

func (a *approvals) pass(d time.Duration) {
	a.t.Helper()
	<-time.After(d) // fake
	a.Wait()
}

const (
	isWaiting = "waiting for a person, not executed"
	isDenied  = "Tool call execution denied."
)
