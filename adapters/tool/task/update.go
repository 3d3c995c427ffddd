package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Update is the tool task_update.
type Update struct{ followUp }

// changes are the changes that a call requests.
type changes struct {
	input

	TaskID string
	Status timetable.Status
}

func changesOf(call tool.Call) (c changes, err error) {
	err = call.Read(&c)
	c.tidy()
	return c, err
}

// statusOnly reports whether only the status would change.
func (c *changes) statusOnly() bool { return c.input == input{} && c.Status != "" }

// CheckCall implements [tool.Checker]. Changes of what is said or done, or when, need approval.
func (*Update) CheckCall(call tool.Call) tool.Verdict {
	if c, err := changesOf(call); err != nil || !c.statusOnly() {
		return tool.Verdict{Decision: tool.Ask, Reason: "it changes what happens later"}
	}
	return tool.Verdict{Decision: tool.Allow}
}

// errNotTheirs is the error for people whom Options.May refuses.
var errNotTheirs = errors.New("whom you answer may not change this task: that is for who decides in this chat, or who made it, unless somebody else has stopped it; tell them so, they can use /tasks")

// own returns a task of the chat that the asker may change.
func (o Options) own(ctx context.Context, call tool.Call, id string) (timetable.Task, error) {
	t, err := find(ctx, o.Tasks, call.Run.ChatKey, id)
	if err == nil && !o.May(call.Run, t) {
		err = fmt.Errorf("%w: %w", tool.ErrInput, errNotTheirs)
	}
	return t, err
}

// changed returns a task of the chat before and after the requested changes.
func (u *Update) changed(ctx context.Context, call tool.Call) (was, t timetable.Task, times timetable.Times, err error) {
	c, err := changesOf(call)
	if err != nil {
		return was, t, times, err
	}
	if was, err = u.opts.own(ctx, call, c.TaskID); err != nil {
		return was, t, times, err
	}
	t, err = u.apply(&c, was, call.Bind)
	if c.Status != "" {
		t.StoppedBy = askerOf(call)
	}
	if err == nil {
		times, err = u.opts.checked(t)
	}
	if err == nil && t.Status == timetable.Active && len(times.Upcoming(u.opts.Now(), 1)) == 0 && t.Cron != schedule.Manual {
		err = errors.New("its time has passed; give when, delay or cron as well")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	return was, t, times, err
}

// apply applies the changes to a task. bind is what a person's decision is bound to.
func (u *Update) apply(c *changes, t timetable.Task, bind string) (timetable.Task, error) {
	switch {
	case c.input == input{} && c.Status == "":
		return t, errors.New("nothing is to be changed; give what shall be different")
	case c.times() > 1:
		return t, errors.New("give at most one of cron, when and delay")
	case c.Say != "" && c.Instructions != "":
		return t, errors.New("give say or instructions, not both")
	case t.Status == timetable.Done && c.Status == "" && c.times() == 0:
		return t, errors.New("this task has ended; give new times, or status active")
	}
	t.Title = cmp.Or(timetable.ShortText(c.Title, maxTitle), t.Title)
	t.Zone = cmp.Or(c.Timezone, t.Zone)
	t.CatchUp = cmp.Or(timetable.CatchUp(c.CatchUp), t.CatchUp)
	if c.Say != "" || c.Instructions != "" {
		t.Say, t.Body = c.Say, c.Instructions
	}
	if c.times() == 1 {
		zone := u.opts.Zone
		if t.Zone != "" {
			found, err := schedule.ParseZone(t.Zone)
			if err != nil {
				return t, err
			}
			zone = found
		}
		_, agreed, _ := strings.Cut(bind, " ")
		if err := c.timedAsAgreed(&t, zone, u.opts.Now(), agreed); err != nil {
			return t, err
		}
		if t.Status == timetable.Done {
			t.Status = timetable.Active
		}
	}
	t.Status = cmp.Or(c.Status, t.Status)
	return t, nil
}

// Explain implements [tool.Explainer]. The decision is bound to the task's current content.
func (u *Update) Explain(call tool.Call) (tool.Explanation, error) {
	was, t, times, err := u.changed(context.Background(), call)
	if err != nil {
		return tool.Explanation{}, err
	}
	e, err := tool.Describe(UpdateName, struct {
		Say, Paused      bool
		Was, Title, Cron string
		When             time.Time
		Next             []time.Time
	}{
		t.Say != "", t.Status == timetable.Paused, was.Title, renamed(was, t), t.Cron,
		t.When.In(times.Zone), times.Upcoming(u.opts.Now(), upcoming),
	})
	e.Exact = cmp.Or(t.Say, t.Body)
	if e.Bind = was.Digest(); t.Cron == "" { // including the time, which a delay would move
		_, agreed, _ := strings.Cut(call.Bind, " ")
		e.Bind += " " + cmp.Or(agreed, dueAt+t.When.Format(time.RFC3339))
	}
	return e, err
}

// renamed is the new title of a task, or "" if it is unchanged.
func renamed(was, t timetable.Task) string {
	if t.Title == was.Title {
		return ""
	}
	return t.Title
}

// Invoke implements [tool.Tool].
func (u *Update) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	was, t, _, err := u.changed(ctx, call)
	if err != nil {
		return tool.Result{}, err
	}
	c, err := changesOf(call)
	if err != nil { // Unreachable: it was read before
		return tool.Result{}, err
	}
	agreed, _, _ := strings.Cut(call.Bind, " ")
	if c.statusOnly() {
		err = u.opts.Tasks.SetTaskStatus(ctx, t.ID, t.Status, t.StoppedBy)
	} else {
		err = u.opts.Tasks.ChangeTask(ctx, t.ID, func(now timetable.Task) (timetable.Task, error) {
			if now.Digest() != was.Digest() || agreed != "" && agreed != now.Digest() {
				return now, fmt.Errorf("%w: the task was changed since a person agreed; look with %s and ask again", tool.ErrInput, ListName)
			}
			return t, nil
		})
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("change the task: %w", err)
	}
	return u.opts.confirm(ctx, t)
}

// Cancel is the tool task_cancel.
type Cancel struct{ followUp }

// Invoke implements [tool.Tool]. The task is kept with the status done.
func (c *Cancel) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ TaskID string }
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	t, err := c.opts.own(ctx, call, in.TaskID)
	if err != nil {
		return tool.Result{}, err
	}
	note := "Cancelled. task_update with status active takes that back."
	by := askerOf(call)
	switch {
	case t.Status == timetable.Done:
		note, by = "It had ended before; nothing was changed.", t.StoppedBy
	case t.Cron == "" || t.Cron == schedule.Manual:
		note = "Cancelled."
	}
	if err := c.opts.Tasks.SetTaskStatus(ctx, t.ID, timetable.Done, by); err != nil {
		return tool.Result{}, fmt.Errorf("cancel the task: %w", err)
	}
	c.opts.Changed()
	return result(struct {
		TaskID string           `json:"taskId"`
		Title  string           `json:"title"`
		Status timetable.Status `json:"status"`
		Note   string           `json:"note"`
	}{t.ID, t.Title, timetable.Done, note}, t.Title)
}
