package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence"
)

//go:embed create.md
var createText string

//go:embed create.schema.json
var createSchema []byte

// Create is the tool task_create.
type Create struct{ opts Options }

// Spec implements [tool.Tool]. A call that comes again finds its own task, so it may
// be repeated.
func (Create) Spec() tool.Spec {
	return tool.Spec{
		Name: CreateName, Title: "Create a task", Description: strings.TrimSpace(createText), InputSchema: json.RawMessage(createSchema),
		Ordered: true, Repeatable: true, Deadline: 20 * time.Second,
	}
}

// input is what the model asks for.
type input struct {
	Title, Cron, When, Delay, Timezone, Say, Instructions, CatchUp string
}

// task makes the task of a call. A delay counts from now.
func (c Create) task(call tool.Call) (persistence.Task, persistence.TaskTimes, error) {
	bad := func(err error) (persistence.Task, persistence.TaskTimes, error) {
		return persistence.Task{}, persistence.TaskTimes{}, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	var in input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return bad(err)
	}
	for _, member := range []*string{&in.Cron, &in.When, &in.Delay, &in.Timezone, &in.Say, &in.Instructions} {
		*member = strings.TrimSpace(*member)
	}
	t := persistence.Task{
		ID: taskID(in.Title, call), Title: persistence.ShortText(in.Title, 100), Cron: in.Cron, Zone: in.Timezone, ChatKey: call.Run.ChatKey,
		Status: persistence.TaskActive, CatchUp: persistence.CatchUp(cmp.Or(in.CatchUp, string(persistence.CatchUpOnce))),
		Say: in.Say, Body: in.Instructions,
	}
	zone := c.opts.Zone
	if t.Zone == "" {
		t.Zone = zone.String()
		if t.Zone == "Local" {
			t.Zone = "" // the host's own zone has no name to write down
		}
	} else {
		found, err := schedule.ParseZone(t.Zone)
		if err != nil {
			return bad(err)
		}
		zone = found
	}
	given := 0
	for _, text := range []string{in.Cron, in.When, in.Delay} {
		if text != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return bad(errors.New("give one of cron, when and delay"))
	case (t.Say == "") == (t.Body == ""):
		return bad(errors.New("give say, a text that is sent as it is, or instructions, which you will follow then"))
	}
	now := c.opts.Now()
	switch {
	case in.Delay != "":
		delay, err := schedule.ParseDelay(in.Delay)
		if err != nil {
			return bad(err)
		}
		t.When = now.Add(delay).In(zone).Truncate(time.Second)
	case in.When != "":
		when, err := schedule.ParseWhen(in.When, zone)
		if err != nil {
			return bad(err)
		}
		if !when.After(now) || when.Sub(now) > schedule.MaxDelay {
			return bad(fmt.Errorf("/when: %s is not ahead, or more than five years; it is %s now", stamp(when, zone), stamp(now, zone)))
		}
		t.When = when
	}
	if c.opts.Check != nil {
		if err := c.opts.Check(t); err != nil {
			return bad(err)
		}
	}
	times, err := t.Schedule(c.opts.Zone)
	if err != nil {
		return bad(err)
	}
	return t, times, nil
}

// taskID is a name that people can read, the same whenever the call comes again.
func taskID(title string, call tool.Call) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 32 {
			break
		}
	}
	sum := sha256.Sum256([]byte(string(call.Run.ChatKey) + "\x00" + call.Run.MessageID + "\x00" + call.ID))
	return cmp.Or(strings.Trim(b.String(), "-"), "task") + "-" + hex.EncodeToString(sum[:4])
}

// Explain implements [tool.Explainer].
func (c Create) Explain(call tool.Call) (tool.Explanation, error) {
	t, times, err := c.task(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	e := tool.Explanation{What: "Create the task “" + t.Title + "” in this chat"}
	what := t.Body
	if t.Say != "" {
		what = t.Say
		e.What += ", which says the text below by itself"
		e.Risk = "The text is sent at its time, and nobody is asked again."
	} else {
		e.What += ", in which I follow the instructions below by myself"
		e.Risk = "Nobody looks on when it runs; what asks then waits for the operator."
	}
	var exact strings.Builder
	if t.Cron != "" {
		fmt.Fprintf(&exact, "cron: %s\n", t.Cron)
	}
	fmt.Fprintf(&exact, "timezone: %s\n", times.Zone)
	var in input
	if err := json.Unmarshal(call.Input, &in); err == nil && strings.TrimSpace(in.Delay) != "" {
		fmt.Fprintf(&exact, "%s after you agree (now: %s)\n", strings.TrimSpace(in.Delay), stamp(t.When, times.Zone))
	} else {
		for _, at := range times.Upcoming(c.opts.Now(), upcoming) {
			fmt.Fprintf(&exact, "next: %s\n", stamp(at, times.Zone))
		}
	}
	fmt.Fprintf(&exact, "\n%s", what)
	e.Exact = exact.String()
	return e, nil
}

// Invoke implements [tool.Tool].
func (c Create) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	t, times, err := c.task(call)
	if err != nil {
		return tool.Result{}, err
	}
	mine, err := ofChat(ctx, c.opts.Tasks, call.Run.ChatKey)
	if err != nil {
		return tool.Result{}, err
	}
	open := 0
	for _, other := range mine {
		if other.Status != persistence.TaskDone {
			open++
		}
	}
	if open >= maxPerChat {
		return tool.Result{}, fmt.Errorf("%w: this chat has %d tasks already; people remove some with sma tasks rm", tool.ErrInput, open)
	}
	err = c.opts.Tasks.AddTask(ctx, t)
	if errors.Is(err, persistence.ErrTaskExists) { // this very call, before a crash
		if t, err = find(ctx, c.opts.Tasks, call.Run.ChatKey, t.ID); err == nil {
			times, err = t.Schedule(c.opts.Zone)
		}
	}
	if err != nil {
		return tool.Result{}, fmt.Errorf("create the task: %w", err)
	}
	d, err := describe(t, c.opts.Zone, c.opts.Now())
	if err != nil { // Unreachable: it was checked
		return tool.Result{}, err
	}
	summary := t.Title + " · " + times.Zone.String()
	if len(d.Next) > 0 {
		summary += " · " + strings.Join(d.Next, ", ")
	}
	return result(struct {
		line
		Now  string `json:"now"`
		Tell string `json:"tell"`
	}{d, stamp(c.opts.Now(), times.Zone), "Confirm to the person with the time zone and the next times."}, summary)
}
