package actors_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Stopping all while a message waits for its file and no run is in progress drops the message durably, and the file is
// not fetched any further. Later messages are answered.
func TestStopAllWhileNothingRuns(t *testing.T) {
	for _, by := range []string{"command", "button"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, script := &post{}, modeltest.NewScript(modeltest.Say("Hello."))
				w := fetchWorld(t, newStore(t), p, script)
				accept(t, w, withFile(w, "", "a", ""), w.Inbound(alice, "alice", "and?"))
				accepted := int64(3)
				if by == "command" {
					accept(t, w, w.Inbound(alice, "alice", "/stop all"))
					accepted++
				} else if was, err := w.Port.Stop(t.Context(), alice, platform.Person{ID: "alice"}, true); err != nil || !was {
					t.Errorf("stopped %v, %v", was, err)
				}
				w.Wait()
				if v := w.View(alice); v.Counts.Fates["stopped"] != 2 || v.Counts.Open != 0 {
					t.Errorf("counts %+v", v.Counts)
				}
				close(p.gate("a"))
				w = w.Again(nil)
				if n := len(script.Requests()); n != 0 {
					t.Errorf("%d requests about what was dropped", n)
				}
				accept(t, w, w.Inbound(alice, "alice", "hello"))
				stdtest.Diff(t, "answer", []string{"Hello."}, w.Platform.Texts(alice)[len(w.Platform.Texts(alice))-1:])
				atRest(t, w, accepted)
			})
		})
	}
}

// A caption in brackets is the sender's text and not a placeholder: the model answers it although the voice message
// could not be transcribed.
func TestVoiceWithACaptionInBrackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Urgent, I see."))
		w := deafWorld(t, p, script)
		close(p.gate("a"))
		accept(t, w, withFile(w, "[urgent: call me]", "a", ""))
		w.Wait()
		if n := len(script.Requests()); n != 1 || told(w) != 1 {
			t.Errorf("%d requests, told %d times: %q", n, told(w), w.Platform.Texts(alice))
		}
		atRest(t, w, 1)
	})
}

// The reaction on a voice message that could not be transcribed is removed with the host's answer.
func TestMarkOfAVoiceNobodyUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newShowing(platform.Capabilities{Reactions: true}), &post{}
		o := actortest.Options{Store: newStore(t), Model: modeltest.NewScript(), Platform: s.Platform, Real: s}
		o.Chat.Fetch = deaf(p)
		w := actortest.New(t, o)
		accept(t, w, withFile(w, "", "a", ""))
		<-time.After(5 * time.Second)
		close(p.gate("a"))
		<-time.After(5 * time.Second)
		_, marks := s.seen()
		stdtest.Diff(t, "marks", []string{"1 seen", "1 "}, marks)
	})
}

func panicsOf(w *actortest.World) *int {
	n := 0
	w.System.EventStream.Subscribe(func(event any) {
		if _, ok := event.(*actor.SupervisorEvent); ok {
			n++
		}
	})
	return &n
}

// A request expired while the host was down, and the disk is full when that has to be written: the chat waits for the
// disk and does not panic.
func TestST9ExpiryOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty(newStore(t))
		a := newApprovals(t, func(o *actortest.Options) { o.Store = disk }, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Hello."))
		a.Say(alice, "alice", "rm a")
		a.Wait()
		a.Kill()
		<-time.After(31 * time.Minute)
		disk.set(func(f *faulty) { f.faults = []fault{{op: "decide", full: true, times: 2}} })
		a.World = a.Again(nil)
		panics := panicsOf(a.World)
		a.Wait()
		a.Port.Accept(context.Background(), []platform.Inbound{a.Inbound(alice, "alice", "early")}) // may be refused
		<-time.After(20 * time.Second)
		if *panics != 0 {
			t.Errorf("%d panics", *panics)
		}
		if open := a.open(); len(open) != 0 {
			t.Errorf("still open: %q", open)
		}
		a.Say(alice, "alice", "hello")
		a.Wait()
		a.ran(0)
	})
}

// A press of a button while the disk is full is refused and can be repeated. The run in progress is not affected.
func TestST9DecisionOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, gate := newFaulty(newStore(t)), make(chan struct{})
		a := newApprovals(t, func(o *actortest.Options) {
			o.Store, o.Tools = disk, append(o.Tools, actortest.Slow("look", gate))
		}, modeltest.CallTools(rm("c1", "a")), modeltest.CallTools(modeltest.Call{ID: "c2", Name: "look", Input: "{}"}), modeltest.Say("Both."))
		a.Say(alice, "alice", "rm a")
		a.Wait()
		a.Say(alice, "alice", "look")
		a.Wait()
		disk.set(func(f *faulty) { f.faults = []fault{{op: "decide", full: true, times: 1}} })
		ids := a.open()
		if _, err := a.Port.Decide(t.Context(), alice, platform.Person{ID: "alice"}, []messages.Decision{{ApprovalID: ids[0], Approved: true}}); err == nil {
			t.Error("a decision that was not written counts")
		}
		stdtest.Diff(t, "decision", done(1), a.decide(ids, true))
		close(gate)
		a.Wait()
		a.ran(1)
		a.sound()
		for _, r := range a.results() {
			if r == "interrupted, outcome unknown" {
				t.Error("the run was interrupted by a press")
			}
		}
	})
}

// Writing a receipt fails permanently, long after the chat came to rest: the chat is loaded again, and the rest of the
// answer is sent.
func TestST8ReceiptOnABrokenDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, newStore(t))
		s.play("model long 9000\nfail send 1 rate 1\nsay alice all")
		if n := len(s.w.Platform.Texts(alice)); n != 1 {
			t.Fatalf("%d parts before the pause", n)
		}
		<-time.After(2 * time.Second)
		s.play("fail store sent broken\nadvance 2m")
		if n := len(s.w.Platform.Texts(alice)); n != 3 {
			t.Errorf("%d parts, want 3", n)
		}
		if v := s.w.View(alice); v.Counts.Pending != 0 {
			t.Errorf("still owed: %+v", v.Counts)
		}
	})
}

// A message with the id of an earlier turn changes nothing of that turn, whether a run is answering it, it waits, or it
// was answered. The message becomes another turn.
func TestTurnIDGivenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: "{}"}), modeltest.Say("Done."), modeltest.Say("Hello."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(actortest.Slow("look", gate))})
		named := func(id, text string) platform.Inbound {
			in := w.Inbound(alice, "alice", text)
			in.TurnID = id
			return in
		}
		accept(t, w, named("x", "look"))
		accept(t, w, named("y", "wait"), named("x", "other"), named("y", "another"))
		close(gate)
		w.Wait()
		accept(t, w, named("x", "once more"))
		w = w.Again(nil)
		v := w.View(alice)
		stdtest.Diff(t, "turns", []string{"look", "wait", "other", "another", "once more"}, turns(v))
		stdtest.Diff(t, "fates", map[string]int64{"answered": 2, "merged": 3}, v.Counts.Fates)
		atRest(t, w, 5)
	})
}

// Messages that waited for a receipt precede those that arrived while it was written.
func TestWordsThatWaitedKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := storetest.NewFaulty(newStore(t), func(_ string, _ messages.ChatKey, records []journal.Record, do func() error) error {
			if slices.Contains(kinds(records), "settled") {
				<-time.After(time.Second)
			}
			return do()
		})
		a := newApprovals(t, func(o *actortest.Options) {
			o.Store = slow
			o.Platform = &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Pace: func(string, string, string) { <-time.After(time.Second) }}
		}, modeltest.CallTools(rm("c1", "a")), modeltest.Say("Well."))
		a.Say(alice, "alice", "rm a")
		var said sync.WaitGroup
		for _, words := range []string{"yes", "but only if it is old"} {
			<-time.After(700 * time.Millisecond)
			in := inbounds(a.Inbound(alice, "alice", words))
			said.Go(func() { a.Port.Accept(context.Background(), in) })
		}
		said.Wait()
		a.Wait()
		for _, m := range a.View(alice).Messages {
			if meta, err := uimessage.DecodeMetadata(m.Metadata); err != nil || journal.Text(m) == "but only if it is old" && meta.Seq != 3 {
				t.Errorf("the message that came third is number %d: %v", meta.Seq, err)
			}
		}
	})
}

// A chat whose work cannot be written is loaded again at growing intervals, and at once when somebody writes.
func TestST9LoadsLessOftenWhileTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newFaulty(newStore(t))
		disk.set(func(f *faulty) { f.faults = []fault{{op: "run", full: true, times: -1}} })
		w := actortest.New(t, actortest.Options{Store: disk, Model: modeltest.NewScript(modeltest.Say("Hello."), modeltest.Say("Yes."))})
		w.Say(alice, "alice", "hi")
		<-time.After(time.Hour)
		loads := 0
		disk.set(func(f *faulty) {
			for _, op := range f.trace {
				loads += strings.Count(op, "load")
			}
			f.faults = nil
		})
		if loads > 100 {
			t.Errorf("loaded %d times in an hour", loads)
		}
		w.Say(alice, "alice", "are you there?")
		w.Wait()
		stdtest.Diff(t, "answers", []string{"Hello.", "Yes."}, w.Platform.Texts(alice))
	})
}

// A full disk refuses every message, and the log says so once until the chat is written again.
func TestAFullDiskDoesNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, log := newFaulty(newStore(t)), &strings.Builder{}
		w := actortest.New(t, actortest.Options{Store: disk, Model: modeltest.NewScript(modeltest.Say("Hello."), modeltest.Say("Yes.")), Log: slog.New(slog.NewTextHandler(log, nil))})
		for outage, want := range []int{1, 2} {
			disk.set(func(f *faulty) {
				f.faults = []fault{{op: "turn", full: true, times: -1}, {op: "history", full: true, times: -1}, {op: "checkpoint", full: true, times: -1}}
			})
			for range 20 {
				if r := w.Port.Accept(t.Context(), []platform.Inbound{w.Inbound(alice, "alice", "hi")})[0]; r.Err == nil {
					t.Fatal("a message is accepted on a full disk")
				}
				w.Wait()
				<-time.After(5 * time.Second)
			}
			if n := strings.Count(log.String(), "the store refused a write"); n != want {
				t.Errorf("outage %d: %d lines, want %d:\n%s", outage, n, want, log.String())
			}
			disk.set(func(f *faulty) { f.faults = nil })
			w.Say(alice, "alice", "hi")
			w.Wait()
		}
	})
}
