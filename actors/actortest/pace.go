package actortest

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"iter"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Pace makes each call of a model, a tool and a platform take a different number of microseconds in
// a bubble. Without it, everything that starts at once ends at the same moment, and the order in
// which chats are informed depends on the Go scheduler. With it the same conversation always has
// the same order.
func (o *Options) Pace() {
	o.Model = paced{o.Model}
	for i, t := range o.Tools {
		if f, ok := t.(Func); ok {
			o.Tools[i] = f.paced()
		}
	}
	o.Platform.Pace = func(op, chat, text string) { <-time.After(pace(op, chat, text)) }
}

// pace is how long something takes: 10 to 60 µs, always the same for the same words.
func pace(words ...string) time.Duration {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w + "\x00"))
	}
	return 10*time.Microsecond + time.Duration(h.Sum64()%50_000)
}

type paced struct{ model.Model }

// Stream implements [model.Model]: time passes before each event.
func (p paced) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		last, err := json.Marshal(req.Messages)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		wait := pace(req.System, string(last))
		<-time.After(wait)
		for e, err := range p.Model.Stream(ctx, req) {
			if !yield(e, err) {
				return
			}
			<-time.After(wait)
		}
	}
}

// paced returns a tool that takes time before it starts.
func (f Func) paced() Func {
	do := f.Do
	f.Do = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		<-time.After(pace(call.Name, call.ID, string(call.Run.ChatKey)))
		return do(ctx, call)
	}
	return f
}
