package actortest

import (
	"context"
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Func is a tool made of a function.
type Func struct {
	Says tool.Spec
	Do   func(ctx context.Context, call tool.Call) (tool.Result, error)
}

// Spec implements tool.Tool.
func (f Func) Spec() tool.Spec {
	if f.Says.InputSchema == nil {
		f.Says.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	return f.Says
}

// Invoke implements tool.Tool.
func (f Func) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	return f.Do(ctx, call)
}

// Tools is a list of tools.
func Tools(tools ...tool.Tool) []tool.Tool { return tools }

// Slow is a tool that answers when release is closed.
func Slow(name string, release <-chan struct{}) tool.Tool {
	return Func{Says: tool.Spec{Name: name}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select {
		case <-release:
			return tool.Result{Output: json.RawMessage(`"done"`), Summary: name}, nil
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}}
}

// Send is a chat_send tool without a schema.
func Send() tool.Tool {
	return Func{
		Says: tool.Spec{Name: "chat_send", Repeatable: true, Ordered: true},
		Do: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			var in struct {
				Text  string `json:"text"`
				Final bool   `json:"final"`
			}
			if err := json.Unmarshal(call.Input, &in); err != nil {
				return tool.Result{}, err
			}
			d, err := call.Egress.Send(ctx, call.ID, tool.Outgoing{Text: in.Text})
			if err != nil {
				return tool.Result{}, err
			}
			out, err := json.Marshal(d)
			return tool.Result{Output: out, Final: in.Final && call.Run.Sole && call.Run.LaneEmpty}, err
		},
	}
}
