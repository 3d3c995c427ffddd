package actors_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// shell is a tool whose calls are commands. Their effect depends on a version, as with a script.
type shell struct {
	version atomic.Int64
	broken  atomic.Bool
	ran     atomic.Int64
	pushed  atomic.Int64 // of them, those that are no rule's
	output  string       // of calls, in place of ran
	binds   chan string  // of the calls that ran
}

func newShell() *shell { return &shell{binds: make(chan string, 1000)} }

func (*shell) Spec() tool.Spec {
	return tool.Spec{Name: "exec_shell", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func (*shell) CheckCall(tool.Call) tool.Verdict { return tool.Verdict{Decision: tool.Ask} }

func (*shell) Command(call tool.Call) string {
	var in struct{ Command string }
	_ = json.Unmarshal(call.Input, &in) // no command is covered by nothing
	return in.Command
}

func (s *shell) ShellText(call tool.Call) string { return s.Command(call) }

func (s *shell) Explain(call tool.Call) (tool.Explanation, error) {
	if s.broken.Load() {
		return tool.Explanation{}, errors.New("there is no such folder")
	}
	return tool.Explanation{
		What: "Runs a command.", Risk: "It may change files.", Exact: s.Command(call), Bind: fmt.Sprintf("%s v%d", call.Input, s.version.Load()),
	}, nil
}

func (s *shell) Invoke(_ context.Context, call tool.Call) (tool.Result, error) {
	s.ran.Add(1)
	if s.Command(call) == "git push" {
		s.pushed.Add(1)
	}
	s.binds <- call.Bind
	output, err := json.Marshal(cmp.Or(s.output, "ran"))
	return tool.Result{Output: output}, err
}

func sh(id, command string) modeltest.Call {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return modeltest.Call{ID: id, Name: "exec_shell", Input: string(input)}
}

func shIn(id, command, folder string) modeltest.Call {
	return modeltest.Call{ID: id, Name: "exec_shell", Input: fmt.Sprintf(`{"command":%q,"cwd":%q}`, command, folder)}
}

// newRules returns the operator's rules with these permissions.
func newRules(allow ...string) run.Rules { return run.NewRules(allow, nil) }

// rules is a world with a shell and grants.
type rules struct {
	*approvals
	shell  *shell
	grants persistence.GrantStore
	audit  []decision.AuditEntry
}

func newShellWorld(t *testing.T, change func(*actortest.Options), steps ...modeltest.Step) *rules {
	t.Helper()
	w := &rules{shell: newShell(), grants: newGrants(t)}
	w.approvals = newApprovals(t, func(o *actortest.Options) {
		o.Tools = actortest.Tools(w.shell)
		o.Chat.Grants, o.Rules = w.grants, run.NewRules(nil, nil)
		o.Chat.Audit = func(e decision.AuditEntry) { w.audit = append(w.audit, e) }
		if change != nil {
			change(o)
		}
	}, steps...)
	return w
}

func (w *rules) says(who, text string) {
	w.t.Helper()
	w.Say(alice, who, text)
	w.Wait()
}

func (w *rules) executed(want int64) {
	w.t.Helper()
	if got := w.shell.ran.Load(); got != want {
		w.t.Errorf("the shell ran %d times, want %d", got, want)
	}
}

// wantOpen checks how many requests are open.
func (w *rules) wantOpen(want int) {
	w.t.Helper()
	if got := len(w.open()); got != want {
		w.t.Errorf("%d requests are open, want %d:\n%s", got, want, strings.Join(w.history(), "\n"))
	}
}

func (w *rules) last() string {
	w.t.Helper()
	texts := w.Platform.Texts(alice)
	if len(texts) == 0 {
		return ""
	}
	return texts[len(texts)-1]
}

func TestOperatorsRules(t *testing.T) {
	for _, tt := range []struct {
		name        string
		allow, deny []string
		command     string
		ran         int64
		open        int
		reads       string
	}{
		{"allowed", []string{"git status"}, nil, "git status", 1, 0, "ran"},
		{"something else", []string{"git status"}, nil, "git push", 0, 1, ""},
		{"a chain", []string{"git status"}, nil, "git status; rm -rf x", 0, 1, ""},
		{"denied", nil, []string{"git push *"}, "git push", 0, 0, `not allowed: the operator's rule "git push *" forbids it`},
		{"denied in a chain", nil, []string{"git push *"}, "cd x && git -C y push", 0, 0, `not allowed: the operator's rule "git push *" forbids it`},
		{"denied in a shell", []string{"sh"}, []string{"git push *"}, "env sh -c 'git push'", 0, 0, `not allowed: the operator's rule "git push *" forbids it`},
		{"denied and allowed", []string{"git push"}, []string{"git push"}, "git push", 0, 0, `not allowed: the operator's rule "git push" forbids it`},
		{"void", []string{"bash *"}, nil, "bash x", 0, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newShellWorld(t, func(o *actortest.Options) { o.Rules = run.NewRules(tt.allow, tt.deny) },
					modeltest.CallTools(sh("c1", tt.command)), modeltest.Say("Well."))
				w.says("alice", "go")
				w.executed(tt.ran)
				w.wantOpen(tt.open)
				if tt.reads != "" && w.results()[0] != tt.reads {
					t.Errorf("the model read %q, want %q", w.results(), tt.reads)
				}
			})
		})
	}
}

// An operator's rule for a program that runs files covers exactly the content that a person agreed to once, also after
// a restart. It asks again when the content has changed.
func TestOperatorsRuleForARunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []modeltest.Step
		for i := range 4 {
			steps = append(steps, modeltest.CallTools(sh(fmt.Sprint("c", i), "bash build.sh")), modeltest.Say("Built."))
		}
		w := newShellWorld(t, func(o *actortest.Options) { o.Rules = run.NewRules([]string{"bash build.sh"}, nil) }, steps...)
		w.says("alice", "build")
		w.wantOpen(1)
		w.decided(true)
		w.executed(1)
		w.again()
		w.says("alice", "build")
		w.executed(2)
		w.wantOpen(0)
		w.shell.version.Add(1)
		w.says("alice", "build")
		w.executed(2)
		w.wantOpen(1)
		w.decided(false)
		w.says("alice", "build")
		w.wantOpen(1)
		w.executed(2)
	})
}

// A request shows what would happen. It is durable, and the answer is bound to it.
func TestRequestShowsWhatWouldHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, nil, modeltest.CallTools(sh("c1", "rm -rf \u202ebuild")), modeltest.Say("Done."))
		w.says("alice", "clean")
		for _, part := range []string{"#1", "Runs a command\\.", "It may change files\\.", "rm -rf ⟦U+202E⟧build", "/approve 1"} {
			if !strings.Contains(w.last(), part) {
				t.Errorf("people read %q, want %q in it", w.last(), part)
			}
		}
		w.again()
		w.says("alice", "yes")
		w.executed(1)
		if bind := <-w.shell.binds; !strings.HasSuffix(bind, "v0") {
			t.Errorf("the tool was told %q", bind)
		}
		w.sound()
	})
}

// A call whose effect has changed since it was shown is not executed: in place, late, and after a restart.
func TestAP7ChangedSinceItWasShown(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("late=%v/restart=%v", late, restart), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					steps := []modeltest.Step{modeltest.CallTools(sh("c1", "bash build.sh"))}
					if late {
						steps = append(steps, modeltest.Say("Hello."))
					}
					w := newShellWorld(t, nil, append(steps, modeltest.CallTools(sh("c2", "bash build.sh")), modeltest.Say("Well."))...)
					w.says("alice", "build")
					if late {
						w.says("alice", "hi")
					}
					w.shell.version.Add(1)
					if restart {
						w.again()
					}
					w.decided(true)
					w.executed(0)
					reads := w.results()
					if !strings.HasPrefix(reads[len(reads)-1], "not executed: what this call would do has changed") {
						t.Errorf("the model read %q", reads)
					}
					w.wantOpen(1) // the model asked anew
					w.decided(true)
					w.executed(1)
				})
			})
		}
	}
}

// Nobody is asked about a call that cannot be explained; the model gets the reason.
func TestUnexplainedIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, nil, modeltest.CallTools(sh("c1", "ls")), modeltest.CallTools(sh("c2", "ls -l")), modeltest.Say("Well."),
			modeltest.CallTools(sh("c3", strings.Repeat("x", 40_000))), modeltest.Say("Well."))
		w.shell.broken.Store(true)
		w.says("alice", "go")
		w.wantOpen(0)
		w.executed(0)
		reads := w.results()
		if reads[0] != "there is no such folder" || reads[1] != "there is no such folder" {
			t.Errorf("the model read %q", reads)
		}
		w.shell.broken.Store(false)
		w.says("alice", "and the long one")
		w.wantOpen(0)
		if reads := w.results(); !strings.Contains(reads[2], "too long to be shown") {
			t.Errorf("the model read %q", reads)
		}
	})
}

// A timed grant covers what its rule covers, in its chat and folder, for the person who gave it, until either of its
// two clocks says that it has expired, also after restarts.
func TestAP8TimedGrants(t *testing.T) {
	const group = messages.ChatKey("telegram-chat--7")
	call := func(n int, command string) modeltest.Step {
		return modeltest.CallTools(sh(fmt.Sprint("c", n), command))
	}
	for _, tt := range []struct {
		name string
		do   func(w *rules)
		step modeltest.Step
		who  string
		ran  int64
	}{
		{"again", func(*rules) {}, call(2, "git status"), "alice", 2},
		{"with a listed option", func(*rules) {}, call(2, "git status --short"), "alice", 2},
		{"another command", func(*rules) {}, call(2, "git push"), "alice", 1},
		{"another person", func(*rules) {}, call(2, "git status"), "bob", 1},
		{"another folder", func(*rules) {}, modeltest.CallTools(shIn("c2", "git status", "sub")), "alice", 1},
		{"the same folder", func(*rules) {}, modeltest.CallTools(shIn("c2", "git status", "./")), "alice", 2},
		{"shortly before its end", func(w *rules) { w.pass(9*time.Minute + 50*time.Second) }, call(2, "git status"), "alice", 2},
		{"after its end", func(w *rules) { w.pass(10 * time.Minute) }, call(2, "git status"), "alice", 1},
		{"over a restart", func(w *rules) { w.again() }, call(2, "git status"), "alice", 2},
		{"after its end, over restarts", func(w *rules) {
			w.pass(4 * time.Minute)
			w.again() // two minutes
			w.pass(2 * time.Minute)
			w.again()
		}, call(2, "git status"), "alice", 1},
		{"after its end, the host was down", func(w *rules) {
			w.Kill()
			<-time.After(10 * time.Minute) // fake
			w.again()
		}, call(2, "git status"), "alice", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newShellWorld(t, func(o *actortest.Options) { o.Chat.MayDecide = func(approval.Claim) bool { return true } },
					call(1, "git status"), modeltest.Say("Clean."), tt.step, modeltest.Say("Well."))
				w.says("alice", "look")
				w.wantOpen(1)
				w.says("alice", "10分钟内允许 git status")
				w.executed(1)
				tt.do(w)
				w.says(tt.who, "again")
				w.executed(tt.ran)
				w.wantOpen(2 - int(tt.ran))
			})
		})
	}
	t.Run("another chat", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newShellWorld(t, nil, call(1, "git status"), modeltest.Say("Clean."), call(2, "git status"))
			w.says("alice", "look")
			w.says("alice", "for 60 minutes allow git status")
			w.Say(group, "alice", "look")
			w.Wait()
			w.executed(1)
		})
	})
}

// A grant applies to the steps of a run only while the run answers nobody but the person to whom it was given.
func TestAP8GrantsServeTheirPersonAlone(t *testing.T) {
	const group = messages.ChatKey("telegram-chat--7")
	status := func(id string) modeltest.Step { return modeltest.CallTools(sh(id, "git status")) }
	for _, tt := range []struct {
		name string
		say  [][2]string // who, what; all of it before the run's second step
		ran  int64       // after the first approval
	}{
		{"alice alone", [][2]string{{"alice", "again"}}, 3},
		{"bob joins", [][2]string{{"alice", "again"}, {"bob", "and mine"}}, 2},
		{"bob joins, then alice", [][2]string{{"alice", "again"}, {"bob", "and mine"}, {"alice", "go on"}}, 2},
		{"alice after bob, whose run ended by asking", [][2]string{{"bob", "please"}, {"alice", "look"}}, 2},
		{"bob alone", [][2]string{{"bob", "please"}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				held := modeltest.Step{Text: []string{"One moment."}, Calls: []modeltest.Call{sh("c2", "git status")}, WaitAfterText: gate}
				well := modeltest.Say("Well.")
				w := newShellWorld(t, func(o *actortest.Options) { o.Chat.MayDecide = func(approval.Claim) bool { return true } }, status("c1"), modeltest.Say("Clean."), held, status("c3"))
				w.script.Otherwise = &well
				w.Say(group, "alice", "look")
				w.Wait()
				w.Say(group, "alice", "10分钟内允许 git status")
				w.Wait()
				w.executed(1)
				for _, s := range tt.say {
					w.Say(group, s[0], s[1])
					synctest.Wait()
				}
				close(gate)
				w.Wait()
				w.executed(tt.ran)
			})
		})
	}
}

// A grant also ends by the clock that nobody can set.
func TestAP8ClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		skew := time.Duration(0)
		w := newShellWorld(t, func(o *actortest.Options) {
			o.Chat.Uptime = func() (string, time.Duration) { return "boot", time.Since(began) + skew }
		}, modeltest.CallTools(sh("c1", "git status")), modeltest.Say("Clean."), modeltest.CallTools(sh("c2", "git status")))
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.executed(1)
		skew = 29 * time.Minute // the wall clock lost what the other one counted
		w.again()               // two minutes
		w.says("alice", "again")
		w.executed(1)
		w.wantOpen(1)
	})
}

// A grant ends when the person who gave it may not decide any more, or when its file cannot be read.
func TestGrantOfSomebodyWhoLostTheRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, nil, modeltest.CallTools(sh("c1", "git status")), modeltest.Say("Clean."), modeltest.CallTools(sh("c2", "git status")))
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.executed(1)
		w.World = w.Again(func(o *actortest.Options) { o.Chat.MayDecide = func(approval.Claim) bool { return false } })
		w.says("alice", "again")
		w.executed(1)
		w.wantOpen(1)
	})
}

// A timed grant for a program that runs files ends when the files have changed.
func TestGrantForARunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, nil, modeltest.CallTools(sh("c1", "bash build.sh")), modeltest.Say("Built."),
			modeltest.CallTools(sh("c2", "bash build.sh")), modeltest.Say("Built."), modeltest.CallTools(sh("c3", "bash build.sh")))
		w.says("alice", "build")
		w.says("alice", "allow bash build.sh for 30 minutes")
		w.says("alice", "build")
		w.executed(2)
		w.shell.version.Add(1)
		w.says("alice", "build")
		w.executed(2)
		w.wantOpen(1)
	})
}

// A grant that cannot be saved is not given, and the request stays.
func TestGrantThatCannotBeSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, func(o *actortest.Options) { o.Chat.Grants = fullDisk{newGrants(t)} }, modeltest.CallTools(sh("c1", "git status")))
		w.says("alice", "look")
		in := w.Inbound(alice, "alice", "allow git status for 30 minutes")
		if r := w.Port.Accept(t.Context(), inbounds(in))[0]; !errors.Is(r.Err, platform.ErrUnavailable) {
			t.Errorf("answered %+v", r)
		}
		w.Wait()
		w.executed(0)
		w.wantOpen(1)
	})
}

type fullDisk struct{ persistence.GrantStore }

func (fullDisk) SaveGrants(context.Context, messages.ChatKey, []permission.Grant) error {
	return errors.New("no space left on device")
}

// Every execution that a person or a rule permitted is in the audit log before it begins, with the person, the command
// and the rule, and afterwards with its result.
func TestAP14EveryExecutionIsAudited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, func(o *actortest.Options) { o.Rules = run.NewRules([]string{"git log"}, nil) },
			modeltest.CallTools(sh("c1", "git status"), sh("c2", "git log")), modeltest.Say("Hello."),
			modeltest.CallTools(sh("c3", "git status")), modeltest.Say("So."),
			modeltest.CallTools(sh("c4", "rm x")), modeltest.Say("Hm."), modeltest.Say("Late."))
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.says("alice", "look again")
		w.says("alice", "remove x")
		w.says("alice", "hi")
		w.decided(true)
		w.executed(4)
		var begun, ended []string
		asked := map[string]bool{}
		for _, e := range w.audit {
			switch {
			case e.Event == "approval" && e.Result == "asked":
				asked[e.Digest] = true
			case e.Event != "execution":
			case e.Result == "begun":
				begun = append(begun, e.Name+" "+e.Rule)
				if len(e.Digest) != 64 || e.By == "" || e.RunID == "" || e.RequestID == "" || e.Rule == "approved" && !asked[e.Digest] {
					t.Errorf("entry %+v", e)
				}
			default:
				ended = append(ended, e.Result)
			}
		}
		slices.Sort(begun)
		if len(begun) != 4 || begun[0] != "exec_shell allow: git log" || begun[1] != "exec_shell approved" || begun[2] != "exec_shell approved" ||
			!strings.HasPrefix(begun[3], "exec_shell grant ") {
			t.Errorf("begun %q", begun)
		}
		if !slices.Equal(ended, []string{"ok", "ok", "ok", "ok"}) {
			t.Errorf("ended %q", ended)
		}
	})
}
