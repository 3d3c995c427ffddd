package run

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

const (
	// maxTries is how often a step is requested if its stream is cut. The model client retries
	// failures before the first event.
	maxTries     = 4
	firstRetry   = 500 * time.Millisecond
	longestRetry = 10 * time.Second
	// maxRetryAfter is the longest wait accepted from a provider, and retryFor is how long after its
	// first request a step may be retried.
	maxRetryAfter = 30 * time.Second
	retryFor      = 10 * time.Minute
	// flushEvery coalesces chunks: those that arrive within it are sent to the chat together, and
	// none waits longer.
	flushEvery = 50 * time.Millisecond
)

// flushDue reports that chunks have waited long enough.
type flushDue struct{}

// streamed carries more events of the model call.
type streamed struct {
	gen    int
	events []model.Event
}

// streamEnded reports that the model call has ended.
type streamEnded struct {
	gen    int
	events []model.Event
	err    error
}

// retry reports that the wait before a retry is over.
type retry struct{ gen int }

func (r *run) request() model.Request {
	return model.Request{
		ID: r.start.RequestID, Model: r.start.Model, Effort: r.start.Effort, System: r.start.System, Messages: r.trim.Apply(r.input.Messages), Tools: r.offer, MaxOutputTokens: r.MaxOutputTokens, Memo: r.memo,
		Payer: model.Payer{Chat: r.start.ChatKey, Person: r.start.Payer, Run: r.start.RunID, Work: model.WorkRun},
	}
}

// ask makes the model call.
func (r *run) ask() {
	if r.ctx.Err() != nil {
		return
	}
	if r.tries == 0 && r.shares == 0 {
		r.asked = time.Now()
	}
	r.gen++
	r.heard, r.called, r.answers = false, time.Now(), nil
	gen, ctx, home, m, req := r.gen, r.ctx, r.home, r.Model, r.request()
	home.Go(func() any {
		rest, err := stream(ctx, m, req, func(events []model.Event) { home.Send(streamed{gen, events}) })
		return streamEnded{gen, rest, err}
	}, func(p pipe.Panicked) any { return streamEnded{gen: gen, err: p} })
}

// stream reads a model call to its end and passes its events on as they arrive. Invisible events
// are passed together with the next visible one; the last ones are returned.
func stream(ctx context.Context, m model.Model, req model.Request, hand func([]model.Event)) ([]model.Event, error) {
	var events []model.Event
	for ev, err := range m.Stream(ctx, req) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
		if visible(ev.Kind) {
			hand(events)
			events = nil
		}
	}
	return events, nil
}

// visible reports whether an event changes what people see.
func visible(k model.EventKind) bool {
	return k == model.EventTextDelta || k == model.EventReasoningDelta || k == model.EventToolInputDelta
}

// feed appends the chunks that events produce.
func (r *run) feed(chunks []uistream.Chunk, events []model.Event) []uistream.Chunk {
	r.heard = r.heard || len(events) > 0
	for i := range events {
		if events[i].Kind == model.EventResponseMetadata {
			r.answers = events[i].Raw
		}
		if events[i].Kind == model.EventCheaper {
			r.limit, r.cheaper = events[i].Delta, events[i].ID
		}
		if events[i].ToolName != "" {
			events[i].ToolName = r.Tools.Name(events[i].ToolName)
		}
		chunks = r.loop.AppendEvent(chunks, events[i])
	}
	return chunks
}

func (r *run) onStreamed(ac actor.Context, msg streamed) {
	if msg.gen != r.gen {
		return
	}
	r.unsaid = r.feed(r.unsaid, msg.events)
	switch wait := flushEvery - time.Since(r.said); {
	case wait <= 0:
		r.flush(ac)
	case r.flushing == nil:
		r.flushing = r.home.After(wait, flushDue{})
	}
}

// unflush stops the timer of the next flush, if one is set.
func (r *run) unflush() {
	if r.flushing != nil {
		r.flushing.Stop()
		r.flushing = nil
	}
}

// flush sends the chat the chunks of the stream so far.
func (r *run) flush(ac actor.Context) {
	r.unflush()
	chunks := r.unsaid
	r.unsaid, r.said = nil, time.Now()
	r.tell(ac, chunks)
}

func (r *run) onStreamEnded(ac actor.Context, msg streamEnded) {
	if msg.gen != r.gen || r.ctx.Err() != nil {
		return
	}
	ac.Request(r.Gate, messages.ReleaseSlot{})
	r.took = time.Since(r.called)
	r.unflush()
	chunks := r.feed(r.unsaid, msg.events)
	r.unsaid = nil
	out := r.loop.EndStream(msg.err)
	if out.Err != nil || out.Cut {
		r.stepFailed(ac, out)
		return
	}
	why := notWhole(out)
	if r.asksAgain(why, out) {
		r.repeated = true
		r.again(ac, model.Reason(why), errNotWhole, 0)
		return
	}
	r.tries, r.shares, r.repeated = 0, 0, false
	chunks = append(chunks, out.Chunks...)
	done := messages.StepDone{RunID: r.start.RunID, Step: r.input.Step, Usage: usage(out.Usage), Trim: messages.Trim(r.trim), Model: gjson.GetBytes(r.answers, "modelId").String(), Finish: out.Finish.Unified, Took: r.takeTook(), Limit: r.limit, Cheaper: r.cheaper}
	r.limit, r.cheaper = "", ""
	r.calls = out.Calls
	if len(out.Calls) == 0 {
		chunks = append(chunks, r.leave(out.Left)...)
		more, decision := r.loop.EndStep()
		chunks = append(chunks, more...)
		done.Ends, done.Reason = r.endsWith(decision, why, out)
		if done.Ends != "" {
			chunks = append(chunks, r.loop.Finish()...)
		}
	}
	for i, c := range out.Calls {
		intent, refused := r.intent(c)
		done.Calls = append(done.Calls, intent)
		if c.Err == nil {
			r.calls[i].Err = refused
		}
	}
	done.Chunks, done.Asked = chunks, r.approvals.takeAsked()
	ac.Request(r.chat, done)
}

func (r *run) onRetry(ac actor.Context, msg retry) {
	if msg.gen == r.gen && r.ctx.Err() == nil {
		r.acquire(ac)
	}
}

func usage(u model.Usage) uimessage.Usage {
	var out uimessage.Usage
	for _, c := range []struct {
		to   *int64
		from *int64
	}{
		{&out.InputTokens, u.InputTokens},
		{&out.CachedInputTokens, u.CachedInputTokens},
		{&out.OutputTokens, u.OutputTokens},
		{&out.ReasoningTokens, u.ReasoningTokens},
	} {
		if c.from != nil {
			*c.to = *c.from
		}
	}
	out.TotalTokens = out.InputTokens + out.OutputTokens
	return out
}
