package answer

import (
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Calls with the same index and without ids are distinguished by their names, once the previous input is complete. A
// name that is repeated with every piece of a call makes no other call.
func TestCallsWithOneIndexAndNoIDs(t *testing.T) {
	piece := func(name, arguments string) string {
		return fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":%q,"arguments":%q}}]}}]}`, name, arguments)
	}
	for _, tt := range []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"whole calls", []string{piece("look", `{"q":1}`), piece("look", `{"q":2}`)}, []string{`look {"q":1}`, `look {"q":2}`}},
		{"in pieces", []string{piece("look", `{"q"`), piece("", `:1}`), piece("list", `{`), piece("", `}`)}, []string{`look {"q":1}`, `list {}`}},
		{"the name with every piece", []string{piece("look", ``), piece("look", `{"q"`), piece("look", `:1}`), piece("look", "\n"), piece("look", ``)}, []string{"look {\"q\":1}\n"}},
	} {
		p := NewParser(false, nil, nil, nil)
		for _, data := range tt.pieces {
			p.Feed([]byte(data))
		}
		p.Feed([]byte(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`))
		stdtest.Must(t, p.Close(true))
		var got []string
		for _, e := range p.Events() {
			if e.Kind == model.EventToolCall {
				got = append(got, e.ToolName+" "+e.Input)
			}
		}
		stdtest.Diff(t, tt.name, tt.want, got)
	}
}
