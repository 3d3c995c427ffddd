package scheduler

import (
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	// maxRuns is how many tasks run at once, apart from those that wait for a person; the others are due later.
	maxRuns = 8
	// grace is the delay up to which a fire counts as punctual.
	grace = time.Minute
	// singleLate is how late a task with a single time may still run.
	singleLate = 24 * time.Hour
)

// phase is the progress of a fire.
type phase int

const (
	asking  phase = iota // its chat does not have the instructions yet
	running              // its chat is working on them
	telling              // the outcome is being sent to the chat of the task
)

// fire is a fire that has not ended.
type fire struct {
	timetable.Fire
	phase phase
	waits bool // it waits for a person's decision, and people know that
	// text and result are the outcome.
	text, result string
	retry        time.Time // if no answer arrives before, the request is repeated
}

// book is the state of the fire log. Only apply changes it.
type book struct {
	marks map[string]timetable.Fire // newest FireSeen of each task
	last  map[string]time.Time      // newest decided time of each task
	known map[string]bool           // fires that were started or skipped
	open  map[string]*fire
}

func newBook(fires []timetable.Fire) *book {
	b := &book{marks: map[string]timetable.Fire{}, last: map[string]time.Time{}, known: map[string]bool{}, open: map[string]*fire{}}
	for _, f := range fires {
		b.apply(f)
	}
	return b
}

// apply applies a durable record. Repeating it changes nothing.
func (b *book) apply(f timetable.Fire) {
	switch f.Is {
	case timetable.FireSeen:
		b.marks[f.Task] = f
	case timetable.FireStarted, timetable.FireSkipped:
		if b.known[f.ID] {
			return
		}
		b.known[f.ID] = true
		if f.By == "" && f.Planned.After(b.last[f.Task]) {
			b.last[f.Task] = f.Planned
		}
		o := &fire{Fire: f}
		switch {
		case f.Is == timetable.FireSkipped && f.Text == "":
			return
		case f.Is == timetable.FireSkipped:
			o.phase, o.text, o.result = telling, f.Text, string(f.Is)
		case f.Say != "":
			o.phase, o.text, o.result = telling, f.Text, string(journal.ResultDone)
		}
		b.open[f.ID] = o
	case timetable.FireWaits:
		if o := b.open[f.ID]; o != nil {
			o.waits = true
		}
	case timetable.FireEnded:
		if o := b.open[f.ID]; o != nil && o.phase != telling {
			o.phase, o.text, o.result = telling, f.Text, f.Result
		}
	case timetable.FireSettled:
		delete(b.open, f.ID)
	}
}

// running reports whether a fire of the task has not ended.
func (b *book) running(task string) bool {
	for _, f := range b.open {
		if f.phase != telling && f.Task == task {
			return true
		}
	}
	return false
}

// untold reports whether the chat of the task has not yet taken the outcome of an earlier fire.
func (b *book) untold(task string) bool {
	for _, f := range b.open {
		if f.phase == telling && f.Task == task {
			return true
		}
	}
	return false
}

// busy counts the fires that a model is working on. Those that wait for a person are not among them, or a few of them
// would keep all other tasks from running.
func (b *book) busy() int {
	n := 0
	for _, f := range b.open {
		if f.phase != telling && !f.waits {
			n++
		}
	}
	return n
}

// task is a task with its times.
type task struct {
	timetable.Task
	times timetable.Times
	// next is its first time after it was looked at last. Zero means that it has to be looked at.
	next  time.Time
	waits bool // for one of maxRuns
}

// plan returns what has to be recorded now. looked is when it was last called, or zero. It looks only at tasks whose times
// have come, and at all of them if the clock was set back. Those of chats that are paused, or take no outcomes, stay due.
func (b *book) plan(tasks []task, looked, now time.Time, paused func(timetable.Task) bool) []timetable.Fire {
	var out []timetable.Fire
	runs := b.busy()
	for i := range tasks {
		t := &tasks[i]
		if t.waits && runs >= maxRuns || t.next.After(now) && !looked.After(now) || t.Status != timetable.Active {
			continue
		}
		t.waits, t.next = false, time.Time{}
		if at, ok := t.times.Next(now); ok {
			t.next = at
		}
		since := b.since(t, &out, now)
		if paused(t.Task) || b.untold(t.ID) {
			t.next = now.Add(look)
			continue
		}
		if last := b.last[t.ID]; last.After(since) {
			since = last
		}
		if since.After(now) { // the clock was set back
			since = now
			if !looked.IsZero() && looked.Before(now) {
				since = looked
			}
		}
		newest, count := t.times.Missed(since, now)
		if count == 0 || b.known[timetable.FireID(t.ID, newest)] {
			continue
		}
		f := b.decide(t, newest, count, looked, now)
		if f.Is == timetable.FireStarted && f.Say == "" {
			if runs >= maxRuns {
				t.waits, t.next = true, time.Time{} // it is still due after one of them has ended
				continue
			}
			runs++
		}
		out = append(out, f)
	}
	return out
}

// since is the time from which a task's times count; it records a task whose times have changed.
func (b *book) since(t *task, out *[]timetable.Fire, now time.Time) time.Time {
	if mark, ok := b.marks[t.ID]; ok && mark.Mark == t.Mark() {
		if t.times.Repeats() {
			return mark.At
		}
		return time.Time{}
	}
	*out = append(*out, timetable.Fire{Is: timetable.FireSeen, At: now, Task: t.ID, ChatKey: t.ChatKey, Mark: t.Mark()})
	if t.times.Repeats() {
		return now
	}
	return time.Time{} // a single time counts even if it was past when the task was written
}

// decide decides about the newest time that has passed. It was not missed if the scheduler has looked since: then the
// task only waited until another one had ended.
func (b *book) decide(t *task, planned time.Time, count int, looked, now time.Time) timetable.Fire {
	f := timetable.Fire{
		Is: timetable.FireStarted, At: now, Task: t.ID, ID: timetable.FireID(t.ID, planned), Planned: planned, Title: t.Title, ChatKey: t.ChatKey,
		Say: t.Say, Body: t.Body, Zone: t.times.Zone.String(), Count: count - 1,
	}
	late := now.Sub(planned)
	down := late
	if looked.After(planned) {
		down = now.Sub(looked)
	}
	switch {
	case b.running(t.ID):
		f.Is, f.Reason, f.Count = timetable.FireSkipped, timetable.SkipOverlap, count
	case down > grace && t.CatchUp == timetable.CatchUpSkip, down > singleLate && !t.times.Repeats():
		f.Is, f.Reason, f.Count = timetable.FireSkipped, timetable.SkipMissed, count
		if t.ChatKey != "" {
			f.Text = missed(f, t.times.Zone)
		}
	case t.Say != "":
		f.Text = t.Say + lateness(f, t.times.Zone, late)
	}
	if f.Is == timetable.FireSkipped {
		f.Body, f.Say = "", ""
	}
	return f
}
