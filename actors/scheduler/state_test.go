package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Tasks that wait for a person take no places of others. A task that waits for a place was not missed, even if missed
// times are not made up for.
func TestPlacesOfTasks(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name          string
		waits         bool
		catchUp       timetable.CatchUp
		looked, after time.Duration // since the time of the task, which is a minute after the start; -1 means never
		want          string
	}{
		{"waiting tasks take no places", true, timetable.CatchUpOnce, -time.Second, 0, "started "},
		{"running tasks do", false, timetable.CatchUpSkip, -time.Second, 0, ""},
		{"also for long", false, timetable.CatchUpSkip, 24 * time.Minute, 25 * time.Minute, ""},
		{"a task with a place begins late", true, timetable.CatchUpSkip, 24*time.Minute + 30*time.Second, 25 * time.Minute, "started "},
		{"nobody has looked", true, timetable.CatchUpSkip, -1, 25 * time.Minute, "skipped missed"},
		{"nobody had looked before", false, timetable.CatchUpSkip, -1, 25 * time.Minute, "skipped missed"},
		{"nobody has looked for long", true, timetable.CatchUpSkip, 10 * time.Minute, 25 * time.Minute, "skipped missed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBook(nil)
			for i := range maxRuns {
				id := fmt.Sprintf("t%d", i)
				b.apply(timetable.Fire{Is: timetable.FireStarted, Task: id, ID: id, Planned: start, Body: "ask"})
				if tt.waits {
					b.apply(timetable.Fire{Is: timetable.FireWaits, Task: id, ID: id})
				}
			}
			news := timetable.Task{ID: "news", Title: "News", Cron: "1 9 * * *", ChatKey: "telegram-chat-2", Status: timetable.Active, CatchUp: tt.catchUp, Body: "news"}
			times, err := news.Schedule(time.UTC)
			stdtest.Must(t, err)
			b.apply(timetable.Fire{Is: timetable.FireSeen, Task: news.ID, At: start, Mark: news.Mark()})
			due, looked := start.Add(time.Minute), time.Time{}
			if tt.looked != -1 {
				looked = due.Add(tt.looked)
			}
			got := ""
			for _, f := range b.plan([]task{{Task: news, times: times}}, looked, due.Add(tt.after), func(timetable.Task) bool { return false }) {
				got += string(f.Is) + " " + f.Reason
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A chat that takes no outcomes gets one for all the times that pass meanwhile: its tasks do not collect fires.
func TestTasksOfAChatThatTakesNothingWait(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	b := newBook(nil)
	often := timetable.Task{ID: "often", Title: "Often", Cron: "* * * * *", ChatKey: "telegram-chat-2", Status: timetable.Active, Say: "look"}
	times, err := often.Schedule(time.UTC)
	stdtest.Must(t, err)
	tasks, looked := []task{{Task: often, times: times}}, time.Time{}
	var started []timetable.Fire
	pass := func(minutes int) {
		for range minutes {
			for _, f := range b.plan(tasks, looked, now, func(timetable.Task) bool { return false }) {
				b.apply(f)
				if f.Is == timetable.FireStarted {
					started = append(started, f)
				}
			}
			looked = now
			now = now.Add(time.Minute)
		}
	}
	pass(60)
	if len(started) != 1 || len(b.open) != 1 {
		t.Fatalf("%d fires were started, %d are open", len(started), len(b.open))
	}
	b.apply(timetable.Fire{Is: timetable.FireSettled, Task: often.ID, ID: started[0].ID})
	pass(1)
	if len(started) != 2 || started[1].Count != 58 {
		t.Errorf("when the chat takes outcomes again: %+v", started)
	}
}
