package shell

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// quickly is the deadline of calls that do not wait for a process.
const quickly = 20 * time.Second

// Status is the tool shell_status.
type Status struct{ followUp }

// Invoke implements [tool.Tool].
func (t *Status) Invoke(_ context.Context, call tool.Call) (tool.Result, error) {
	list := []state{}
	for _, j := range t.sh.of(call.Run.ChatKey) {
		s := t.sh.state(j)
		s.Command = tool.Shorten(j.command, 200)
		list = append(list, s)
	}
	doc, err := plainjson.Append(nil, map[string]any{"processes": list})
	return tool.Result{Output: doc}, err
}
