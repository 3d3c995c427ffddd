package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

//go:embed write.md
var writeText string

//go:embed write.schema.json
var writeSchema []byte

// Write is the tool write_file.
type Write struct{ w *Workspace }

// Spec implements [tool.Tool].
func (w *Write) Spec() tool.Spec {
	return tool.Spec{
		Name: WriteName, Title: "Write a file", Description: strings.TrimSpace(writeText), InputSchema: json.RawMessage(writeSchema),
		Ordered: true, Deadline: 30 * time.Second,
	}
}

type writeInput struct{ Path, Content string }

func (w *Write) input(call tool.Call) (in writeInput, how rewrite, err error) {
	err = call.Read(&in)
	return in, func([]byte, bool, bool) ([]byte, error) { return []byte(in.Content), nil }, err
}

// Judge implements [tool.Judge]. Every change needs approval or is refused.
func (w *Write) Judge(call tool.Call) tool.Verdict {
	in, _, err := w.input(call)
	if err != nil {
		return tool.Verdict{Decision: tool.Deny, Reason: err.Error()}
	}
	return w.w.judge(in.Path)
}

// Explain implements [tool.Explainer].
func (w *Write) Explain(call tool.Call) (tool.Explanation, error) {
	in, how, err := w.input(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	c, err := w.w.plan(in.Path, how)
	if err != nil {
		return tool.Explanation{}, err
	}
	defer c.close()
	return c.explain()
}

// Invoke implements [tool.Tool].
func (w *Write) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, how, err := w.input(call)
	if err != nil {
		return tool.Result{}, err
	}
	c, err := w.w.apply(ctx, call, in.Path, how)
	if err != nil {
		return tool.Result{}, err
	}
	return c.result()
}
