package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// byTool is a platform where answers go out through chat_send.
func byTool() *actortest.Platform {
	return &actortest.Platform{Caps: platform.Capabilities{Outbox: true, ToolEgress: true}}
}

func send(id, text string) modeltest.Call {
	in, _ := json.Marshal(map[string]any{"text": text})
	return modeltest.Call{ID: id, Name: "chat_send", Input: string(in)}
}

func TestChatSend(t *testing.T) {
	final := send("c1", "bye")
	final.Input = `{"text":"bye","final":true}`
	for _, tc := range []struct {
		name     string
		steps    []modeltest.Step
		want     []string
		requests int
	}{
		{"speaks by tool, final text stays inside", []modeltest.Step{modeltest.CallTools(send("c1", "hello")), modeltest.Say("Done.")}, []string{"hello"}, 2},
		{"final ends the run at once", []modeltest.Step{modeltest.CallTools(final)}, []string{"bye"}, 1},
		{"never called: the final text goes out", []modeltest.Step{modeltest.Say("plain words")}, []string{"plain words"}, 1},
		{"calls of one step go out in order", []modeltest.Step{modeltest.CallTools(send("c1", "1"), send("c2", "2"), send("c3", "3")), modeltest.Say("")}, []string{"1", "2", "3"}, 2},
		{"the same text twice is sent once", []modeltest.Step{modeltest.CallTools(send("c1", "x"), send("c2", "x")), modeltest.Say("")}, []string{"x"}, 2},
		{"an empty text is nothing", []modeltest.Step{modeltest.CallTools(send("c1", "  ")), modeltest.Say("fallback")}, []string{"fallback"}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := modeltest.NewScript(tc.steps...)
				w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Platform: byTool(), Tools: actortest.Tools(actortest.Send())})
				w.Say(alice, "alice", "hi")
				w.Wait()
				if diff := cmp.Diff(tc.want, w.Platform.Texts(alice)); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
				if got := len(script.Requests()); got != tc.requests || len(script.Faults()) > 0 {
					t.Errorf("%d requests, want %d; faults %v", got, tc.requests, script.Faults())
				}
				if v := w.View(alice); v.Running || v.Counts.Open != 0 || v.Counts.Pending != 0 {
					t.Errorf("at the end: %+v", v.Counts)
				}
			})
		})
	}
}

func TestSendRetriesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}}
		p.Fail = func(_ string, n int) error {
			if n <= 3 {
				return &platform.Error{Reason: platform.SendServer, Retryable: true, Err: errors.New("502")}
			}
			return nil
		}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two")), Platform: p})
		w.Say(alice, "alice", "a")
		w.Wait()
		w.Say(alice, "alice", "b")
		<-time.After(time.Minute)
		if diff := cmp.Diff([]string{"one", "two"}, p.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestRefusedSendIsParkedAndTheNextGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}}
		p.Fail = func(_ string, n int) error {
			if n == 1 {
				return &platform.Error{Reason: platform.SendForbidden, Err: errors.New("blocked")}
			}
			return nil
		}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two")), Platform: p})
		w.Say(alice, "alice", "a")
		w.Wait()
		w.Say(alice, "alice", "b")
		w.Wait()
		if diff := cmp.Diff([]string{"two"}, p.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestRatesAreSlidingWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := byTool()
		p.Caps.Rates = platform.Rates{PerChat: platform.Rate{N: 1, Per: time.Second}}
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Platform: p, Tools: actortest.Tools(actortest.Send()),
			Model: modeltest.NewScript(modeltest.CallTools(send("1", "1"), send("2", "2"), send("3", "3")), modeltest.Say("")),
		})
		began := time.Now()
		w.Say(alice, "alice", "a")
		for len(p.Texts(alice)) < 3 {
			<-time.After(10 * time.Millisecond)
		}
		if took := time.Since(began); took < 2*time.Second || took > 2100*time.Millisecond {
			t.Errorf("three sends took %v, want two seconds", took)
		}
	})
}

func TestCrashWithUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		pay := actortest.Func{Says: tool.Spec{Name: "pay"}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			ran++
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "pay", Input: `{}`}), modeltest.Say("I do not know whether it worked."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(pay)})
		w.Say(alice, "alice", "pay")
		w.Wait()
		w = w.Again(nil)
		w.Wait()
		if ran != 1 {
			t.Errorf("the tool ran %d times, want once", ran)
		}
		part, _ := w.View(alice).Messages[1].Parts[1].(uimessage.Tool)
		if got := part.ErrorText.Or(""); got != "interrupted, outcome unknown" {
			t.Errorf("the model reads %q (%+v)", got, part)
		}
		if got := w.Platform.Texts(alice); len(got) != 1 {
			t.Errorf("sent %q", got)
		}
	})
}

func TestCrashRepeatsWhatIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		look := actortest.Func{Says: tool.Spec{Name: "look", Repeatable: true}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			if ran++; ran == 1 {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
			return tool.Result{Output: json.RawMessage(`"seen"`)}, nil
		}}
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{}`}), modeltest.Say("seen"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(look)})
		w.Say(alice, "alice", "look")
		w.Wait()
		w = w.Again(nil)
		w.Wait()
		if got := strings.Join(w.Platform.Texts(alice), "|"); ran != 2 || got != "seen" {
			t.Errorf("ran %d times, sent %q", ran, got)
		}
	})
}

func TestFailureIsSaidOnce(t *testing.T) {
	for _, tc := range []struct {
		reason model.Reason
		words  string
	}{
		{model.ReasonAuth, "llm.apiKey"},
		{model.ReasonNotFound, "llm.model"},
		{model.ReasonTooLong, "too long"},
		{model.ReasonRate, "overloaded"},
	} {
		t.Run(string(tc.reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := modeltest.NewScript(modeltest.FailWith(tc.reason, false), modeltest.Say("works again"))
				w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
				w.Say(alice, "alice", "hi")
				w.Wait()
				w.Say(alice, "alice", "and now?")
				w.Wait()
				got := w.Platform.Texts(alice)
				if len(got) != 2 || !strings.Contains(got[0], tc.words) || got[1] != "works again" {
					t.Errorf("sent %q", got)
				}
				if f := script.Faults(); len(f) > 0 {
					t.Errorf("requests: %v", f)
				}
			})
		})
	}
}

func TestCutStreamIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.CutAfter("half an "), modeltest.CutAfter("half"), modeltest.Say("a whole answer"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "hi")
		<-time.After(time.Minute)
		if diff := cmp.Diff([]string{"a whole answer"}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestOldRunIsReportedNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Step{Stall: true}, modeltest.Say("not asked for"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "work")
		w.Wait()
		w.Kill()
		<-time.After(11 * time.Minute)
		w = w.Again(nil)
		w.Wait()
		got := w.Platform.Texts(alice)
		if len(got) != 1 || !strings.Contains(got[0], "interrupted") || len(script.Requests()) != 1 {
			t.Errorf("sent %q after %d requests", got, len(script.Requests()))
		}
	})
}

func TestThirdCrashGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript()
		script.Otherwise = &modeltest.Step{Stall: true}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "work")
		w.Wait()
		for range 3 {
			w = w.Again(nil)
			w.Wait()
		}
		got := w.Platform.Texts(alice)
		if len(got) != 1 || !strings.Contains(got[0], "several times") || len(script.Requests()) != 3 {
			t.Errorf("sent %q after %d requests", got, len(script.Requests()))
		}
		if v := w.View(alice); v.Running || v.Counts.Open != 0 {
			t.Errorf("the chat is not idle: %+v", v)
		}
	})
}

func TestDraftBecomesTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}}
		step := modeltest.Step{Text: []string{"half of"}, WaitAfterText: release}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: modeltest.NewScript(step, modeltest.Say("whole")), Platform: p})
		w.Say(alice, "alice", "hi")
		<-time.After(3 * time.Second)
		if diff := cmp.Diff([]string{"half of"}, p.Texts(alice)); diff != "" {
			t.Fatalf("draft (-want +got):\n%s", diff)
		}
		w.Again(nil) // the placeholder survives the crash and is edited
		<-time.After(3 * time.Second)
		sent := p.Sent()
		if len(sent) != 1 || sent[0].Text != "whole" || sent[0].Edits == 0 {
			t.Errorf("after the crash there stands %+v", sent)
		}
		close(release)
	})
}

func TestPanicInATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := actortest.Func{Says: tool.Spec{Name: "boom"}, Do: func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }}
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "boom", Input: `{}`}), modeltest.Say("It broke."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(boom)})
		w.Say(alice, "alice", "hi")
		w.Wait()
		if diff := cmp.Diff([]string{"It broke."}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

// A panic inside the run's own actor ends that run with a notice; the chat goes on.
func TestPanicInTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{}`}), modeltest.Say("fine"))
		look := actortest.Func{Says: tool.Spec{Name: "look"}}
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: script, Tools: actortest.Tools(look),
			Validate: func(string, json.RawMessage) error { panic("in the schema checker") },
		})
		w.Say(alice, "alice", "hi")
		w.Wait()
		w.Say(alice, "alice", "again")
		w.Wait()
		got := w.Platform.Texts(alice)
		if len(got) != 2 || !strings.Contains(got[0], "went wrong") || got[1] != "fine" {
			t.Errorf("sent %q", got)
		}
	})
}

// The record of a receipt is on the disk although its write failed: whoever waits for the row gets an answer when the
// adapter reports it again, and the chat comes to rest.
func TestST8ReceiptWrittenByAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		store := storetest.NewFaulty(newStore(t), func(_ string, key messages.ChatKey, records []journal.Record, do func() error) error {
			err := do()
			if err == nil && !failed && slices.Contains(kinds(records), "settled") {
				failed, err = true, storetest.Broken(key, errBroken)
			}
			return err
		})
		p := byTool()
		p.Pace = func(string, string, string) { <-time.After(time.Second) }
		w := actortest.New(t, actortest.Options{
			Store: store, Platform: p, Tools: actortest.Tools(actortest.Send()), Idle: time.Minute,
			Model: modeltest.NewScript(modeltest.CallTools(send("c1", "hello")), modeltest.Say("Done."), modeltest.Say("Done.")),
		})
		w.Say(alice, "alice", "hi")
		<-time.After(10 * time.Minute)
		if n := w.Metric("sma_chats_active"); n != 0 || !failed {
			t.Errorf("%v chats are active; the write failed: %v", n, failed)
		}
		if diff := cmp.Diff([]string{"hello"}, p.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

// A full disk refuses the record of a row that the platform refused. The run in progress continues, and the row is
// tried and parked later.
func TestST9ParkingOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, gate, begun := newFaulty(newStore(t)), make(chan struct{}), 0
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Pace: func(string, string, string) { <-time.After(time.Second) }}
		p.Fail = func(_ string, n int) error {
			if n != 2 {
				return &platform.Error{Reason: platform.SendForbidden, Err: errors.New("blocked")}
			}
			return nil
		}
		look := actortest.Func{Says: tool.Spec{Name: "look"}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			begun++
			select {
			case <-gate:
			case <-ctx.Done():
				t.Error("the run in progress was ended")
			}
			return tool.Result{}, nil
		}}
		w := actortest.New(t, actortest.Options{
			Store: disk, Platform: p, Tools: actortest.Tools(look), Idle: time.Minute,
			Model: modeltest.NewScript(modeltest.Say("one"), modeltest.CallTools(modeltest.Call{ID: "c", Name: "look", Input: "{}"}), modeltest.Say("two")),
		})
		disk.set(func(f *faulty) { f.faults = []fault{{op: "settled", full: true, times: 1}} })
		w.Say(alice, "alice", "a")
		w.Say(alice, "alice", "b")
		<-time.After(2 * time.Second)
		close(gate)
		<-time.After(10 * time.Minute)
		if diff := cmp.Diff([]string{"two"}, p.Texts(alice)); diff != "" || begun != 1 {
			t.Errorf("the tool began %d times; sent (-want +got):\n%s", begun, diff)
		}
		if v := w.View(alice); v.Counts.Pending != 0 || v.Counts.Open != 0 {
			t.Errorf("at the end: %+v", v.Counts)
		}
	})
}
