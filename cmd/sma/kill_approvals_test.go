package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestAP12KillsAroundTheAnswer kills the process while a request is open, while its answer arrives, and while the
// approved command runs. The request survives unchanged, is decided once, and the run continues. The command runs at
// most once, and exactly once unless it was interrupted, which people and model are told.
func TestAP12KillsAroundTheAnswer(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(1, 3), few(5, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newAskWorld(t, path, random)
		w.start(t)
		for n := range kills {
			w.round(t, n, &sum)
		}
		w.stop(t)
		b := w.book(t, "telegram-chat-1")
		b.balanced(t, "the chat", len(w.said[1]))
		if faults := w.model.Faults(); len(faults) > 0 {
			t.Errorf("the model was asked wrongly: %v", faults)
		}
		sum.add("kills", w.kills)
	})
	sum.report(t, "AP12")
	if sum.counts["lost"]+sum.counts["doubled"] > 0 {
		t.Errorf("%d requests lost, %d decided or executed twice", sum.counts["lost"], sum.counts["doubled"])
	}
}

// askWorld is a project whose model runs a command for each message that says so.
type askWorld struct{ *killWorld }

func newAskWorld(t *testing.T, path string, random *rand.Rand) *askWorld {
	t.Helper()
	w := &askWorld{newKillWorld(t, path, 1, "direct", modeltest.NewFunc(runOnce), random)}
	w.configure(t, "permissions", map[string]any{"exec": map[string]any{"sandbox": "off", "approvers": []string{"initiator"}}})
	return w
}

// runOnce plays a model that runs the command of the newest message, once, and then
// says that it is done with it.
func runOnce(req model.Request) []model.Event {
	want, answers := wanted(req)
	if want == "" || answers != "" {
		return append(modeltest.TextEvents("got ", want, "."), modeltest.Finish("stop"))
	}
	input := fmt.Sprintf(`{"command":"printf x >> ran-%s; sleep 0.1","why":"it was asked for"}`, want)
	return append(modeltest.CallEvents(modeltest.Call{ID: "call-" + want, Name: "exec_shell", Input: input}), modeltest.Finish("tool-calls"))
}

// round plays one command from its request to its end, with one kill.
func (w *askWorld) round(t *testing.T, n int, sum *tally) {
	t.Helper()
	want := w.next(1)
	w.say(1, "run "+want)
	var asked question
	w.api.Await(t, "the request", func() (ok bool) { asked, ok = w.question(want); return ok })
	before := w.open(t)
	if len(before) != 1 {
		t.Fatalf("%s: %d requests are open, want one", want, len(before))
	}
	switch n % 3 {
	case 0:
		w.die(t, w.upTo(30*time.Millisecond), "open", sum)
		arrives := cmpopts.IgnoreFields(query.ApprovalLine{}, "Unseen") // the message that shows it may come meanwhile
		if diff := cmp.Diff(before, w.open(t), arrives); diff != "" {
			sum.add("lost", 1)
			t.Errorf("%s: the request changed (-before +after):\n%s", want, diff)
		}
		w.agree(asked)
	case 1:
		w.dieOfAnswer(t, asked, sum)
	default:
		w.agree(asked)
		faketest.Poll(t, "the command to begin", func() bool { return w.ran(want) > 0 })
		w.die(t, w.upTo(90*time.Millisecond), "executing", sum)
	}
	again := time.Now()
	faketest.Poll(t, "the end of the run", func() bool {
		if time.Since(again) > time.Second { // a button that a kill made mute is pressed again
			again = time.Now()
			w.press(asked)
		}
		return w.says("got " + want)
	})
	sum.add("acknowledged", 1)
	w.judge(t, want, asked, before[0], n%3 == 0, sum)
}

// question is a request as people see it: the message, and the data of its yes.
type question struct {
	message int64
	yes     string
}

func (w *askWorld) question(want string) (question, bool) {
	for _, s := range slices.Backward(w.api.Sent(1)) {
		if strings.Contains(s.Text, "ran-"+want+";") && len(s.Buttons) > 0 {
			return question{s.ID, s.Buttons[0][1]}, true
		}
	}
	return question{}, false
}

// upTo is a moment that chance chooses.
func (w *askWorld) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d)))
}

// dieOfAnswer kills the host around the poll that delivers the answer.
func (w *askWorld) dieOfAnswer(t *testing.T, q question, sum *tally) {
	t.Helper()
	c := w.fetchTrap()
	c.fire = w.kill
	set := w.tap.set(&c)
	w.agree(q)
	select {
	case <-set.fired:
	case <-time.After(30 * time.Second):
		t.Fatalf("kill %d: the host did not come to %v", w.kills, c.at)
	}
	w.bury(t)
	sum.add("at_answer", 1)
	w.start(t)
}

// agree answers a request, in words or by its button.
func (w *askWorld) agree(q question) {
	if w.random.IntN(2) == 0 {
		w.say(1, "yes")
		return
	}
	w.press(q)
}

func (w *askWorld) press(q question) { w.api.Press(1, 1, q.message, q.yes, nil) }

func (w *askWorld) says(text string) bool {
	for _, s := range w.api.Sent(1) {
		if strings.Contains(s.Text, text) {
			return true
		}
	}
	return false
}

// ran is how often a command has begun.
func (w *askWorld) ran(want string) int {
	raw, _ := os.ReadFile(filepath.Join(w.victim.dir, "ran-"+want)) // not there: never
	return len(raw)
}

func (w *askWorld) open(t *testing.T) []query.ApprovalLine {
	t.Helper()
	var lines []query.ApprovalLine
	faketest.Poll(t, "the host to say what waits", func() bool {
		lines = nil
		return w.control.Get(t.Context(), "/control/approvals", &lines) == nil
	})
	return lines
}

// judge compares the end of a command with the outcome of its request.
func (w *askWorld) judge(t *testing.T, want string, q question, asked query.ApprovalLine, sure bool, sum *tally) {
	t.Helper()
	if slices.ContainsFunc(w.open(t), func(l query.ApprovalLine) bool { return l.ID == asked.ID }) {
		sum.add("lost", 1)
		t.Errorf("%s: the request is still open", want)
	}
	answers := len(w.api.Calls("answerCallbackQuery"))
	w.press(q) // once more: it changes nothing
	w.api.Await(t, "the answer to a button", func() bool { return len(w.api.Calls("answerCallbackQuery")) > answers })
	times := w.ran(want)
	sum.add("doubled", max(0, times-1))
	decided := w.decisions(t, asked.Digest)
	sum.add("doubled", max(0, decided-1))
	view := w.await(t, "telegram-chat-1", func(chatView) bool { return true })
	states := view.calls(func(p callPart) bool { return p.ToolCallID == "call-"+want })
	switch {
	case len(states) == 1 && states[0] == "output-available" && times == 1:
		sum.add("done", 1)
	case len(states) == 1 && states[0] == "output-error: interrupted, outcome unknown" && !sure:
		sum.add("excused", 1)
	default:
		sum.add("lost", 1)
		t.Errorf("%s: the calls ended as %q, and the command ran %d times", want, states, times)
	}
}

// decisions counts what the audit log has of decisions about a request.
func (w *askWorld) decisions(t *testing.T, digest string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(w.victim.dir, ".ship", "approvals", "audit-*.jsonl"))
	stdtest.Must(t, err)
	for _, name := range names {
		raw := stdtest.Read(t, name)
		for line := range bytes.Lines(raw) {
			var e struct{ Event, Result, Digest string }
			if json.Unmarshal(line, &e) == nil && e.Event == "approval" && e.Digest == digest && e.Result != "asked" {
				n++
			}
		}
	}
	return n
}
