package files

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

//go:embed edit.md
var editText string

//go:embed edit.schema.json
var editSchema []byte

// Edit is the tool edit_file.
type Edit struct{ w *Workspace }

// Spec implements [tool.Tool].
func (e *Edit) Spec() tool.Spec {
	return tool.Spec{
		Name: EditName, Title: "Edit a file", Description: strings.TrimSpace(editText), InputSchema: json.RawMessage(editSchema),
		Ordered: true, Deadline: 30 * time.Second,
	}
}

type editInput struct {
	Path, Old, New string
	All            bool
}

func (e *Edit) input(call tool.Call) (in editInput, how rewrite, err error) {
	err = call.Read(&in)
	return in, in.rewrite, err
}

// rewrite replaces the old text. Line ends follow those of the file, if it has only one kind.
func (in editInput) rewrite(old []byte, absent, hidden bool) ([]byte, error) {
	switch {
	case hidden:
		return nil, fmt.Errorf("%w: %s cannot be read, so it cannot be edited; %s replaces it", ErrRefused, shown(in.Path), WriteName)
	case absent:
		return nil, fmt.Errorf("%w: there is no file %s; %s makes one", fs.ErrNotExist, shown(in.Path), WriteName)
	}
	if kind := kindOf(old[:min(len(old), sniffed)]); kind != "" {
		return nil, fmt.Errorf("%s holds no text: it is %s, %s", shown(in.Path), kind, bytesOf(int64(len(old))))
	}
	from, to := []byte(lineEnds(old, in.Old)), []byte(lineEnds(old, in.New))
	n := bytes.Count(old, from)
	switch {
	case n == 0:
		return nil, fmt.Errorf("%w: /old: %s does not hold these words; read it again, and give them without line numbers", tool.ErrInput, shown(in.Path))
	case n > 1 && !in.All:
		return nil, fmt.Errorf("%w: /old: %s holds these words %d times; give more of what is around them, or set all", tool.ErrInput, shown(in.Path), n)
	case len(old)+n*(len(to)-len(from)) > maxText:
		return nil, fmt.Errorf("%w: %s would be too large; files up to %s can be written", tool.ErrInput, shown(in.Path), bytesOf(maxText))
	}
	return bytes.ReplaceAll(old, from, to), nil
}

// lineEnds converts a text to the line ends of a file.
func lineEnds(file []byte, text string) string {
	feeds, both := bytes.Count(file, []byte("\n")), bytes.Count(file, []byte("\r\n"))
	switch {
	case both == 0 && feeds > 0:
		return strings.ReplaceAll(text, "\r\n", "\n")
	case both > 0 && both == feeds:
		return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	default:
		return text
	}
}

// Judge implements [tool.Judge]. Every change needs approval or is refused.
func (e *Edit) Judge(call tool.Call) tool.Verdict {
	in, _, err := e.input(call)
	if err != nil {
		return tool.Verdict{Decision: tool.Deny, Reason: err.Error()}
	}
	return e.w.judge(in.Path)
}

// Explain implements [tool.Explainer].
func (e *Edit) Explain(call tool.Call) (tool.Explanation, error) {
	in, how, err := e.input(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	c, err := e.w.plan(in.Path, how)
	if err != nil {
		return tool.Explanation{}, err
	}
	defer c.close()
	return c.explain()
}

// Invoke implements [tool.Tool].
func (e *Edit) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, how, err := e.input(call)
	if err != nil {
		return tool.Result{}, err
	}
	c, err := e.w.apply(ctx, call, in.Path, how)
	if err != nil {
		return tool.Result{}, err
	}
	return c.result()
}
