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
	// ErrTask means that there is no such task.
	ErrTask = errors.New("there is no such task")
	// ErrTaskExists means that a task with that id already exists.
	ErrTaskExists = errors.New("there is a task of that name already")
)

// TaskStatus says whether a task runs at its times.
type TaskStatus string

// The states of tasks.
const (
	TaskActive TaskStatus = "active"
	TaskPaused TaskStatus = "paused" // people may still run it
	TaskDone   TaskStatus = "done"   // a single time that has passed
)

// CatchUp says what to do about times that passed while no host was running.
type CatchUp string

// The policies. By default the newest missed time is made up for, if it is younger than the
// interval between two.
const (
	CatchUpOnce CatchUp = "once"
	CatchUpSkip CatchUp = "skip" // missed times are not made up for
)

// Task is something to do or to say at certain times.
type Task struct {
	ID    string
	Title string
	// Cron or When is set, and defines the times.
	Cron string
	When time.Time
	// Zone is the name of the time zone; if empty, the project's.
	Zone string
	// ChatKey is the chat that gets the outcome; if empty, no chat does.
	ChatKey messages.ChatKey
	// MadeBy is the person who asked for it in a chat, as from [messages.PersonKey]; if empty, the
	// operator made it.
	MadeBy  string
	Status  TaskStatus
	CatchUp CatchUp
	// Say is sent unchanged, without a model. Otherwise Body contains the instructions.
	Say  string
	Body string
}

// Schedule returns when a task is due; home is the zone of a task without one.
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

// Digest changes whenever anything in the task changes.
func (t Task) Digest() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		t.ID, t.Title, t.Mark(), string(t.CatchUp), string(t.ChatKey), t.Say, t.Body,
	}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Mark changes whenever the times of a task change: times missed before that are not made up for.
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

// Next is the first time after the given one, or false if there is none.
func (t TaskTimes) Next(after time.Time) (time.Time, bool) {
	if t.repeats {
		return t.cron.Next(after)
	}
	return t.when, t.when.After(after)
}

// Upcoming returns the next n times after the given one, or fewer.
func (t TaskTimes) Upcoming(after time.Time, n int) []time.Time {
	if t.repeats {
		return t.cron.Upcoming(after, n)
	}
	if t.when.After(after) {
		return []time.Time{t.when}
	}
	return nil
}

// Missed counts the times after one time and not after another, and returns the newest.
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

// CheckTaskID says what is wrong with an id, which is used in a file name and in a chat key.
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

// ShortText is a text in one line, truncated to n characters.
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
	Line int    `json:"line,omitempty"` // 0 means the whole file
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

// TaskStore stores tasks: files that people read and edit. A nil error means durable. It is safe
// for concurrent use, also by several processes.
type TaskStore interface {
	// Tasks returns all tasks in the order of their ids, and those that cannot be read.
	Tasks(ctx context.Context) ([]Task, []TaskProblem, error)
	// AddTask adds a task, or fails with [ErrTaskExists].
	AddTask(ctx context.Context, t Task) error
	// SetTaskStatus changes the status and nothing else, or fails with [ErrTask].
	SetTaskStatus(ctx context.Context, id string, status TaskStatus) error
	// ChangeTask replaces a task with the result of change, or fails with [ErrTask]. The id does not
	// change. An error of change is returned, and the task stays as it is.
	ChangeTask(ctx context.Context, id string, change func(Task) (Task, error)) error
	// TaskNumbers returns the numbers by which people of a chat refer to its tasks, by task id. A
	// task without a number gets the next one; numbers are not reused.
	TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error)
	// RemoveTask removes a task, or fails with [ErrTask].
	RemoveTask(ctx context.Context, id string) error
}

// FireLog stores what became of the times of tasks. Its writes are durable when they return; only
// one process may write it.
type FireLog interface {
	// Fires returns the records so far, the oldest first.
	Fires(ctx context.Context) ([]Fire, error)
	AddFires(ctx context.Context, fires ...Fire) error
}

// FireIs is the kind of a record of the fire log.
type FireIs string

// The kinds of records. Every fire is started or skipped exactly once.
const (
	// FireSeen means that from now on a task has the times that its Mark identifies.
	FireSeen FireIs = "seen"
	// FireStarted is durable before anything else happens.
	FireStarted FireIs = "started"
	// FireSkipped means that nothing happens at that time, for the given reason.
	FireSkipped FireIs = "skipped"
	// FireWaits means that people know that the run waits for a decision.
	FireWaits FireIs = "waits"
	// FireEnded means that the run has ended; Text is the text to deliver.
	FireEnded FireIs = "ended"
	// FireSettled means that no work is left.
	FireSettled FireIs = "settled"
)

// Reasons why a time was skipped.
const (
	SkipMissed  = "missed"  // no host was running
	SkipOverlap = "overlap" // the task was still running
)

// Fire is one record of the fire log.
type Fire struct {
	V    int       `json:"v"`
	Is   FireIs    `json:"is"`
	At   time.Time `json:"at"`
	Task string    `json:"task"`
	// ID names the fire by nothing but the task and the planned time.
	ID      string           `json:"id,omitempty"`
	Planned time.Time        `json:"planned,omitzero"`
	Mark    string           `json:"mark,omitempty"`
	Title   string           `json:"title,omitempty"`
	ChatKey messages.ChatKey `json:"chatKey,omitempty"`
	Say     string           `json:"say,omitempty"`
	Body    string           `json:"body,omitempty"`
	Zone    string           `json:"zone,omitempty"`
	// Text is the text for people.
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason,omitempty"`
	Result string `json:"result,omitempty"`
	Count  int    `json:"count,omitempty"` // times that are skipped with it
	By     string `json:"by,omitempty"`    // who started it by hand
}

// FireID names the fire of a task at a planned time.
func FireID(task string, planned time.Time) string {
	return task + "-" + planned.UTC().Format("20060102T150405Z")
}

// FireChat is the chat that a fire runs in.
func FireChat(id string) messages.ChatKey { return messages.ChatKey("task-" + id) }

// LastFires returns the newest start or skip of each task, and how it ended.
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
