package task_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/task"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// An update changes only the given fields of a task. Before it happens, a person sees the whole
// new task with its next three times.
func TestUpdate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.invoke(here, "c", task.CreateName, `{"title":"Report","cron":"Every weekday at 9","say":"Report, please."}`); err != nil {
		t.Fatal(err)
	}
	own := b.all()[0]
	if own.Cron != "0 9 * * 1-5" {
		t.Fatalf("cron is %q", own.Cron)
	}
	for _, tt := range []struct{ name, in, what, exact string }{
		{"times in Chinese", `"cron":"每天晚上十点"`, "every day at 22:00, next on Friday, 27 March 2026, 22:00, Saturday, 28 March 2026, 22:00 and Sunday, 29 March 2026, 22:00 (Europe/Berlin)?", "Report, please."},
		{"a single time", `"delay":"20m"`, "on Friday, 27 March 2026, 12:20 (Europe/Berlin)?", "Report, please."},
		{"words", `"title":"News","instructions":"Sum up."`, "follow these instructions by myself on Friday, 27 March 2026, 12:20 (Europe/Berlin)? The task is then called “News”.", "Sum up."},
		{"zone and times", `"timezone":"Asia/Shanghai","cron":"0 9 * * 1-5"`, "next on Monday, 30 March 2026, 09:00, Tuesday, 31 March 2026, 09:00 and Wednesday, 1 April 2026, 09:00 (Asia/Shanghai)?", "Sum up."},
	} {
		in := `{"taskId":"` + own.ID + `",` + tt.in + `}`
		found, call := b.call(here, "u", task.UpdateName, in)
		e, err := explain(found, call)
		if err != nil || e.Exact != tt.exact || !strings.Contains(e.What, tt.what) || e.Chinese.What == "" || tool.BySpec(found, call).Decision != tool.Ask {
			t.Errorf("%s: explained as %q with %q, %v; want %q with %q", tt.name, e.What, e.Exact, err, tt.what, tt.exact)
		}
		call.Bind = e.Bind
		if _, err := found.Invoke(t.Context(), call); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if again, err := found.Invoke(t.Context(), call); err == nil {
			t.Errorf("%s: one answer changed the task twice: %s", tt.name, again.Output)
		}
	}
	if got := b.all()[0]; got.ID != own.ID || got.Title != "News" || got.Say != "" || got.Body != "Sum up." || got.Cron != "0 9 * * 1-5" || got.Zone != "Asia/Shanghai" || got.Status != timetable.Active {
		t.Errorf("got %+v", got)
	}
}

// Pausing, resuming and cancelling need no approval and can be undone.
func TestPauseResumeCancel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.invoke(here, "c", task.CreateName, `{"title":"Report","cron":"0 9 * * *","say":"Report, please."}`); err != nil {
		t.Fatal(err)
	}
	id := b.all()[0].ID
	for _, tt := range []struct {
		name, in, out string
		want          timetable.Status
	}{
		{task.UpdateName, `,"status":"paused"`, `"status":"paused"`, timetable.Paused},
		{task.UpdateName, `,"status":"active"`, `"next":["Sat 2026-03-28 09:00 CET"`, timetable.Active},
		{task.CancelName, ``, "Cancelled.", timetable.Done},
		{task.CancelName, ``, "It had ended before", timetable.Done},
		{task.UpdateName, `,"status":"active"`, `"status":"active"`, timetable.Active},
	} {
		in := `{"taskId":"` + id + `"` + tt.in + `}`
		found, call := b.call(here, "u", tt.name, in)
		if got := tool.BySpec(found, call); got.Decision != tool.Allow {
			t.Errorf("%s %s: %v", tt.name, in, got)
		}
		out, err := b.invoke(here, "u", tt.name, in)
		if got := b.all()[0].Status; err != nil || !strings.Contains(out, tt.out) || got != tt.want {
			t.Errorf("%s %s: %s, %v, status %s", tt.name, in, out, err, got)
		}
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.invoke(here, "c", task.CreateName, `{"title":"Report","when":"2026-03-28 09:00","say":"Report, please."}`); err != nil {
		t.Fatal(err)
	}
	id := b.all()[0].ID
	for _, in := range []string{
		``, `,"cron":"0 9 * * *","delay":"5m"`, `,"say":"a","instructions":"b"`, `,"cron":"when the sun rises"`, `,"cron":"0 25 * * *"`, `,"when":"2026-03-01 09:00"`,
		`,"timezone":"Mars/Base"`, `,"say":"a\u202eb"`, `,"cron":"every 7 minutes"`,
	} {
		in = `{"taskId":"` + id + `"` + in + `}`
		if out, err := b.invoke(here, "u", task.UpdateName, in); !errors.Is(err, tool.ErrInput) {
			t.Errorf("%s: got %s, %v", in, out, err)
		}
	}
	if _, err := b.invoke(there, "u", task.UpdateName, `{"taskId":"`+id+`","status":"paused"}`); !errors.Is(err, tool.ErrInput) {
		t.Errorf("another chat: %v", err)
	}
	if _, err := b.invoke(there, "u", task.CancelName, `{"taskId":"`+id+`"}`); !errors.Is(err, tool.ErrInput) {
		t.Errorf("another chat: %v", err)
	}
	b.now = b.now.AddDate(0, 0, 7)
	stdtest.Must(t, b.store.SetTaskStatus(t.Context(), id, timetable.Done, ""))
	if out, err := b.invoke(here, "u", task.UpdateName, `{"taskId":"`+id+`","status":"active"}`); !errors.Is(err, tool.ErrInput) || !strings.Contains(err.Error(), "has passed") {
		t.Errorf("a time that has passed came back: %s, %v", out, err)
	}
}

// The person who made a task, and whoever decides in the chat, may change it. Others are refused
// with a sentence, whatever the model asks for.
func TestOnlyTheirMakerChangesTasks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	told := 0
	set, err := tool.NewSet(task.Tools(task.Options{
		Tasks: b.store, Zone: b.now.Location(), Changed: func() { told++ }, Check: func(timetable.Task) error { return nil }, May: func(run tool.Run, t timetable.Task) bool {
			return messages.PersonKey(run.Asker.Platform, run.Asker.ID) == t.MadeBy
		},
	})...)
	stdtest.Must(t, err)
	b.set = set
	invoke := func(who, name, in string) error {
		found, call := b.call(here, "c"+who, name, in)
		call.Run.Asker, call.Run.Group = tool.Person{Platform: "telegram@work", ID: who}, true
		_, err := found.Invoke(t.Context(), call)
		return err
	}
	stdtest.Must(t, invoke("7", task.CreateName, `{"title":"Report","cron":"0 9 * * *","say":"Report, please."}`))
	own := b.all()[0]
	if own.MadeBy != "telegram-7" || own.ChatType != messages.ChatGroup {
		t.Errorf("made by %q in a chat of type %q", own.MadeBy, own.ChatType)
	}
	for _, call := range [][2]string{
		{task.UpdateName, `{"taskId":"` + own.ID + `","status":"paused"}`}, {task.UpdateName, `{"taskId":"` + own.ID + `","say":"Mine now."}`}, {task.CancelName, `{"taskId":"` + own.ID + `"}`},
	} {
		if err := invoke("8", call[0], call[1]); !errors.Is(err, tool.ErrInput) || !strings.Contains(err.Error(), "who made it") {
			t.Errorf("%s %s by another member: %v", call[0], call[1], err)
		}
	}
	if got := b.all()[0]; got != own {
		t.Errorf("changed to %+v", got)
	}
	if err := invoke("7", task.CancelName, `{"taskId":"`+own.ID+`"}`); err != nil || b.all()[0].Status != timetable.Done {
		t.Errorf("by who made it: %v", err)
	}
	if told != 2 {
		t.Errorf("the scheduler was told %d times, want of the creation and of the cancellation", told)
	}
}

// Task numbers are never reused.
func TestTasksHaveNumbers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	numbers := func() []int {
		out, err := b.invoke(here, "l", task.ListName, `{}`)
		var got struct{ Tasks []struct{ Number int } }
		stdtest.Must(t, errors.Join(err, json.Unmarshal([]byte(out), &got)))
		var list []int
		for _, x := range got.Tasks {
			list = append(list, x.Number)
		}
		slices.Sort(list)
		return list
	}
	for _, id := range []string{"a", "b", "c"} {
		if _, err := b.invoke(here, id, task.CreateName, `{"title":"t","cron":"@manual","instructions":"x"}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := numbers(); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	all, given, err := b.store.Numbered(t.Context(), here)
	if err != nil || given[all[2].ID] != 3 {
		t.Fatal(given, err)
	}
	stdtest.Must(t, b.store.RemoveTask(t.Context(), all[2].ID))
	if _, err := b.invoke(here, "d", task.CreateName, `{"title":"t","cron":"@manual","instructions":"x"}`); err != nil {
		t.Fatal(err)
	}
	if got := numbers(); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("got %v; want the number of the removed task to stay free", got)
	}
}
