// Package timetable is what is said or done at certain times: tasks, the times at which they are
// due, and the fires, which are the records of the outcomes of these times.
//
// It is pure. Stores of both are in package persistence; package scheduler starts the tasks.
package timetable

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
)

// Status says whether a task runs at its times.
type Status string

// The states of tasks.
const (
	Active Status = "active"
	Paused Status = "paused" // people may still run it
	Done   Status = "done"   // a single time that has passed
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
	MadeBy string
	// ChatType is the type of that chat if it was made in a group, whose id may not show that.
	ChatType string
	Status   Status
	// StoppedBy is the person who paused or cancelled it; if empty, the operator did.
	StoppedBy string
	CatchUp   CatchUp
	// Say is sent unchanged, without a model. Otherwise Body contains the instructions.
	Say  string
	Body string
}

// Schedule returns when a task is due; home is the zone of a task without one.
func (t Task) Schedule(home *time.Location) (Times, error) {
	zone := home
	if t.Zone != "" {
		var err error
		if zone, err = schedule.ParseZone(t.Zone); err != nil {
			return Times{}, err
		}
	}
	if t.Cron == "" {
		return Times{Zone: zone, when: t.When.In(zone)}, nil
	}
	c, err := schedule.ParseCron(t.Cron, zone)
	return Times{Zone: zone, cron: c, repeats: true}, err
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

// Times are the times of a task.
type Times struct {
	Zone    *time.Location
	cron    schedule.Cron
	when    time.Time
	repeats bool
}

// Repeats is false for a single time.
func (t Times) Repeats() bool { return t.repeats }

// Next is the first time after the given one, or false if there is none.
func (t Times) Next(after time.Time) (time.Time, bool) {
	if t.repeats {
		return t.cron.Next(after)
	}
	return t.when, t.when.After(after)
}

// Upcoming returns the next n times after the given one, or fewer.
func (t Times) Upcoming(after time.Time, n int) []time.Time {
	if t.repeats {
		return t.cron.Upcoming(after, n)
	}
	if t.when.After(after) {
		return []time.Time{t.when}
	}
	return nil
}

// Missed counts the times after one time and not after another, and returns the newest.
func (t Times) Missed(after, until time.Time) (newest time.Time, count int) {
	switch {
	case t.repeats:
		return t.cron.Missed(after, until)
	case t.when.After(after) && !t.when.After(until):
		return t.when, 1
	}
	return time.Time{}, 0
}

// MaxID is the longest id of a task.
const MaxID = 64

// CheckID says what is wrong with an id, which is used in a file name and in a chat key.
func CheckID(id string) error {
	ok := id != "" && len(id) <= MaxID && id[0] != '-'
	for _, r := range id {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-')
	}
	if !ok {
		return fmt.Errorf("%q cannot name a task; use a to z, 0 to 9 and -, at most %d of them", ShortText(id, MaxID), MaxID)
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

// Problem is a task that cannot be read.
type Problem struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 0 means the whole file
	What string `json:"what"`
	Hint string `json:"hint"`
}

// String is the problem in one line, for people.
func (p Problem) String() string {
	place := p.Path
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", p.Path, p.Line)
	}
	return place + ": " + p.What + "; " + p.Hint
}
