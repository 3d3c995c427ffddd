package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// TestCL9KillsWhileTasksAreTold kills the process while a task is due: around the record of its fire, while the model
// works on it, and around the send of its text. Each time is started once, one run is begun, and the text reaches the
// chat. A kill causes at most one copy, and the ledger says so. A time that is reached while the task is still running
// is skipped, once.
func TestCL9KillsWhileTasksAreTold(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(2, 4), few(5, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newTaskWorld(t, path, random)
		for n := range kills {
			if n%2 == 0 && n > 0 { // a run that is killed three times is given up
				w.settle(t)
				w.stop(t)
			}
			w.killTask(t, &sum)
		}
		w.check(t, &sum)
		sum.add("kills", w.kills)
	})
	sum.report(t, "CL9")
}

// kindOf tasks; each is known by the token of its words.
type kindOf int

const (
	saying   kindOf = iota // a text that is sent as it is
	doing                  // the model works on it
	delayed                // a text, a moment after the host has started
	twice                  // two times have passed; the first one is under way
	taskKind               // how many kinds there are
)

// taskWorld is a killWorld with tasks that report to its one chat.
type taskWorld struct {
	*killWorld
	model *interrupted
	zone  *time.Location
	tasks map[string]kindOf // by token; the id of a task is its token
	maybe int               // kills that may have left a copy
}

// interrupted is a model that something happens to while it works on certain words.
type interrupted struct {
	mu    sync.Mutex
	words string
	fire  func()
}

func (m *interrupted) at(words string, fire func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.words, m.fire = words, fire
}

func (m *interrupted) answer(req model.Request) []model.Event {
	raw, _ := json.Marshal(req.Messages) // no words: nothing happens
	m.mu.Lock()
	fire := m.fire
	if fire != nil && strings.Contains(string(raw), m.words) {
		m.fire = nil
	} else {
		fire = nil
	}
	m.mu.Unlock()
	if fire != nil {
		fire()
	}
	return acknowledge(req)
}

func newTaskWorld(t *testing.T, path string, random *rand.Rand) *taskWorld {
	t.Helper()
	m := &interrupted{}
	return &taskWorld{
		killWorld: newKillWorld(t, path, 1, "direct", modeltest.NewFunc(m.answer), random), model: m, zone: agentdir.Zone(""), tasks: map[string]kindOf{},
	}
}

func (w *taskWorld) state() string { return filepath.Join(w.telegramWorld.dir, ".ship") }

// add writes a task that is due as soon as a host looks. None runs meanwhile.
func (w *taskWorld) add(t *testing.T, kind kindOf) (token string) {
	t.Helper()
	token = fmt.Sprintf("m-1-%d", len(w.tasks))
	w.tasks[token] = kind
	now := time.Now()
	task := timetable.Task{ID: token, Title: "Task", ChatKey: "telegram-chat-1", When: now.Add(-time.Second).Truncate(time.Second)}
	switch kind {
	case saying:
		task.Say = "remember " + token
	case doing:
		task.Body = "do " + token
	case delayed:
		task.Say, task.When = "later "+token, now.Add(2*time.Second).Truncate(time.Second)
	default:
		task.Body = "do " + token
		w.addTwice(t, task, now)
		return token
	}
	stdtest.Must(t, taskfile.New(w.state(), w.zone).AddTask(t.Context(), task))
	return token
}

// addTwice writes a task with a fire that was begun a moment before a crash, and whose
// next time has come since.
func (w *taskWorld) addTwice(t *testing.T, task timetable.Task, now time.Time) {
	t.Helper()
	second := now.UTC().Truncate(time.Minute)
	first := second.Add(-time.Minute)
	task.When, task.Zone = time.Time{}, "UTC"
	// Of the times of such a schedule only these two are near.
	task.Cron = fmt.Sprintf("%d,%d %d,%d %d,%d * *", first.Minute(), second.Minute(), first.Hour(), second.Hour(), first.Day(), second.Day())
	log := taskfile.NewLog(w.state())
	begun := timetable.Fire{
		V: 1, Is: timetable.FireStarted, At: first, Task: task.ID, ID: timetable.FireID(task.ID, first), Planned: first,
		Title: task.Title, ChatKey: task.ChatKey, Body: task.Body, Zone: "UTC",
	}
	seen := timetable.Fire{V: 1, Is: timetable.FireSeen, At: first.Add(-time.Minute), Task: task.ID}
	task.Status = timetable.Active
	seen.Mark = task.Mark()
	stdtest.Must(t, taskfile.New(w.state(), w.zone).AddTask(t.Context(), task))
	stdtest.Must(t, log.AddFires(t.Context(), seen, begun))
	stdtest.Must(t, log.Close())
}

// killTask adds a task and kills the host at a moment of it.
func (w *taskWorld) killTask(t *testing.T, sum *tally) {
	t.Helper()
	kind := (twice + kindOf(len(w.tasks))) % taskKind
	token := w.add(t, kind)
	way := w.random.IntN(6)
	if kind == saying || kind == delayed {
		way = min(way, 4)
	}
	switch way {
	case 4: // anywhere
		w.start(t)
		pause(time.Duration(w.random.Int64N(int64(3 * time.Second))))
		w.kill()
		w.maybe++ // it may have been within a send
		w.bury(t)
		sum.add("at_random", 1)
	case 5: // in the run
		dead := make(chan struct{})
		w.model.at(token, func() { w.kill(); close(dead) })
		w.start(t)
		select {
		case <-dead:
		case <-time.After(30 * time.Second):
			t.Fatalf("kill %d: the model was not asked about %s", w.kills, token)
		}
		w.maybe++ // of another task
		w.bury(t)
		sum.add("at_model", 1)
	default:
		at := phase(way)
		if at != arrived {
			w.maybe++
		}
		w.killAt(t, trap{at: at, wants: sends(token)}, nil)
		sum.add("at_"+at.String(), 1)
	}
}

func (w *taskWorld) fires(t *testing.T) []timetable.Fire {
	t.Helper()
	fires, err := taskfile.NewLog(w.state()).Fires(t.Context())
	stdtest.Must(t, err)
	return fires
}

// settle starts the host and waits until all due tasks have reported.
func (w *taskWorld) settle(t *testing.T) {
	t.Helper()
	w.start(t)
	w.ready(t)
	faketest.Poll(t, "every fire to be settled", func() bool {
		open := map[string]bool{}
		begun := map[string]bool{}
		for _, f := range w.fires(t) {
			switch f.Is {
			case timetable.FireStarted:
				open[f.ID], begun[f.Task] = true, true
			case timetable.FireSettled:
				delete(open, f.ID)
			case timetable.FireSeen, timetable.FireSkipped, timetable.FireWaits, timetable.FireEnded:
			}
		}
		if len(open) > 0 || len(begun) < len(w.tasks) {
			return false
		}
		var b book
		w.query(t, &b, "chats", "show", "--json", "--", "telegram-chat-1")
		return b.Counts.Pending == 0 && !b.Running
	})
}

// check holds everything against what was written into tasks.
func (w *taskWorld) check(t *testing.T, sum *tally) {
	t.Helper()
	w.settle(t)
	w.stop(t)
	texts := w.checkCopies(t, w.book(t, "telegram-chat-1"), w.maybe, sum)
	told := map[string]int{}
	for _, text := range texts {
		found := token.FindAllString(text, -1)
		if len(found) != 1 {
			t.Errorf("somebody was told %q", text)
			continue
		}
		told[found[0]]++
	}
	started, skipped, ids := map[string]int{}, map[string]int{}, map[string]string{}
	for _, f := range w.fires(t) {
		switch f.Is {
		case timetable.FireStarted:
			started[f.Task]++
			ids[f.Task] = f.ID
		case timetable.FireSkipped:
			skipped[f.Task]++
			if f.Reason != timetable.SkipOverlap {
				t.Errorf("a time of %s was left out: %s", f.Task, f.Reason)
			}
		case timetable.FireSeen, timetable.FireWaits, timetable.FireEnded, timetable.FireSettled:
		}
	}
	all, _, err := taskfile.New(w.state(), w.zone).Tasks(t.Context())
	if err != nil || len(all) != len(w.tasks) {
		t.Fatalf("%d tasks, error %v; want %d", len(all), err, len(w.tasks))
	}
	for _, task := range all {
		kind := w.tasks[task.ID]
		overlaps := 0
		if kind == twice {
			overlaps = 1
		} else if task.Status != timetable.Done {
			t.Errorf("%s is %s, want done", task.ID, task.Status)
		}
		if told[task.ID] == 0 {
			sum.add("lost", 1)
		}
		sum.add("doubled", max(0, told[task.ID]-1)+max(0, started[task.ID]-1))
		if told[task.ID] != 1 || started[task.ID] != 1 || skipped[task.ID] != overlaps {
			t.Errorf("%s (kind %d): told %d times, started %d times, left out %d times; want 1, 1, %d", task.ID, kind, told[task.ID], started[task.ID], skipped[task.ID], overlaps)
		}
		if kind == doing || kind == twice {
			w.ranOnce(t, task.ID, string(timetable.FireChat(ids[task.ID])))
		}
	}
	sum.add("acknowledged", len(w.tasks))
	sum.add("overlaps", len(skipped))
}

// ranOnce: the chat of a fire was asked once and has one answer.
func (w *taskWorld) ranOnce(t *testing.T, task, key string) {
	t.Helper()
	b := w.book(t, key)
	b.balanced(t, key, 1)
	if len(b.users) != 1 || !strings.Contains(b.users[0], task) || b.Counts.Fates[string(journal.FateAnswered)] != 1 {
		t.Errorf("%s holds %q with the fates %v, want the task once, answered", key, b.users, b.Counts.Fates)
	}
}
