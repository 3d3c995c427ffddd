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

const (
	// toolDeadline bounds a call whose tool sets no deadline.
	toolDeadline = 2 * time.Minute
	// toolGrace is how long a tool may run past its deadline. Then the run continues without it, and
	// a later result is dropped.
	toolGrace = 10 * time.Second
	// maxErrorText bounds the text of a failure that a model reads, and maxSummary the summary of a
	// result that people read, in bytes.
	maxErrorText = 4 << 10
	maxSummary   = 500
)

// toolPreliminary is a progress report of a tool.
type toolPreliminary struct {
	callID string
	output json.RawMessage
}

// toolReturned reports that a call has ended.
type toolReturned struct {
	n      int // which of the run's calls
	call   loop.Call
	result tool.Result
	err    error
	took   time.Duration
}

// toolOverdue reports that a call should have ended by now.
type toolOverdue struct {
	n    int
	call loop.Call
	took time.Duration
}

// errorText is the text of a failure for the model.
func errorText(err error) string { return tool.Shorten(err.Error(), maxErrorText) }

// execute starts the step's calls; ordered ones run one after the other.
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

func (r *run) invoke(c loop.Call) {
	r.begun++
	n := r.begun
	t, ok := r.Tools.Find(c.Name)
	call, err := r.call(c), c.Err
	switch {
	case !ok:
		err = fmt.Errorf("%w: %s is not offered any more", tool.ErrUnknown, c.Name)
	case err == nil:
		call.Bind, err = r.admit(t, c)
	}
	r.approvals.spend(c)
	if err != nil {
		r.pending(n, nil)
		r.home.Send(toolReturned{n: n, call: c, err: err})
		return
	}
	deadline := t.Spec().Deadline
	if deadline <= 0 {
		deadline = toolDeadline
	}
	began, ctx, home, tools, mask := time.Now(), r.ctx, r.home, r.Tools, masker{r.Mask}
	overdue := toolOverdue{n: n, call: c, took: deadline + toolGrace}
	r.pending(n, home.After(overdue.took, overdue))
	home.Go(func() any {
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		res, err := perform(ctx, t, call, func(out json.RawMessage) { home.Send(toolPreliminary{c.ID, preview(ctx, mask.output(out))}) })
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
			err = fmt.Errorf("the tool took longer than %s and was stopped", deadline)
		}
		if res, err = mask.result(res, err); err == nil {
			res.Output = tools.Cap(ctx, call, res.Output)
		}
		return toolReturned{n: n, call: c, result: res, err: err, took: time.Since(began)}
	}, func(p pipe.Panicked) any { return toolReturned{n: n, call: c, err: p, took: time.Since(began)} })
}

// pending notes a call in progress; the timer abandons it.
func (r *run) pending(n int, timer *time.Timer) {
	if r.under == nil {
		r.under = map[int]*time.Timer{}
	}
	r.under[n] = timer
}

// settle removes a call from those in progress; it returns false if the call was abandoned already.
func (r *run) settle(n int) bool {
	timer, ok := r.under[n]
	if timer != nil {
		timer.Stop()
	}
	delete(r.under, n)
	return ok
}

// preview shortens a preliminary result. It stores nothing, because another result follows.
func preview(ctx context.Context, out json.RawMessage) json.RawMessage {
	short, _ := tool.Cap{}.Apply(ctx, "", out) // fails only if something is stored
	return short
}

func perform(ctx context.Context, t tool.Tool, call tool.Call, show func(json.RawMessage)) (tool.Result, error) {
	if err := unchanged(t, call); err != nil {
		return tool.Result{}, err
	}
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

// onToolOverdue continues without a tool that does not end.
func (r *run) onToolOverdue(ac actor.Context, msg toolOverdue) {
	r.Logger.Error("a tool did not end at its deadline and is abandoned", "chat_key", string(r.start.ChatKey), "run_id", r.start.RunID, "request_id", r.start.RequestID, "tool", msg.call.Name)
	err := fmt.Errorf("the tool took longer than %s and could not be stopped; it may still be at work", msg.took)
	r.onToolReturned(ac, toolReturned{n: msg.n, call: msg.call, err: err, took: msg.took})
}

func (r *run) onToolReturned(ac actor.Context, msg toolReturned) {
	if r.ctx.Err() != nil || !r.settle(msg.n) {
		return
	}
	done := messages.ToolDone{
		RunID: r.start.RunID, CallID: msg.call.ID, Final: msg.result.Final, Switch: msg.result.Switch, Skill: msg.result.Skill,
		Summary: tool.Shorten(msg.result.Summary, maxSummary), Durable: !r.repeatable(msg.call.Name), Failed: msg.err != nil || msg.result.Failed, Took: msg.took,
	}
	if p, ok := errors.AsType[pipe.Panicked](msg.err); ok {
		r.Logger.Error("a tool panicked", "chat_key", string(r.start.ChatKey), "run_id", r.start.RunID, "request_id", r.start.RequestID, "tool", msg.call.Name, "error", p.Error(), "stack", p.Stack)
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

// outcome is the result of a call, as chunks. The step engine does not know calls between its
// steps, because they belong to another run.
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
		return pictured(chunks, msg.result.Pictures)
	case msg.err != nil:
		return []uistream.Chunk{uistream.ToolOutputError{ToolCallID: msg.call.ID, ErrorText: errorText(msg.err)}}
	}
	return pictured([]uistream.Chunk{uistream.ToolOutputAvailable{ToolCallID: msg.call.ID, Output: output}}, msg.result.Pictures)
}

// pictured records in a result the pictures that the model receives with it.
func pictured(chunks []uistream.Chunk, list []messages.Picture) []uistream.Chunk {
	if len(list) == 0 {
		return chunks
	}
	for i, c := range chunks {
		if out, ok := c.(uistream.ToolOutputAvailable); ok {
			out.ProviderMetadata = messages.WithPictures(out.ProviderMetadata, list)
			chunks[i] = out
		}
	}
	return chunks
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

// executeApproved runs calls that a person approved during this run. They are checked once more,
// like those of a run's own message.
func (r *run) executeApproved(ac actor.Context, msg messages.ContinueRun) {
	r.calls, r.between = nil, true
	for _, a := range msg.Approved {
		c := loop.Call{ID: a.CallID, Name: a.Name, Input: a.Input}
		if err := r.Tools.Validate(c.Name, c.Input); err != nil {
			c.Err = &loop.InvalidInputError{Tool: c.Name, Err: err}
		}
		r.approvals.approve(c)
		r.approvals.given[c.ID] = a
		r.calls = append(r.calls, c)
	}
	r.execute(ac, messages.ExecuteCalls{RunID: msg.RunID, LaneEmpty: msg.Input.LaneEmpty})
}
