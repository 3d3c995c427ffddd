package shell

import (
	"context"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// Stop is the tool shell_stop. It needs no approval, because it ends only processes of its own chat.
type Stop struct{ followUp }

// Invoke implements [tool.Tool].
func (t *Stop) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ ID string }
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	j, err := t.sh.job(call.Run, in.ID)
	if err != nil {
		return tool.Result{}, err
	}
	t.sh.mu.Lock()
	j.stopped = true
	t.sh.mu.Unlock()
	j.proc.Kill()
	select {
	case <-j.done:
	case <-ctx.Done():
		return tool.Result{}, fmt.Errorf("the process was killed and has not ended yet: %w", context.Cause(ctx))
	}
	doc, err := plainjson.Append(nil, t.sh.state(j))
	return tool.Result{Output: doc, Summary: "stopped " + j.id}, err
}
