package actors_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// counted is a shell that counts how often its policy is asked. Its calls run one after the other.
type counted struct {
	*shell

	verdict tool.Verdict
	ruled   atomic.Int64
	doubts  atomic.Bool // the text of a command does not show what it would do
	doubted bool        // a call makes the next ones doubtful
}

func (c *counted) Spec() tool.Spec {
	spec := c.shell.Spec()
	spec.Ordered = true
	return spec
}

func (c *counted) CheckCall(tool.Call) tool.Verdict {
	c.ruled.Add(1)
	return c.verdict
}

func (c *counted) Doubt(tool.Call) string {
	if c.doubts.Load() {
		return "a link leads to a secret"
	}
	return ""
}

func (c *counted) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	c.doubts.Store(c.doubted)
	return c.shell.Invoke(ctx, call)
}

func newCountedWorld(t *testing.T, c *counted, change func(*actortest.Options), steps ...modeltest.Step) *rules {
	t.Helper()
	c.shell = newShell()
	w := newShellWorld(t, func(o *actortest.Options) {
		o.Tools = actortest.Tools(c)
		o.Chat.MayDecide = func(approval.Claim) bool { return true }
		if change != nil {
			change(o)
		}
	}, steps...)
	w.shell = c.shell
	return w
}

// A call is ruled on once when it arrives and, if it was not refused then, once when it starts,
// whatever else the run needs to know about it; a prohibition of the operator comes before the tool's own policy.
func TestACallIsRuledOnOnceAtEachMoment(t *testing.T) {
	ask := tool.Verdict{Decision: tool.Ask}
	for _, tt := range []struct {
		name          string
		verdict       tool.Verdict
		allow, forbid []string
		command       string
		ruled, ran    int64
		open          int
	}{
		{"allowed by the tool", tool.Verdict{Decision: tool.Allow}, nil, nil, "git status", 2, 1, 0},
		{"allowed by a rule", ask, []string{"git status"}, nil, "git status", 2, 1, 0},
		{"refused by the tool", tool.Verdict{Decision: tool.Deny, Reason: "no"}, nil, nil, "git status", 1, 0, 0},
		{"refused by a rule", ask, []string{"git status"}, []string{"git"}, "git status", 0, 0, 0},
		{"asked about", ask, nil, nil, "git status", 1, 0, 1},
		{"asked about, with a rule that needs its script approved", ask, []string{"bash build.sh"}, nil, "bash build.sh", 1, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &counted{verdict: tt.verdict}
				w := newCountedWorld(t, c, func(o *actortest.Options) { o.Rules = run.NewRules(tt.allow, tt.forbid) },
					modeltest.CallTools(sh("c1", tt.command)), modeltest.Say("Well."))
				w.says("alice", "look")
				w.executed(tt.ran)
				w.wantOpen(tt.open)
				if got := c.ruled.Load(); got != tt.ruled {
					t.Errorf("ruled on %d times, want %d", got, tt.ruled)
				}
			})
		})
	}
}

// A call that a person approved is ruled on again when it starts.
func TestAnApprovedCallIsRuledOnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{verdict: tool.Verdict{Decision: tool.Ask}}
		w := newCountedWorld(t, c, nil, look(1), modeltest.Say("Clean."), look(2), modeltest.Say("Well."))
		w.says("alice", "look")
		w.decided(true)
		w.executed(1)
		if got := c.ruled.Load(); got != 2 {
			t.Errorf("ruled on %d times, want once when it was asked about and once when it started", got)
		}
		w.says("alice", "again")
		c.verdict = tool.Verdict{Decision: tool.Deny, Reason: "forbidden since"}
		w.decided(true)
		w.executed(1)
	})
}

// The first call of a step changes what the second one would do. The second was allowed when it
// arrived, and is refused when it would start.
func TestWhatAnEarlierCallChangedCounts(t *testing.T) {
	for _, doubted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &counted{verdict: tool.Verdict{Decision: tool.Ask}, doubted: doubted}
			w := newCountedWorld(t, c, func(o *actortest.Options) { o.Rules = newRules("git status", "git log") },
				modeltest.CallTools(sh("c1", "git status"), sh("c2", "git log")), modeltest.Say("Well."))
			w.says("alice", "look")
			want, state := int64(2), "output-available"
			if doubted {
				want, state = 1, "output-error"
			}
			w.executed(want)
			w.wantOpen(0)
			if history := strings.Join(w.history(), "\n"); !strings.Contains(history, `[{"command":"git log"} `+state+`]`) {
				t.Errorf("the second call is not %s:\n%s", state, history)
			}
		})
	}
}

// forgetful refuses a call once and then allows it.
type forgetful struct{ *counted }

func (f forgetful) CheckCall(call tool.Call) tool.Verdict {
	v := f.counted.CheckCall(call)
	if f.ruled.Load() > 1 {
		v = tool.Verdict{Decision: tool.Allow}
	}
	return v
}

// A call that was refused when it arrived is journaled as one that may be started again after a
// crash. It stays refused, even if what refused it is gone when it would start.
func TestARefusedCallStaysRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{shell: newShell(), verdict: tool.Verdict{Decision: tool.Deny, Reason: "the workspace is missing"}}
		w := newShellWorld(t, func(o *actortest.Options) { o.Tools = actortest.Tools(forgetful{c}) },
			look(1), modeltest.Say("Well."), look(2), modeltest.Say("Clean."))
		w.shell = c.shell
		w.says("alice", "look")
		w.executed(0)
		messages := w.View(alice).Messages
		if last := string(uimessage.AppendJSON(nil, messages[len(messages)-1])); !strings.Contains(last, "the workspace is missing") {
			t.Errorf("the model does not read why its call was refused: %s", last)
		}
		w.says("alice", "again")
		w.executed(1)
	})
}
