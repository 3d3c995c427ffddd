package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestApprovedInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.Step{Text: []string{"Shall I?"}, Calls: []modeltest.Call{rm("c1", "a")}}, modeltest.Say("Gone."))
		a.Say(alice, "alice", "remove a")
		a.Wait()
		a.want("user: remove a", `assistant: Shall I? [{"path":"a"} approval-requested]`)
		a.ran(0)
		sent := strings.Join(a.Platform.Texts(alice), "\n")
		for _, part := range []string{"Shall I?", "#1", "**Remove**", "```\npath: a\n```", "/approve 1"} {
			if !strings.Contains(sent, part) {
				t.Errorf("people read %q, want %q in it", sent, part)
			}
		}
		if v := a.View(alice); v.Running || v.Counts.Open != 0 {
			t.Errorf("a request keeps the chat busy: %+v", v)
		}
		if got := a.decide(a.open(), true); !slices.Equal(got, []messages.DecisionState{messages.DecisionDone}) {
			t.Errorf("decided: %v", got)
		}
		a.want("user: remove a", `assistant: Shall I? [{"path":"a"} output-available] Gone.`)
		a.ran(1)
		if texts := a.Platform.Texts(alice); len(texts) != 2 || texts[1] != "Gone." {
			t.Errorf("sent %q, want the request and then only what is new", texts)
		}
		a.sound()
	})
}

func TestDeniedInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.Say("I left it."))
		a.Say(alice, "alice", "remove a")
		a.Wait()
		a.decided(false)
		a.want("user: remove a", `assistant: [{"path":"a"} output-denied] I left it.`)
		stdtest.Diff(t, "the model read", []string{isDenied}, a.results())
		a.ran(0)
		a.sound()
	})
}

// An approval counts for one call. If the model uses the id of that call again, in the same step as an equal call, nothing
// runs a second time, and the model reads that the calls wait for approval.
func TestAnApprovalCountsOnce(t *testing.T) {
	for name, calls := range map[string][]modeltest.Call{
		"again":                  {rm("c1", "a")},
		"again, twice":           {rm("c1", "a"), rm("c1", "a")},
		"after another one":      {rm("c2", "a"), rm("c1", "a")},
		"before another one":     {rm("c1", "a"), rm("c2", "a")},
		"after one of other use": {rm("c1", "b"), rm("c1", "a"), rm("c1", "a")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.CallTools(calls...), modeltest.Say("Done."), modeltest.Say("Done."))
				a.Say(alice, "alice", "remove a")
				a.Wait()
				a.decided(true)
				a.ran(1)
				a.Say(alice, "alice", "hello") // what was decided and not carried out is carried out now
				a.Wait()
				a.ran(1)
			})
		})
	}
}

// A decision that arrives after the conversation has continued has its outcome in a new message. What the model has
// read about the request does not change.
func TestDecidedLate(t *testing.T) {
	for _, tt := range []struct {
		name     string
		approved bool
		asked    string // how the call that asked shows to people
		outcome  string
		reads    string
		ran      int64
	}{
		{"yes", true, "approval-responded", "output-available", "removed", 1},
		{"no", false, "approval-responded", "output-denied", isDenied, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Hello."), modeltest.Say("So be it."), modeltest.Say("Yes?"))
				a.Say(alice, "alice", "remove a")
				a.Wait()
				a.Say(alice, "alice", "hi")
				a.Wait()
				a.decided(tt.approved)
				want := []string{
					"user: remove a", `assistant: [{"path":"a"} ` + tt.asked + `]`, "user: hi", "assistant: Hello.",
					`assistant: [{"path":"a"} ` + tt.outcome + `] So be it.`,
				}
				a.want(want...)
				a.ran(tt.ran)
				a.again()
				a.want(want...)
				a.Say(alice, "alice", "and?")
				a.Wait()
				stdtest.Diff(t, "the model read", []string{isWaiting, tt.reads}, a.results())
				a.ran(tt.ran)
				a.sound()
			})
		})
	}
}

// A decision during another run is durable at once. Its outcome follows at the next step boundary, in the order in
// which the model sees it.
func TestDecidedAtBoundary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a := newApprovals(t, func(o *actortest.Options) { o.Tools = append(o.Tools, actortest.Slow("look", release)) },
			modeltest.CallTools(rm("c1", "a")), modeltest.CallTools(modeltest.Call{ID: "c2", Name: "look", Input: `{}`}), modeltest.Say("Both done."))
		a.Say(alice, "alice", "remove a")
		a.Wait()
		a.Say(alice, "alice", "look")
		a.Wait()
		a.decided(true)
		a.ran(0)
		a.Say(alice, "alice", "and?")
		a.Wait()
		close(release)
		a.Wait()
		a.want("user: remove a", `assistant: [{"path":"a"} approval-responded]`, "user: look", `assistant: [{} output-available]`,
			"user: and?", `assistant: [{"path":"a"} output-available] Both done.`)
		a.ran(1)
		if n := len(a.script.Requests()); n != 3 {
			t.Errorf("%d requests, want 3: the outcome belongs to the run under way", n)
		}
		a.sound()
	})
}

func TestDecidedDuringTheLastStep(t *testing.T) {
	for _, crash := range []bool{false, true} {
		t.Run(fmt.Sprint("crash=", crash), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				steps := []modeltest.Step{modeltest.CallTools(rm("c1", "a")), modeltest.Held(release, modeltest.Say("Hello.")), modeltest.Say("Gone.")}
				if crash {
					steps = slices.Insert(steps, 1, modeltest.Step{Stall: true})
				}
				a := newApprovals(t, nil, steps...)
				a.Say(alice, "alice", "remove a")
				a.Wait()
				a.Say(alice, "alice", "hi")
				a.Wait()
				a.decided(true)
				if crash {
					a.again()
				}
				if got := a.open(); len(got) != 0 {
					t.Errorf("still open: %v", got)
				}
				close(release)
				a.Wait()
				a.want("user: remove a", `assistant: [{"path":"a"} approval-responded]`, "user: hi", "assistant: Hello.",
					`assistant: [{"path":"a"} output-available] Gone.`)
				a.ran(1)
				a.sound()
			})
		})
	}
}

// A request can be decided while another call of its step still runs.
func TestDecidedDuringItsOwnRun(t *testing.T) {
	for _, turn := range []bool{false, true} {
		t.Run(fmt.Sprint("a turn waits=", turn), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				a := newApprovals(t, func(o *actortest.Options) { o.Tools = append(o.Tools, actortest.Slow("look", release)) },
					modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{}`}, rm("c2", "a")), modeltest.Say("Gone."))
				a.Say(alice, "alice", "look and remove a")
				a.Wait()
				a.decided(true)
				if got := a.decide([]string{a.open()[0]}, false); got[0] != messages.DecisionAlready {
					t.Errorf("decided again: %v", got)
				}
				if turn {
					a.Say(alice, "alice", "well?")
				}
				a.Wait()
				a.ran(0)
				close(release)
				a.Wait()
				if turn {
					a.want("user: look and remove a", `assistant: [{} output-available] [{"path":"a"} approval-responded]`, "user: well?",
						`assistant: [{"path":"a"} output-available] Gone.`)
				} else {
					a.want("user: look and remove a", `assistant: [{} output-available] [{"path":"a"} output-available] Gone.`)
				}
				a.ran(1)
				a.sound()
			})
		})
	}
}

func TestTwoRequestsOfOneStep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decide func(a *approvals, ids []string)
		want   string
		ran    int64
	}{
		{"one after the other", func(a *approvals, ids []string) {
			a.decide(ids[:1], true)
			a.want("user: both", `assistant: [{"path":"a"} output-available] [{"path":"b"} approval-requested]`)
			if n := len(a.script.Requests()); n != 1 {
				a.t.Errorf("%d requests, want none before the last decision", n)
			}
			a.ran(1)
			a.decide(ids[1:], true)
		}, `assistant: [{"path":"a"} output-available] [{"path":"b"} output-available] Done.`, 2},
		{"the later one first, over a restart", func(a *approvals, ids []string) {
			a.decide(ids[1:], false)
			a.again()
			a.decide(ids[:1], true)
		}, `assistant: [{"path":"a"} output-available] [{"path":"b"} output-denied] Done.`, 1},
		{
			"at once", func(a *approvals, ids []string) { a.decide(ids, true) },
			`assistant: [{"path":"a"} output-available] [{"path":"b"} output-available] Done.`, 2,
		},
		{
			"at once, twice in a row", func(a *approvals, ids []string) { a.decide(slices.Concat(ids, ids), false) },
			`assistant: [{"path":"a"} output-denied] [{"path":"b"} output-denied] Done.`, 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a"), rm("c2", "b")), modeltest.Say("Done."))
				a.Say(alice, "alice", "both")
				a.Wait()
				tt.decide(a, a.open())
				a.want("user: both", tt.want)
				a.ran(tt.ran)
				a.sound()
			})
		})
	}
}

// The model continues when a user turn arrives although a request of its last step is open.
func TestTurnWhileOneOfTwoIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a"), rm("c2", "b")), modeltest.Say("One is done."), modeltest.Say("Both."))
		a.Say(alice, "alice", "both")
		a.Wait()
		a.decide(a.open()[:1], true)
		a.Say(alice, "alice", "how far?")
		a.Wait()
		stdtest.Diff(t, "the model read", []string{"removed", isWaiting}, a.results())
		a.decided(true)
		a.want("user: both", `assistant: [{"path":"a"} output-available] [{"path":"b"} approval-responded]`, "user: how far?",
			"assistant: One is done.", `assistant: [{"path":"b"} output-available] Both.`)
		a.ran(2)
		a.sound()
	})
}

func TestExpiry(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(a *approvals)
		want []string
	}{
		{
			"while it is the last", func(a *approvals) { a.pass(30 * time.Minute) },
			[]string{"user: remove a", `assistant: [{"path":"a"} output-denied]`},
		},
		{"after the conversation went on", func(a *approvals) {
			a.Say(alice, "alice", "hi")
			a.pass(30 * time.Minute)
		}, []string{"user: remove a", `assistant: [{"path":"a"} output-denied]`, "user: hi", "assistant: Hello."}},
		{"in parts, over restarts", func(a *approvals) {
			a.pass(10 * time.Minute)
			a.again()
			a.pass(10 * time.Minute)
			a.again() // a restart takes two minutes of fake time
			a.pass(6 * time.Minute)
		}, []string{"user: remove a", `assistant: [{"path":"a"} output-denied]`}},
		{"while the host is down", func(a *approvals) {
			a.Kill()
			<-time.After(time.Hour) // fake
			a.again()
		}, []string{"user: remove a", `assistant: [{"path":"a"} output-denied]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Hello."))
				a.Say(alice, "alice", "remove a")
				a.Wait()
				id := a.open()
				a.pass(time.Minute)
				if len(a.open()) != 1 {
					t.Fatal("it expired after a minute")
				}
				tt.do(a)
				a.want(tt.want...)
				requests := len(a.script.Requests())
				if got := a.decide(id, true); got[0] != messages.DecisionExpired {
					t.Errorf("decided after its time: %v", got)
				}
				a.again()
				a.want(tt.want...)
				a.ran(0)
				if n := len(a.script.Requests()); n != requests {
					t.Error("a run followed the expiry")
				}
				if texts := a.Platform.Texts(alice); !strings.Contains(texts[len(texts)-1], "#1 has expired") {
					t.Errorf("people read %q", texts)
				}
				a.sound()
			})
		})
	}
}

// A chat with an open request is not passivated before the request expires, and then it is.
func TestOpenRequestForbidsPassivation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		a := newApprovals(t, func(o *actortest.Options) { o.Store, o.Idle = store, time.Minute }, modeltest.CallTools(rm("c1", "a")))
		a.Say(alice, "alice", "remove a")
		a.pass(20 * time.Minute)
		if waking, _ := store.Waking(t.Context()); len(waking) != 1 {
			t.Errorf("waking %v, want the chat with the request", waking)
		}
		a.pass(20 * time.Minute)
		if waking, _ := store.Waking(t.Context()); len(waking) != 0 {
			t.Errorf("waking %v, want the chat at rest", waking)
		}
	})
}

func TestDecisionsCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Gone."))
		a.Say(alice, "alice", "remove a")
		a.Wait()
		ids := a.open()
		a.decided(true)
		for _, approved := range []bool{true, false} {
			if got := a.decide(ids, approved); got[0] != messages.DecisionAlready {
				t.Errorf("decided again: %v", got)
			}
		}
		a.again()
		if got := a.decide(append(ids, "nobody"), true); got[0] != messages.DecisionAlready || got[1] != messages.DecisionUnknown {
			t.Errorf("after a restart: %v", got)
		}
		a.ran(1)
		a.sound()
	})
}

// After a kill during an approved call, its outcome is unknown, and it is not repeated.
func TestKilledDuringApprovedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a")), modeltest.Say("I do not know."))
		a.tool.hold = make(chan struct{})
		a.Say(alice, "alice", "remove a")
		a.Wait()
		a.decided(true)
		a.again()
		a.want("user: remove a", `assistant: [{"path":"a"} output-error] I do not know.`)
		stdtest.Diff(t, "the model read", []string{"interrupted, outcome unknown"}, a.results())
		a.ran(1)
		a.sound()
	})
}

func TestStopWhileApprovedCallRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a"), rm("c2", "b"), rm("c3", "c")))
		a.tool.hold = make(chan struct{})
		a.Say(alice, "alice", "all")
		a.Wait()
		ids := a.open()
		a.decide(ids[:1], true)
		a.decide(ids[1:2], true) // waits for the end of the run
		a.Say(alice, "alice", "/stop")
		a.Wait()
		a.want("user: all", `assistant: [{"path":"a"} output-error] [{"path":"b"} output-denied] [{"path":"c"} output-denied]`)
		a.ran(1)
		a.again()
		a.ran(1)
		if got := a.decide(ids[2:], true); got[0] != messages.DecisionAlready {
			t.Errorf("decided after the stop: %v", got)
		}
		a.sound()
	})
}

// Nobody is asked twice about the same call while its request is open.
func TestSameCallWaitsAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.CallTools(rm("c1", "a"), rm("c2", "a")), modeltest.CallTools(rm("c3", "a"), rm("c4", "b")), modeltest.Say("Done."))
		a.Say(alice, "alice", "remove a")
		a.Wait()
		a.want("user: remove a", `assistant: [{"path":"a"} approval-requested] [{"path":"a"} output-error]`)
		a.Say(alice, "alice", "and b")
		a.Wait()
		if n := len(a.open()); n != 2 {
			t.Errorf("%d requests are open, want one for each file", n)
		}
		a.Say(alice, "alice", "/deny 2")
		a.Wait()
		results := a.results()
		for i, want := range []string{isWaiting, "already waiting as #1, not executed", "already waiting as #1, not executed", isDenied} {
			if results[i] != want {
				t.Errorf("result %d reads %q, want %q", i, results[i], want)
			}
		}
		a.ran(0)
		a.sound()
	})
}

func TestRewindWithdrawsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApprovals(t, nil, modeltest.Say("Hello."), modeltest.CallTools(rm("c1", "a")))
		a.Say(alice, "alice", "hi")
		a.Wait()
		a.Say(alice, "alice", "remove a")
		a.Wait()
		ids := a.open()
		keep := a.View(alice).Messages[2].ID
		stdtest.Must(t, a.Port.Rewind(t.Context(), alice, a.View(alice).Messages[3].ID))
		a.want("user: hi", "assistant: Hello.", "user: remove a", `assistant: [{"path":"a"} output-denied]`)
		if got := a.decide(ids, true); got[0] != messages.DecisionAlready {
			t.Errorf("decided after the rewind: %v", got)
		}
		stdtest.Must(t, a.Port.Rewind(t.Context(), alice, keep))
		if got := a.decide(ids, true); got[0] != messages.DecisionUnknown {
			t.Errorf("decided after the cut: %v", got)
		}
		a.ran(0)
	})
}

// picky is a tool with its own policy for calls.
type picky struct{ asks }

func (*picky) Spec() tool.Spec {
	return tool.Spec{Name: "rm", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func (*picky) CheckCall(call tool.Call) tool.Verdict {
	var in struct{ Path string }
	_ = json.Unmarshal(call.Input, &in) // no path asks
	switch in.Path {
	case "mine":
		return tool.Verdict{Decision: tool.Allow}
	case "root":
		return tool.Verdict{Decision: tool.Deny, Reason: "it is everything"}
	}
	return tool.Verdict{} // none of the three: asks
}

// The policy of a tool applies: allowed calls run, denied calls do not run, and all others ask.
func TestToolsThatJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &picky{}
		a := newApprovals(t, func(o *actortest.Options) { o.Tools = actortest.Tools(tool) },
			modeltest.CallTools(rm("c1", "mine"), rm("c2", "root"), rm("c3", "yours")), modeltest.Say("Well."))
		a.Say(alice, "alice", "all")
		a.Wait()
		a.want("user: all", `assistant: [{"path":"mine"} output-available] [{"path":"root"} output-error] [{"path":"yours"} approval-requested]`)
		a.decided(true)
		stdtest.Diff(t, "the model read", []string{"removed", "not allowed: it is everything", "removed"}, a.results())
		if got := tool.ran.Load(); got != 2 {
			t.Errorf("the tool ran %d times, want 2", got)
		}
		a.sound()
	})
}
