package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// shout is a whole tool: what it is, and what it does.
type shout struct{}

func (shout) Spec() tool.Spec {
	return tool.Spec{
		Name: "shout", Description: "Say a word louder.", ReadOnly: true, Repeatable: true,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}`),
	}
}

func (shout) Invoke(_ context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ Word string }
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	out, err := json.Marshal(strings.ToUpper(in.Word))
	return tool.Result{Output: out}, err
}

// A run validates the input, asks the policy and only then invokes the tool.
func Example() {
	set, err := tool.NewSet(shout{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"word":"hello"}`, `{"wrod":"hello"}`} {
		call := tool.Call{ID: "call-1", Name: "shout", Input: json.RawMessage(input)}
		if err := set.Validate(call.Name, call.Input); err != nil {
			fmt.Println(err)
			continue
		}
		t, _ := set.Lookup(call.Name)
		result, err := t.Invoke(context.Background(), call)
		fmt.Println(tool.BySpec(t, call).Decision, string(result.Output), err)
	}
	// Output:
	// allow "HELLO" <nil>
	// input does not match the schema: the input: missing property 'word'
}
