package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// soaking reports whether the full counts are requested.
func soaking() bool { return os.Getenv("SOAK") != "" }

// plenty is the number of random stories of a test: with SOAK the number that rapid chooses (-rapid.checks), otherwise
// a small one.
func plenty() int {
	if soaking() {
		return 1 << 30
	}
	return 40
}

// meter counts how often each call began, across processes.
type meter struct {
	mu    sync.Mutex
	began map[string]int
	hang  bool // the next call never returns
}

func (m *meter) begin(id string) (hangs bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began[id]++
	hangs, m.hang = m.hang, false
	return hangs
}

func (m *meter) count(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.began[id]
}

// metered is a tool that says it did its work.
func (m *meter) tool(name string, repeatable bool) tool.Tool {
	return actortest.Func{
		Says: tool.Spec{Name: name, Repeatable: repeatable},
		Do: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			if m.begin(call.ID) {
				<-ctx.Done()
				return tool.Result{}, context.Cause(ctx)
			}
			return tool.Result{Output: json.RawMessage(`"done"`)}, nil
		},
	}
}

// payAndLook calls both tools for a user's turn, pays once more, and then talks.
func payAndLook(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	n := len(req.Messages)
	call := func(name string) []model.Event {
		return modeltest.CallEvents(modeltest.Call{ID: fmt.Sprintf("%s%d", name, n), Name: name, Input: `{}`})
	}
	calls := 0
	for i := n - 1; i >= 0 && req.Messages[i].Role != modelmessage.RoleUser; i-- {
		if req.Messages[i].Role == modelmessage.RoleTool {
			calls++
		}
	}
	switch {
	case last.Role == modelmessage.RoleUser:
		return slices.Concat(call("pay"), call("look"), []model.Event{modeltest.Finish("tool-calls")})
	case calls == 1:
		return append(call("pay"), modeltest.Finish("tool-calls"))
	}
	return append(modeltest.TextEvents("Paid."), modeltest.Finish("stop"))
}

// orphans counts the calls of a history by their end: done or unknown. Any other end is a fault.
func orphans(t *testing.T, s *scenario, m *meter) (done, unknown int) {
	t.Helper()
	for _, msg := range s.w.View(s.key).Messages {
		for _, p := range msg.Parts {
			call, ok := p.(uimessage.Tool)
			if !ok {
				continue
			}
			began, repeatable := m.count(call.ToolCallID), call.Name == "look"
			switch {
			case call.State == uimessage.ToolOutputAvailable && began >= 1 && (began == 1 || repeatable):
				done++
			case call.State == uimessage.ToolOutputError && call.ErrorText.Or("") == "interrupted, outcome unknown" && !repeatable && began <= 1:
				unknown++
			default:
				t.Errorf("%s %s began %d times and is %s %q", call.Name, call.ToolCallID, began, call.State, call.ErrorText.Or(""))
			}
		}
	}
	return done, unknown
}

// A process is killed in every state of a run, also during a call. A call with side effects is never repeated: its
// outcome is unknown, and says so. A repeatable call is repeated.
func TestRL10OrphanCallsAfterCrash(t *testing.T) {
	kills, done, unknown := 0, 0, 0
	play := func(fault func(*faulty), hang int) (ops int) {
		synctest.Test(t, func(t *testing.T) {
			m := &meter{began: map[string]int{}}
			s := newScenario(t, filestoretest.New(t))
			s.o.Tools = []tool.Tool{m.tool("pay", false), m.tool("look", true)}
			s.model.Otherwise = &modeltest.Step{Do: payAndLook}
			fault(s.store)
			for i := range 2 {
				m.hang = hang == i+1
				_, _ = s.do("say", "alice pay") // an unconfirmed one comes again below
				s.w.Wait()
				if m.hang = false; hang == i+1 {
					kills++
					stdtest.Must(t, s.kill(""))
					s.w.Wait()
				}
			}
			s.store.set(func(f *faulty) { ops = len(f.trace) })
			if s.store.dead {
				kills++
				stdtest.Must(t, s.kill(""))
				s.w.Wait()
			}
			for _, in := range s.in {
				_, _ = s.accept(in)
				s.w.Wait()
			}
			<-time.After(time.Minute)
			s.w.Wait()
			d, u := orphans(t, s, m)
			done, unknown = done+d, unknown+u
			s.twice = "a crash between a send and its receipt"
			s.everythingHolds()
		})
		return ops
	}
	total := play(func(*faulty) {}, 0)
	for n := 1; n <= total && !t.Failed(); n++ {
		play(func(f *faulty) { f.dieAt = n }, 0)
		play(func(f *faulty) { f.dieAt, f.after = n, true }, 0)
	}
	for hang := 1; hang <= 2; hang++ {
		play(func(*faulty) {}, hang)
	}
	if unknown == 0 || done == 0 {
		t.Errorf("calls done %d, unknown %d: not every state was met", done, unknown)
	}
	t.Logf("soak: row=RL10 kills=%d calls_done=%d calls_unknown=%d repeated=0", kills, done, unknown)
}

// After a confirmed stop nothing of the run continues, whenever the process is killed.
func TestRL13StopThenCrashStaysStopped(t *testing.T) {
	const rounds = 100
	stayed := 0
	for i := range rounds {
		synctest.Test(t, func(t *testing.T) {
			if stopAndDie(t, i) {
				stayed++
			}
		})
	}
	if stayed != rounds {
		t.Errorf("stayed stopped %d of %d", stayed, rounds)
	}
	t.Logf("soak: row=RL13 kills=%d stayed=%d", rounds, stayed)
}

// stopAndDie stops a run in one of many states, kills the process some operations later, and reports whether the run
// stayed stopped.
func stopAndDie(t *testing.T, i int) bool {
	t.Helper()
	s := newScenario(t, filestoretest.New(t))
	rnd := rand.New(rand.NewPCG(uint64(i), 13))
	m := &meter{began: map[string]int{}, hang: i%4 == 0}
	s.o.Tools = []tool.Tool{m.tool("pay", false)}
	s.model.Otherwise = &modeltest.Step{Text: []string{"Hello again."}}
	switch i % 4 {
	case 0: // while a call is under way
		s.model.Add(modeltest.Step{Calls: []modeltest.Call{{ID: "c1", Name: "pay", Input: `{}`}}})
	case 1: // before the first word
		s.model.Add(modeltest.Step{Stall: true})
	case 2: // in the middle of a text
		s.model.Add(modeltest.Step{Text: []string{"I will "}, WaitAfterText: make(chan struct{})})
	default: // after a call
		s.model.Add(modeltest.Step{Calls: []modeltest.Call{{ID: "c1", Name: "pay", Input: `{}`}}}, modeltest.Step{Stall: true})
	}
	waits := i%3 == 0
	s.play("say alice work")
	if waits {
		s.play("say alice and this")
	}
	later := rnd.IntN(4) // operations after the stop was made durable; 0: right behind it
	s.store.set(func(f *faulty) { f.dieAt, f.after = len(f.trace)+1+later, later == 0 || i%2 == 0 })
	_, _ = s.do("stop", "") // who asked may not have heard the answer
	s.w.Wait()
	s.store.set(func(f *faulty) {
		if !slices.ContainsFunc(f.trace, func(op string) bool { return strings.Contains(op, "stop") }) {
			t.Errorf("round %d: the stop was never written: %q", i, f.trace)
		}
	})
	before, asked := m.count("c1"), len(s.model.Requests())
	stdtest.Must(t, s.kill(""))
	s.w.Wait()
	<-time.After(time.Minute)
	s.w.Wait()
	more := len(s.model.Requests()) - asked
	if !waits && more > 0 || more > 1 || m.count("c1") != before {
		t.Errorf("round %d: the run went on: %d more requests, the call began %d times", i, more, m.count("c1"))
		return false
	}
	for _, msg := range s.w.View(s.key).Messages {
		meta, _ := uimessage.DecodeMetadata(msg.Metadata)
		if msg.Role == uimessage.RoleAssistant {
			return meta.Result == "stopped"
		}
	}
	return true // stopped before it had a message
}

// An unfinished run older than ten minutes is not resumed: people are informed, and waiting turns start a new run. A
// younger run continues. Ages are counted from the last record.
func TestRL14OldRunIsNotResumed(t *testing.T) {
	resumed := 0
	for _, age := range []time.Duration{3 * time.Minute, 9 * time.Minute, 11 * time.Minute, time.Hour, 7 * 24 * time.Hour} {
		for _, waits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/waits=%v", age, waits), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					old := age > 10*time.Minute
					s := newScenario(t, filestoretest.New(t))
					m := &meter{began: map[string]int{}, hang: true}
					s.o.Tools = []tool.Tool{m.tool("pay", false)}
					s.model.Add(modeltest.Step{Calls: []modeltest.Call{{ID: "c1", Name: "pay", Input: `{}`}}})
					s.model.Otherwise = &modeltest.Step{Text: []string{"On it."}}
					s.play("say alice pay")
					if waits {
						s.play("say bob and mine")
					}
					stdtest.Must(t, s.kill((age - 2*time.Minute).String())) // a kill takes two minutes of its own
					s.w.Wait()
					v, told := s.w.View(s.key), strings.Join(s.w.Platform.Texts(s.key), "\n")
					if m.count("c1") != 1 {
						t.Errorf("the call began %d times", m.count("c1"))
					}
					if was := strings.Contains(told, "I was interrupted"); was != old {
						t.Errorf("told of the interruption: %v; people read %q", was, told)
					}
					if old && !waits && len(s.model.Requests()) != 1 {
						resumed++
						t.Error("the run was resumed")
					}
					if answered := strings.Contains(told, "On it."); answered != (waits || !old) {
						t.Errorf("people read %q", told)
					}
					if v.Running || v.Counts.Open != 0 {
						t.Errorf("not at rest: %+v", v.Counts)
					}
				})
			})
		}
	}
	t.Logf("soak: row=RL14 resumed=%d", resumed)
}

// A run whose recovery fails again and again ends with a notice, whether it kills the process, makes the chat panic, or
// makes its store panic. The chat is then idle and answers the next message.
func TestRL15RecoveryThatFailsIsGivenUp(t *testing.T) {
	poison := map[string]func(s *scenario){
		"processes die of it": func(s *scenario) {
			for range 3 {
				stdtest.Must(s.t, s.kill(""))
				s.w.Wait()
			}
		},
		"the chat panics when the run begins": func(s *scenario) {
			s.panics.set("run", "started", 9)
			stdtest.Must(s.t, s.kill(""))
		},
		"the store panics over its records": func(s *scenario) {
			s.store.set(func(f *faulty) { f.panicOn, f.panics = "run", 2 })
			stdtest.Must(s.t, s.kill(""))
		},
	}
	for name, happens := range poison {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario(t, filestoretest.New(t))
				s.o.Tools = []tool.Tool{actortest.Slow("pay", make(chan struct{}))}
				s.model.Otherwise = &modeltest.Step{Stall: true}
				s.play("say alice poison")
				happens(s)
				<-time.After(2 * time.Minute)
				s.w.Wait()
				s.panics.set("", "", 0)
				v, told := s.w.View(s.key), strings.Join(s.w.Platform.Texts(s.key), "\n")
				if v.Running || v.Counts.Open != 0 || told == "" {
					t.Fatalf("not idle with a notice: running %v, %+v, people read %q", v.Running, v.Counts, told)
				}
				s.model.Otherwise = &modeltest.Step{Text: []string{"Alive."}}
				s.play("say alice alive?")
				if told := s.w.Platform.Texts(s.key); told[len(told)-1] != "Alive." {
					t.Errorf("the next message was not answered: %q", told)
				}
			})
		})
	}
}
