package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// toolDeadline bounds a call whose tool does not say.
const toolDeadline = 2 * time.Minute

// toolPreliminary: a tool shows how far it is.
type toolPreliminary struct {
	callID string
	output json.RawMessage
}

// toolReturned: a call has ended.
type toolReturned struct {
	call   loop.Call
	result tool.Result
	err    error
	took   time.Duration
}

// repeatable says that a call may begin again after a crash.
func (r *run) repeatable(name string) bool {
	t, ok := r.Tools.Find(name)
	return ok && (t.Spec().Repeatable || t.Spec().ReadOnly)
}

// refused says that a call will not be executed, now or after a crash.
func (r *run) refused(c loop.Call) bool {
	t, ok := r.Tools.Find(c.Name)
	return ok && r.gate.refuse(r.judge(t, c), c) != nil
}

// execute begins the step's calls; ordered ones wait for each other.
func (r *run) execute(ac actor.Context, msg messages.ExecuteCalls) {
	r.open, r.final, r.waiting = len(r.calls), false, nil
	r.input.LaneEmpty = msg.LaneEmpty
	for _, c := range r.calls {
		if t, ok := r.Tools.Find(c.Name); ok && t.Spec().Ordered {
			r.waiting = append(r.waiting, c)
			continue
		}
		r.invoke(c)
	}
	r.nextOrdered()
	if r.open == 0 {
		r.endStep(ac)
	}
}

func (r *run) nextOrdered() {
	if len(r.waiting) > 0 {
		c := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.invoke(c)
	}
}

// call is a call as its tool sees it.
func (r *run) call(c loop.Call) tool.Call {
	return tool.Call{ID: c.ID, Name: c.Name, Input: c.Input, Run: tool.Run{
		ChatKey: r.start.ChatKey, RunID: r.start.RunID, MessageID: r.messageID, RequestID: r.start.RequestID,
		Step: r.input.Step, Sole: len(r.calls) == 1, LaneEmpty: r.input.LaneEmpty, Asker: tool.Person(r.asker),
	}, Egress: r.egress()}
}

func (r *run) invoke(c loop.Call) {
	t, ok := r.Tools.Find(c.Name)
	if !ok {
		r.home.Send(toolReturned{call: c, err: fmt.Errorf("%w: %s is not offered any more", tool.ErrUnknown, c.Name)})
		return
	}
	err := c.Err
	if err == nil {
		err = r.gate.refuse(r.judge(t, c), c)
	}
	if err != nil {
		r.home.Send(toolReturned{call: c, err: err})
		return
	}
	call := r.call(c)
	deadline := t.Spec().Deadline
	if deadline <= 0 {
		deadline = toolDeadline
	}
	began, ctx, home, tools := time.Now(), r.ctx, r.home, r.Tools
	home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		res, err := perform(ctx, t, call, func(out json.RawMessage) { home.Send(toolPreliminary{c.ID, out}) })
		if err == nil {
			res.Output = tools.Cap(ctx, call, res.Output)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the tool took longer than %s and was stopped", deadline)
		}
		return toolReturned{call: c, result: res, err: err, took: time.Since(began)}
	}, func(p pipe.Panicked) any { return toolReturned{call: c, err: p, took: time.Since(began)} })
}

func perform(ctx context.Context, t tool.Tool, call tool.Call, show func(json.RawMessage)) (tool.Result, error) {
	if s, ok := t.(tool.Streamer); ok {
		return s.InvokeStream(ctx, call, show)
	}
	return t.Invoke(ctx, call)
}

func (r *run) onPreliminary(ac actor.Context, msg toolPreliminary) {
	if r.ctx.Err() == nil {
		ac.Request(r.chat, messages.ToolDone{
			RunID: r.start.RunID, CallID: msg.callID, Chunks: r.loop.ToolOutput(msg.callID, msg.output, true), Preliminary: true,
		})
	}
}

func (r *run) onToolReturned(ac actor.Context, msg toolReturned) {
	if r.ctx.Err() != nil {
		return
	}
	done := messages.ToolDone{
		RunID: r.start.RunID, CallID: msg.call.ID, Final: msg.result.Final,
		Summary: msg.result.Summary, Forced: !r.repeatable(msg.call.Name), Failed: msg.err != nil,
	}
	if p, ok := errors.AsType[pipe.Panicked](msg.err); ok {
		r.Logger.Error("a tool panicked", "component", "run", "run_id", r.start.RunID, "tool", msg.call.Name, "error", p.Error(), "stack", p.Stack)
		msg.err = errors.New("the tool failed inside")
	}
	done.Chunks = r.outcome(msg)
	r.Metrics.toolCalled(msg.call.Name, msg.took, msg.err != nil)
	r.final = r.final || msg.result.Final
	ac.Request(r.chat, done)
	r.open--
	if t, ok := r.Tools.Find(msg.call.Name); ok && t.Spec().Ordered {
		r.nextOrdered()
	}
	if r.open == 0 {
		r.endStep(ac)
	}
}

// outcome is what a call came to, as chunks. The step engine does not know all
// calls that come between its steps: they were another run's.
func (r *run) outcome(msg toolReturned) []uistream.Chunk {
	output := msg.result.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	var chunks []uistream.Chunk
	if msg.err != nil {
		chunks = r.loop.ToolError(msg.call.ID, msg.err)
	} else {
		chunks = r.loop.ToolOutput(msg.call.ID, output, false)
	}
	switch {
	case len(chunks) > 0:
		return chunks
	case msg.err != nil:
		return []uistream.Chunk{uistream.ToolOutputError{ToolCallID: msg.call.ID, ErrorText: msg.err.Error()}}
	}
	return []uistream.Chunk{uistream.ToolOutputAvailable{ToolCallID: msg.call.ID, Output: output}}
}

// endStep tells the chat that every call has its outcome.
func (r *run) endStep(ac actor.Context) {
	end := messages.StepEnded{RunID: r.start.RunID, Step: r.input.Step}
	var chunks []uistream.Chunk
	switch {
	case r.between && r.start.Hold:
		end.Ends = "waiting"
	case r.between:
		r.between = false
	default:
		var decision loop.Decision
		chunks, decision = r.loop.EndStep()
		end.Ends, end.Reason = ends(decision)
	}
	if r.final && end.Ends != "waiting" {
		end.Ends = "done"
	}
	if end.Ends != "" {
		chunks = append(chunks, r.loop.Finish()...)
	}
	end.Chunks = chunks
	ac.Request(r.chat, end)
}
