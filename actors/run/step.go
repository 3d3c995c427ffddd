package run

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

const (
	// maxTries is how often a step is asked for when its stream is cut. What fails
	// before its first event is the model's own to repeat.
	maxTries     = 4
	firstRetry   = 500 * time.Millisecond
	longestRetry = 10 * time.Second
	// maxRetryAfter is the longest wait that a provider may ask for, and retryFor how
	// long after its first request a step may be asked for again.
	maxRetryAfter = 30 * time.Second
	retryFor      = 10 * time.Minute
	// flushEvery coalesces chunks: what comes faster travels to the chat together,
	// and nothing that has come waits longer.
	flushEvery = 50 * time.Millisecond
)

// flushDue: chunks have waited long enough.
type flushDue struct{}

// streamed: more events of the model call.
type streamed struct {
	gen    int
	events []model.Event
}

// streamEnded: the model call is over.
type streamEnded struct {
	gen    int
	events []model.Event
	err    error
}

// retry: time to ask again.
type retry struct{ gen int }

func (r *run) request() model.Request {
	return model.Request{
		ID: r.start.RequestID, System: r.start.System, Messages: r.trim.Apply(r.input.Messages), Tools: r.offer, MaxOutputTokens: r.MaxOutputTokens, Memo: r.memo,
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
	r.heard = false
	gen, ctx, home, m, req := r.gen, r.ctx, r.home, r.Model, r.request()
	home.Go(func() any {
		rest, err := stream(ctx, m, req, func(events []model.Event) { home.Send(streamed{gen, events}) })
		return streamEnded{gen, rest, err}
	}, func(p pipe.Panicked) any { return streamEnded{gen: gen, err: p} })
}

// stream reads a model call to its end and hands its events over as they come,
// those that show nothing together with the next that does; the last are returned.
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

// visible events are worth showing.
func visible(k model.EventKind) bool {
	return k == model.EventTextDelta || k == model.EventReasoningDelta || k == model.EventToolInputDelta
}

// feed adds the chunks that events make.
func (r *run) feed(chunks []uistream.Chunk, events []model.Event) []uistream.Chunk {
	r.heard = r.heard || len(events) > 0
	for i := range events {
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
	case !r.flushing:
		r.flushing = true
		r.home.After(wait, flushDue{})
	}
}

// flush tells the chat what has come of the stream.
func (r *run) flush(ac actor.Context) {
	chunks := r.unsaid
	r.unsaid, r.said = nil, time.Now()
	r.tell(ac, chunks)
}

func (r *run) onStreamEnded(ac actor.Context, msg streamEnded) {
	if msg.gen != r.gen || r.ctx.Err() != nil {
		return
	}
	ac.Request(r.Gate, messages.ReleaseSlot{RunID: r.start.RunID})
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
	done := messages.StepDone{RunID: r.start.RunID, Step: r.input.Step, Usage: usage(out.Usage), Trim: messages.Trim(r.trim)}
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
	for _, c := range out.Calls {
		done.Calls = append(done.Calls, r.intent(c))
	}
	done.Chunks, done.Asked = chunks, r.gate.takeAsked()
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
