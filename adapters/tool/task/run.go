package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Run is the tool task_run.
type Run struct{ followUp }

func (r *Run) task(ctx context.Context, call tool.Call) (timetable.Task, error) {
	var in struct{ TaskID string }
	if err := call.Read(&in); err != nil {
		return timetable.Task{}, err
	}
	return find(ctx, r.opts.Tasks, call.Run.ChatKey, in.TaskID)
}

// Explain implements [tool.Explainer]. The decision is bound to the task's current content.
func (r *Run) Explain(call tool.Call) (tool.Explanation, error) {
	t, err := r.task(context.Background(), call)
	if err != nil {
		return tool.Explanation{}, err
	}
	e, err := tool.Describe(RunName, struct {
		Title string
		Say   bool
	}{t.Title, t.Say != ""})
	e.Exact, e.Bind = cmp.Or(t.Say, t.Body), digest(t)
	return e, err
}

func digest(t timetable.Task) string {
	sum := sha256.Sum256([]byte(t.ID + "\x00" + t.Say + "\x00" + t.Body))
	return hex.EncodeToString(sum[:])
}

// Invoke implements [tool.Tool].
func (r *Run) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	t, err := r.task(ctx, call)
	if err != nil {
		return tool.Result{}, err
	}
	if call.Bind != "" && call.Bind != digest(t) {
		return tool.Result{}, fmt.Errorf("%w: the task was changed since a person agreed; ask again", tool.ErrInput)
	}
	fire, err := r.opts.Run(ctx, t.ID, "chat "+string(call.Run.ChatKey))
	if err != nil {
		return tool.Result{}, err
	}
	return result(struct {
		Started string `json:"started"`
		Note    string `json:"note"`
	}{fire, "It runs by itself; its outcome comes to this chat as a message of its own."}, t.Title)
}
