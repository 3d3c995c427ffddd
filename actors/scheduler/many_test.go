package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/scheduler"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// crowd is many tasks and their fire log, in memory.
type crowd struct {
	persistence.TaskStore
	tasks []timetable.Task

	mu      sync.Mutex
	fires   []timetable.Fire
	settled int
	all     chan struct{} // closed when every task is settled
}

func (c *crowd) Tasks(context.Context) ([]timetable.Task, []timetable.Problem, error) {
	return c.tasks, nil, nil
}

func (c *crowd) Task(id string) (timetable.Task, error) {
	i, ok := sort.Find(len(c.tasks), func(i int) int { return strings.Compare(id, c.tasks[i].ID) })
	if !ok {
		return timetable.Task{}, persistence.ErrTask
	}
	return c.tasks[i], nil
}

func (c *crowd) Fires(context.Context) ([]timetable.Fire, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fires, nil
}

func (c *crowd) AddFires(_ context.Context, fires ...timetable.Fire) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fires = append(c.fires, fires...)
	for _, f := range fires {
		if f.Is == timetable.FireSettled {
			if c.settled++; c.settled == len(c.tasks) {
				close(c.all)
			}
		}
	}
	return nil
}

// chats answers in the place of all chats.
func chats(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case messages.AcceptIngress:
		ac.Respond(messages.IngressAccepted{ChatKey: msg.ChatKey})
	case messages.ViewQuery:
		meta := uimessage.Metadata{Result: "done"}
		ac.Respond(messages.ViewReply{ChatKey: msg.ChatKey, Messages: []uimessage.Message{{
			Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "did it"}}, Metadata: meta.Append(nil),
		}}})
	case messages.PostWords:
		ac.Respond(messages.WordsPosted{ChatKey: msg.ChatKey, PostID: msg.PostID})
	}
}

// spent is the time that n tasks at the same minute take.
func spent(t *testing.T, n int, change func(*timetable.Task)) time.Duration {
	t.Helper()
	c := &crowd{all: make(chan struct{})}
	for i := range n {
		task := timetable.Task{
			ID: fmt.Sprintf("t%05d", i), Title: "Report", Cron: "0 9 * * *", Zone: "Europe/Berlin", ChatKey: messages.ChatKey(fmt.Sprintf("telegram-chat-%d", i)),
			Status: timetable.Active, CatchUp: timetable.CatchUpOnce, Say: "Report, please.",
		}
		change(&task)
		c.tasks = append(c.tasks, task)
	}
	var clock atomic.Int64
	clock.Store(time.Date(2026, 7, 1, 6, 59, 0, 0, time.UTC).UnixNano())
	quiet := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	defer system.Shutdown()
	router := system.Root.Spawn(actor.PropsFromFunc(chats))
	pid := system.Root.Spawn(scheduler.Props(scheduler.Options{
		Tasks: c, Log: c, Router: router, Zone: time.UTC, Now: func() time.Time { return time.Unix(0, clock.Load()) }, Logger: quiet,
	}))
	// The tasks are seen before their time comes.
	if _, err := system.Root.RequestFuture(pid, messages.RunTask{TaskID: "none"}, time.Minute).Result(); err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	clock.Add(int64(time.Minute))
	system.Root.Send(pid, messages.TasksChanged{})
	<-c.all
	return time.Since(before)
}

// What a task costs does not grow with the number of the others. If it did, these would take a minute.
func TestManyTasksAtTheSameMinute(t *testing.T) {
	for name, change := range map[string]func(*timetable.Task){
		"reminders":    func(*timetable.Task) {},
		"instructions": func(t *timetable.Task) { t.Say, t.Body = "", "Report." },
	} {
		if few, many := spent(t, 200, change), spent(t, 1600, change); many > 30*max(few, 200*time.Millisecond) {
			t.Errorf("%s: 200 tasks took %s, 1600 tasks %s", name, few, many)
		}
	}
}
