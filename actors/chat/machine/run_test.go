package machine_test

import (
	"encoding/json"
	"fmt"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// fakeRun sends the messages of a run and chooses at random what the model does.
type fakeRun struct {
	name, id string
	step     int
	calls    []string // calls of the step without an outcome
	running  bool     // the calls may begin, or were decided or resumed before the step
	between  bool     // the calls do not belong to a step of this run
	hold     bool
	begun    bool // the step has already sent chunks
	asked    bool // it waits for a shorter history
	may      bool // it may ask for a shorter history
}

func newRun(name string, start messages.StartRun) *fakeRun {
	r := &fakeRun{name: name, id: start.RunID, step: start.Input.Step, hold: start.Hold, may: start.MayShorten}
	for _, c := range start.Approved {
		r.calls = append(r.calls, c.CallID)
	}
	r.calls = append(r.calls, start.Resume...)
	r.between = len(r.calls) > 0 || r.hold
	r.running = r.between
	return r
}

func (r *fakeRun) goOn(msg messages.ContinueRun) {
	r.step, r.begun, r.running, r.between = msg.Input.Step, false, false, false
	for _, c := range msg.Approved {
		r.calls = append(r.calls, c.CallID)
	}
	if len(r.calls) > 0 {
		r.running, r.between = true, true
	}
}

// act sends the next message of the run.
func (w *world) act() {
	r := w.run
	switch {
	case r.asked:
	case r.running && len(r.calls) > 0:
		id := r.calls[0]
		r.calls = r.calls[1:]
		chunks := []uistream.Chunk{uistream.ToolOutputAvailable{ToolCallID: id, Output: json.RawMessage(`{"ok":true}`)}}
		if w.rnd.IntN(4) == 0 {
			chunks = []uistream.Chunk{uistream.ToolOutputError{ToolCallID: id, ErrorText: "it broke"}}
		}
		done := messages.ToolDone{RunID: r.id, CallID: id, Chunks: chunks, Durable: w.rnd.IntN(2) == 0, Final: w.rnd.IntN(12) == 0}
		if w.rnd.IntN(15) == 0 {
			done.Switch = messages.ContextSwitch{Kind: messages.ContextNew, ID: fmt.Sprintf("c_20260101_%06d", w.ids), Title: "another"}
		}
		w.fromRun(done, done.Chunks)
	case r.running:
		r.running = false
		end := messages.StepEnded{RunID: r.id, Step: r.step}
		switch {
		case r.hold:
			end.Ends = "waiting"
		case !r.between:
			end.Chunks = []uistream.Chunk{uistream.FinishStep{}}
		}
		w.fromRun(end, end.Chunks)
	default:
		w.answer()
	}
}

// answer sends what the model says in a step.
func (w *world) answer() {
	r, n := w.run, w.ids
	text := func(words string) []uistream.Chunk {
		id := fmt.Sprintf("t%d", n)
		return []uistream.Chunk{uistream.TextStart{ID: id}, uistream.TextDelta{ID: id, Delta: words}, uistream.TextEnd{ID: id}}
	}
	done := messages.StepDone{RunID: r.id, Step: r.step, Usage: uimessage.Usage{TotalTokens: int64(w.rnd.IntN(400))}}
	if !r.begun {
		done.Chunks = []uistream.Chunk{uistream.StartStep{}}
	}
	call := func(name string) string {
		n++
		id := fmt.Sprintf("call%d", n)
		done.Chunks = append(done.Chunks, uistream.ToolInputAvailable{ToolCallID: id, ToolName: name, Input: json.RawMessage(`{"n":` + fmt.Sprint(w.rnd.IntN(3)) + `}`)})
		return id
	}
	asks := func() {
		id := call("ask")
		done.Chunks = append(done.Chunks, uistream.ToolApprovalRequest{ApprovalID: "ap-" + id, ToolCallID: id})
		done.Asked = append(done.Asked, messages.AskedCall{CallID: id, Words: messages.Words{What: "May I?"}})
	}
	what := w.rnd.IntN(14)
	if w.calm {
		what = 0
	}
	switch what {
	case 0, 1, 2, 3:
		done.Chunks = append(done.Chunks, text("An answer.")...)
		done.Ends = "done"
	case 4:
		done.Ends, done.Reason = "done", messages.ReasonEmpty
	case 5, 6, 7:
		for range 1 + w.rnd.IntN(2) {
			done.Calls = append(done.Calls, messages.CallIntent{CallID: call("look"), Name: "look", Repeatable: w.rnd.IntN(2) == 0})
		}
		r.calls = nil
		for _, c := range done.Calls {
			r.calls = append(r.calls, c.CallID)
		}
	case 8, 9:
		asks()
		if w.rnd.IntN(3) == 0 {
			asks()
		}
		done.Ends = "waiting"
	case 10:
		w.fromRun(messages.RunFailed{RunID: r.id, Reason: "unavailable"}, nil)
		return
	case 11:
		if !r.begun {
			r.begun = true
			chunks := []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: "part"}, uistream.TextDelta{ID: "part", Delta: "Half an"}}
			w.fromRun(messages.RunProgressed{RunID: r.id, Chunks: chunks}, chunks)
			return
		}
		r.begun = false
		w.fromRun(messages.StepRestarted{RunID: r.id, Reason: "cut"}, nil)
		return
	case 12:
		if r.may && !r.begun {
			r.may, r.asked = false, true
			w.fromRun(messages.ShortenInput{RunID: r.id, Step: r.step}, nil)
			return
		}
		done.Ends = "done"
	default:
		name := r.name
		w.run = nil
		delete(w.child, name)
		w.decide(decision.ChildGone{Name: name}, nil, "")
		return
	}
	if r.begun {
		done.Chunks = append([]uistream.Chunk{uistream.TextEnd{ID: "part"}}, done.Chunks...)
	}
	if done.Ends != "" {
		done.Chunks = append(done.Chunks, uistream.FinishStep{})
	}
	r.begun = false
	w.fromRun(done, done.Chunks)
}

// fromRun passes a message of the run to the chat, after the chunks of the answer, as the shell does.
func (w *world) fromRun(msg messages.ToChat, chunks []uistream.Chunk) {
	name := w.run.name
	if len(chunks) > 0 {
		w.m.Progress(decision.Input{Now: w.now}, chunks)
	}
	if _, only := msg.(messages.RunProgressed); !only {
		w.decide(msg, "run", name)
	}
}
