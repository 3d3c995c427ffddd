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

// Set is the tools of a host, without schemas.
type Set struct {
	// Check checks inputs; nil accepts all.
	Check func(name string, input json.RawMessage) error
	// Names are those of the tools, in order.
	Names  []string
	byName map[string]tool.Tool
}

// Add adds tools.
func (s *Set) Add(tools ...tool.Tool) {
	if s.byName == nil {
		s.byName = map[string]tool.Tool{}
	}
	for _, t := range tools {
		s.byName[t.Spec().Name] = t
		s.Names = append(s.Names, t.Spec().Name)
	}
}

// Find implements [run.Tools].
func (s *Set) Find(name string) (tool.Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Validate implements [run.Tools].
func (s *Set) Validate(name string, input json.RawMessage) error {
	if s.Check == nil {
		return nil
	}
	return s.Check(name, input)
}

// Cap implements [run.Tools].
func (*Set) Cap(_ context.Context, _ tool.Call, output json.RawMessage) json.RawMessage {
	return output
}

// Wire implements [run.Tools].
func (*Set) Wire(spec tool.Spec) (string, json.RawMessage) { return spec.Name, spec.InputSchema }

// Name implements [run.Tools].
func (*Set) Name(wire string) string { return wire }

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
