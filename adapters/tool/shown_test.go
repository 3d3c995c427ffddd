package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The model reads a schema without limits, in the same order. Inputs are still validated against all of it. The schema
// of an MCP server is shown unchanged.
func TestModelsReadSchemasWithoutLimits(t *testing.T) {
	const schema = `{
  "type": "object",
  "properties": {
    "why": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]*$", "description": "a \"<reason>\""},
    "pattern": {"type": "string", "enum": ["minimum", "items"]},
    "list": {"type": "array", "maxItems": 3, "items": {"type": "integer", "minimum": 1, "maximum": 9}},
    "none": {}
  },
  "required": ["why"],
  "additionalProperties": false
}`
	const want = `{"type":"object","properties":{"why":{"type":"string","description":"a \"<reason>\""},` +
		`"pattern":{"type":"string","enum":["minimum", "items"]},` +
		`"list":{"type":"array","items":{"type":"integer"}},"none":{}},"required":["why"]}`
	own := &tooltest.Tool{S: tool.Spec{Name: "own", InputSchema: json.RawMessage(schema)}}
	foreign := &tooltest.Tool{S: tool.Spec{Name: "server:tool", InputSchema: json.RawMessage(schema), Foreign: true}}
	gone := tool.Spec{Name: "gone", InputSchema: json.RawMessage(schema)}
	set, err := tool.NewSet(own, foreign)
	stdtest.Must(t, err)
	for _, tt := range []struct {
		spec tool.Spec
		want string
	}{{own.S, want}, {foreign.S, schema}, {gone, schema}} {
		if got := string(set.Shown(tt.spec)); got != tt.want {
			t.Errorf("%s: the model reads\n%s\nwant\n%s", tt.spec.Name, got, tt.want)
		}
	}
	if err := set.Validate("own", json.RawMessage(`{"why":"too long"}`)); !errors.Is(err, tool.ErrInput) {
		t.Errorf("a limit that the model does not read is not checked: %v", err)
	}
}
