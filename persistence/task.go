package persistence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
)

// Errors of tasks.
var (
	// ErrTask: there is no such task.
	ErrTask = errors.New("there is no such task")
	// ErrTaskExists: a task of that id is there already.
	ErrTaskExists = errors.New("there is a task of that name already")
)

// TaskStatus says whether a task is due at its times.
type TaskStatus string

// The states of tasks.
const (
	TaskActive TaskStatus = "active"
	TaskPaused TaskStatus = "paused" // people may still run it
	TaskDone   TaskStatus = "done"   // a single time that has passed
)

// CatchUp says what becomes of a time that passed while no host was up.
type CatchUp string

// The policies. By default the newest time that was missed is made up for, if it is
// younger than the time between two.
const (
	CatchUpOnce CatchUp = "once"
	CatchUpSkip CatchUp = "skip" // nothing is made up for
)

// Task is something to do or to say at certain times.
type Task struct {
	ID    string
	Title string
	// Cron or When says at which times; the other one is zero.
	Cron string
	When time.Time
	// Zone is the name of the time zone; empty: the project's.
	Zone string
	// ChatKey is who hears of the outcome; empty: nobody.
	ChatKey messages.ChatKey
	// MadeBy is the person who asked for it in a chat, as [messages.PersonKey] writes it; empty: the
	// operator made it.
	MadeBy  string
	Status  TaskStatus
	CatchUp CatchUp
	// Say is sent as it is, and no model is asked. Otherwise Body are the instructions.
	Say  string
	Body string
}

// Schedule is when a task is due; home is the zone of a task without one.
func (t Task) Schedule(home *time.Location) (TaskTimes, error) {
	zone := home
	if t.Zone != "" {
		var err error
		if zone, err = schedule.ParseZone(t.Zone); err != nil {
			return TaskTimes{}, err
		}
	}
	if t.Cron == "" {
		return TaskTimes{Zone: zone, when: t.When.In(zone)}, nil
	}
	c, err := schedule.ParseCron(t.Cron, zone)
	return TaskTimes{Zone: zone, cron: c, repeats: true}, err
}

// Digest is another one whenever anything of the task is.
func (t Task) Digest() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		t.ID, t.Title, t.Mark(), string(t.CatchUp), string(t.ChatKey), t.Say, t.Body,
	}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Mark is another one whenever the times of a task are: what was missed before that
// is not made up for.
func (t Task) Mark() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{t.Cron, t.When.UTC().Format(time.RFC3339Nano), t.Zone, string(t.Status)}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// TaskTimes are the times of a task.
type TaskTimes struct {
	Zone    *time.Location
	cron    schedule.Cron
	when    time.Time
	repeats bool
}

// Repeats is false for a single time.
func (t TaskTimes) Repeats() bool { return t.repeats }

// Next is the first time after the given one; false: there is none.
func (t TaskTimes) Next(after time.Time) (time.Time, bool) {
	if t.repeats {
		return t.cron.Next(after)
	}
	return t.when, t.when.After(after)
}

// Upcoming are the next n times after the given one, or fewer.
func (t TaskTimes) Upcoming(after time.Time, n int) []time.Time {
	if t.repeats {
		return t.cron.Upcoming(after, n)
	}
	if t.when.After(after) {
		return []time.Time{t.when}
	}
	return nil
}

// Missed are the times after one and not after another: the newest, and how many.
func (t TaskTimes) Missed(after, until time.Time) (newest time.Time, count int) {
	switch {
	case t.repeats:
		return t.cron.Missed(after, until)
	case t.when.After(after) && !t.when.After(until):
		return t.when, 1
	}
	return time.Time{}, 0
}

// MaxTaskID is the longest id of a task.
const MaxTaskID = 64

// CheckTaskID says what is wrong with an id: it names a file and is part of a chat key.
func CheckTaskID(id string) error {
	ok := id != "" && len(id) <= MaxTaskID && id[0] != '-'
	for _, r := range id {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}
	if !ok {
		return fmt.Errorf("%q cannot name a task; use a to z, 0 to 9 and -, at most %d of them", ShortText(id, MaxTaskID), MaxTaskID)
	}
	return nil
}

// ShortText is a text in one line and of at most n characters.
func ShortText(text string, n int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n]) + "…"
	}
	return text
}

// TaskProblem is a task that cannot be read.
type TaskProblem struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 0: the whole of it
	What string `json:"what"`
	Hint string `json:"hint"`
}

// String is the problem in one line, for people.
func (p TaskProblem) String() string {
	place := p.Path
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return place + ": " + p.What + "; " + p.Hint
}

// TaskStore keeps tasks: files that people read and edit. A nil error means durable.
// It is safe for concurrent use, also by several processes.
type TaskStore interface {
	// Tasks are all tasks in the order of their ids, and those that cannot be read.
	Tasks(ctx context.Context) ([]Task, []TaskProblem, error)
	// AddTask adds a task, or fails with [ErrTaskExists].
	AddTask(ctx context.Context, t Task) error
	// SetTaskStatus changes the status and nothing else, or fails with [ErrTask].
	SetTaskStatus(ctx context.Context, id string, status TaskStatus) error
	// ChangeTask puts what change makes of a task in its place, or fails with [ErrTask].
	// The id stays. An error of change leaves the task as it is and is returned.
	ChangeTask(ctx context.Context, id string, change func(Task) (Task, error)) error
	// TaskNumbers are the numbers by which people of a chat name its tasks, by the ids of
	// these. A task that has none is given the next one; none is given twice.
	TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error)
	// RemoveTask removes a task, or fails with [ErrTask].
	RemoveTask(ctx context.Context, id string) error
}

// FireLog keeps what became of the times of tasks. Forced when it returns; only
// one process writes it.
type FireLog interface {
	// Fires are the records so far, the oldest first.
	Fires(ctx context.Context) ([]Fire, error)
	AddFires(ctx context.Context, fires ...Fire) error
}

// FireIs is what a record of the fire log says.
type FireIs string

// The kinds of records. Every fire is started, or skipped, once.
const (
	// FireSeen: from here on a task has the times that its Mark stands for.
	FireSeen FireIs = "seen"
	// FireStarted: durable before anything happens.
	FireStarted FireIs = "started"
	// FireSkipped: nothing happens at that time, for the reason that is given.
	FireSkipped FireIs = "skipped"
	// FireWaits: people were told that the run waits for a person's decision.
	FireWaits FireIs = "waits"
	// FireEnded: the run has ended; Text is what is to be delivered.
	FireEnded FireIs = "ended"
	// FireSettled: nothing is left to do.
	FireSettled FireIs = "settled"
)

// Reasons why a time was skipped.
const (
	SkipMissed  = "missed"  // no host was up
	SkipOverlap = "overlap" // the task was still under way
)

// Fire is one record of the fire log.
type Fire struct {
	V    int       `json:"v"`
	Is   FireIs    `json:"is"`
	At   time.Time `json:"at"`
	Task string    `json:"task"`
	// ID names the fire: the task and the planned time, and only that.
	ID      string           `json:"id,omitempty"`
	Planned time.Time        `json:"planned,omitzero"`
	Mark    string           `json:"mark,omitempty"`
	Title   string           `json:"title,omitempty"`
	ChatKey messages.ChatKey `json:"chatKey,omitempty"`
	Say     string           `json:"say,omitempty"`
	Body    string           `json:"body,omitempty"`
	Zone    string           `json:"zone,omitempty"`
	// Text is what people are to be told.
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
	Result string `json:"result,omitempty"`
	Count  int    `json:"count,omitempty"` // times that are skipped with it
	By     string `json:"by,omitempty"`    // who ran it by hand
}

// FireID names the fire of a task at a planned time.
func FireID(task string, planned time.Time) string {
	return task + "-" + planned.UTC().Format("20060102T150405Z")
}

// FireChat is the chat that a fire runs in.
func FireChat(id string) messages.ChatKey { return messages.ChatKey("task-" + id) }

// LastFires is what the newest start or skip of each task was, and how it ended.
func LastFires(fires []Fire) map[string]Fire {
	out := map[string]Fire{}
	for _, f := range fires {
		switch f.Is {
		case FireStarted, FireSkipped:
			out[f.Task] = f
		case FireEnded, FireSettled:
			if last := out[f.Task]; last.ID == f.ID {
				last.Result, last.Reason = cmp.Or(f.Result, last.Result), cmp.Or(f.Reason, last.Reason)
				out[f.Task] = last
			}
		case FireSeen, FireWaits:
		}
	}
	return out
}
