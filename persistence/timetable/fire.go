package timetable

import (
	"cmp"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// FireKind is the kind of a record of the fire log.
type FireKind string

// The kinds of records. Every fire is started or skipped exactly once.
const (
	// FireSeen means that from now on a task has the times that its Mark identifies.
	FireSeen FireKind = "seen"
	// FireStarted is durable before anything else happens.
	FireStarted FireKind = "started"
	// FireSkipped means that nothing happens at that time, for the given reason.
	FireSkipped FireKind = "skipped"
	// FireWaits means that the run waits for a person's decision, and that people know if there is a chat to tell them in.
	FireWaits FireKind = "waits"
	// FireEnded means that the run has ended; Text is the text to deliver.
	FireEnded FireKind = "ended"
	// FireSettled means that no work is left.
	FireSettled FireKind = "settled"
)

// Reasons why a time was skipped.
const (
	SkipMissed  = "missed"  // no host was running
	SkipOverlap = "overlap" // the task was still running
)

// Fire is one record of the fire log.
type Fire struct {
	V    int       `json:"v"`
	Is   FireKind  `json:"is"`
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

// FireByHand names the fire of a task that somebody starts at a time.
func FireByHand(task string, now time.Time) string { return FireID(task, now) + byHand }

const byHand = "-by-hand"

// TaskOf is the task that runs in a chat of its own.
func TaskOf(key messages.ChatKey) (task string, ok bool) {
	id, ok := strings.CutPrefix(string(key), string(FireChat("")))
	id = strings.TrimSuffix(id, byHand)
	at := strings.LastIndexByte(id, '-')
	if !ok || at <= 0 {
		return "", false
	}
	return id[:at], true
}

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
