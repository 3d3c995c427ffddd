package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Create is the tool task_create.
type Create struct {
	tool.Described

	opts Options
}

// input is the input of a call.
type input struct {
	Title, Cron, When, Delay, Timezone, Say, Instructions, CatchUp string
}

// tidy removes what does not count. Empty members are missing ones.
func (in *input) tidy() {
	for _, member := range []*string{&in.Title, &in.Cron, &in.When, &in.Delay, &in.Timezone, &in.Say, &in.Instructions} {
		*member = strings.TrimSpace(*member)
	}
	if cron, ok := schedule.Phrase(in.Cron); ok {
		in.Cron = cron
	}
}

// times counts the members of the input that set a time.
func (in *input) times() int {
	given := 0
	for _, text := range []string{in.Cron, in.When, in.Delay} {
		if text != "" {
			given++
		}
	}
	return given
}

// timed sets the times of a task from the input, in a zone. A delay counts from now.
func (in *input) timed(t *timetable.Task, zone *time.Location, now time.Time) error {
	t.Cron, t.When = in.Cron, time.Time{}
	switch {
	case in.Delay != "":
		delay, err := schedule.ParseDelay(in.Delay)
		if err != nil {
			return err
		}
		t.When = now.Add(delay).In(zone).Truncate(time.Second)
	case in.When != "":
		when, err := schedule.ParseFuture(in.When, zone, now)
		if err != nil {
			return err
		}
		t.When = when
	}
	return nil
}

const (
	// dueAt is the prefix of a binding to a single time.
	dueAt = "due-"
	// soon is the delay of a task whose time passed while it waited for approval.
	soon = 2 * time.Second
)

// agreedTime is the single time that a person agreed to, or zero.
func agreedTime(bind string, zone *time.Location) (time.Time, error) {
	text, ok := strings.CutPrefix(bind, dueAt)
	if !ok {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.In(zone), err
}

// timedAsAgreed is timed, except that a single time which a person agreed to is kept, however late they agreed.
func (in *input) timedAsAgreed(t *timetable.Task, zone *time.Location, now time.Time, bind string) error {
	agreed, err := agreedTime(bind, zone)
	switch {
	case err != nil:
		return err
	case agreed.IsZero():
		return in.timed(t, zone, now)
	case !agreed.After(now):
		agreed = now.Add(soon).In(zone).Truncate(time.Second)
	}
	t.Cron, t.When = "", agreed
	return nil
}

// task makes the task of a call. A delay counts from the time of the request, so a late approval does not move the
// time.
func (c *Create) task(call tool.Call) (timetable.Task, timetable.Times, error) {
	bad := func(err error) (timetable.Task, timetable.Times, error) {
		return timetable.Task{}, timetable.Times{}, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	var in input
	if err := call.Read(&in); err != nil {
		return timetable.Task{}, timetable.Times{}, err
	}
	in.tidy()
	t := timetable.Task{
		ID: taskID(call), Title: timetable.ShortText(in.Title, maxTitle), Zone: in.Timezone, ChatKey: call.Run.ChatKey,
		Status: timetable.Active, CatchUp: timetable.CatchUp(cmp.Or(in.CatchUp, string(timetable.CatchUpOnce))),
		Say: in.Say, Body: in.Instructions, MadeBy: askerOf(call),
	}
	if call.Run.Group {
		t.ChatType = messages.ChatGroup
	}
	zone := c.opts.Zone
	if t.Zone == "" {
		t.Zone = zone.String()
		if t.Zone == "Local" {
			t.Zone = "" // the host's own zone has no name
		}
	} else {
		found, err := schedule.ParseZone(t.Zone)
		if err != nil {
			return bad(err)
		}
		zone = found
	}
	switch {
	case t.Title == "":
		return bad(errors.New("give a title"))
	case in.times() != 1:
		return bad(errors.New("give one of cron, when and delay"))
	case (t.Say == "") == (t.Body == ""):
		return bad(errors.New("give say, a text that is sent as it is, or instructions, which you will follow then"))
	}
	if err := in.timedAsAgreed(&t, zone, c.opts.Now(), call.Bind); err != nil {
		return bad(err)
	}
	times, err := c.opts.checked(t)
	if err != nil {
		return bad(err)
	}
	return t, times, nil
}

func askerOf(call tool.Call) string {
	return messages.PersonKey(call.Run.Asker.Platform, call.Run.Asker.ID)
}

// checked validates a task and returns its times.
func (o Options) checked(t timetable.Task) (timetable.Times, error) {
	if err := o.Check(t); err != nil {
		return timetable.Times{}, err
	}
	return t.Schedule(o.Zone)
}

// taskID is the same whenever the call is repeated. It contains nothing of the title, because it is part of keys and
// file names that outlive the task.
func taskID(call tool.Call) string {
	sum := sha256.Sum256([]byte(string(call.Run.ChatKey) + "\x00" + call.Run.MessageID + "\x00" + call.ID))
	return "task-" + hex.EncodeToString(sum[:4])
}

// Explain implements [tool.Explainer]. For a single time, the decision is bound to that time.
func (c *Create) Explain(call tool.Call) (tool.Explanation, error) {
	t, times, err := c.task(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	e, err := tool.Describe(CreateName, struct {
		Say         bool
		Title, Cron string
		When        time.Time
		Next        []time.Time
	}{t.Say != "", t.Title, t.Cron, t.When.In(times.Zone), times.Upcoming(c.opts.Now(), upcoming)})
	e.Exact = cmp.Or(t.Say, t.Body)
	if t.Cron == "" {
		e.Bind = cmp.Or(call.Bind, dueAt+t.When.Format(time.RFC3339))
	}
	return e, err
}

// Invoke implements [tool.Tool].
func (c *Create) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	mine, err := ofChat(ctx, c.opts.Tasks, call.Run.ChatKey)
	if err != nil {
		return tool.Result{}, err
	}
	if i := slices.IndexFunc(mine, func(t timetable.Task) bool { return t.ID == taskID(call) }); i >= 0 { // by this call, before a crash
		return c.opts.confirm(ctx, mine[i])
	}
	t, _, err := c.task(call)
	if err != nil {
		return tool.Result{}, err
	}
	if n := open(mine); n >= maxPerChat {
		return tool.Result{}, fmt.Errorf("%w: this chat has %d tasks already; cancel some with task_cancel, or people do with /tasks", tool.ErrInput, n)
	}
	if err := c.opts.Tasks.AddTask(ctx, t); err != nil {
		return tool.Result{}, fmt.Errorf("create the task: %w", err)
	}
	return c.opts.confirm(ctx, t)
}

// confirm is the result of a call that created or changed a task.
func (o Options) confirm(ctx context.Context, t timetable.Task) (tool.Result, error) {
	o.Changed()
	times, err := t.Schedule(o.Zone)
	if err != nil { // Unreachable: it was checked
		return tool.Result{}, err
	}
	d, err := describe(t, o.Zone, o.Now())
	if err != nil { // Unreachable: it was checked
		return tool.Result{}, err
	}
	numbers, err := o.numbers(ctx, t.ChatKey, t)
	if err != nil {
		return tool.Result{}, err
	}
	d.Number = numbers[t.ID]
	summary := t.Title + " · " + times.Zone.String()
	if len(d.Next) > 0 {
		summary += " · " + strings.Join(d.Next, ", ")
	}
	return result(struct {
		line
		Now  string `json:"now"`
		Tell string `json:"tell"`
	}{d, stamp(o.Now(), times.Zone), "Confirm to the person with the time zone and the next times."}, summary)
}
