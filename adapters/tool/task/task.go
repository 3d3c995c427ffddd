// Package task has the tools task_list, task_create, task_update, task_cancel and task_run. They see and change only
// the tasks of their own chat. What is created, changed or run acts later without a person watching, so these calls
// need approval, with the times and the exact text shown. Only people's reminders to themselves need none, see
// [Create.CheckCall]. Pausing, resuming and canceling need no approval either; they can be undone, and are allowed only
// to those who decide in the chat and, unless somebody else has stopped it, to the person who created the task.
package task

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// The names of the tools.
const (
	ListName   = "task_list"
	CreateName = "task_create"
	UpdateName = "task_update"
	CancelName = "task_cancel"
	RunName    = "task_run"
)

const (
	// upcoming is how many of the next times are shown to people and models.
	upcoming = 3
	// maxPerChat is how many open tasks a chat may have.
	maxPerChat = 50
	// maxTitle is the longest title in characters.
	maxTitle = 100
)

// Options configure the tools. All but Now are required.
type Options struct {
	Tasks persistence.TaskStore
	// Changed is called after a task was created, changed or cancelled.
	Changed func()
	// Check validates a task before approval is requested.
	Check func(timetable.Task) error
	// Run starts a task now and returns the id of its fire.
	Run func(ctx context.Context, id, by string) (fire string, err error)
	// May reports whether the asker of a run may change a task.
	May  func(run tool.Run, t timetable.Task) bool
	Zone *time.Location   // for tasks without a zone of their own
	Now  func() time.Time // defaults to time.Now
}

// Tools returns the tools of this package.
func Tools(o Options) []tool.Tool {
	if o.Now == nil {
		o.Now = time.Now
	}
	described := func(file string, s *tool.Spec) tool.Described {
		s.Deadline = 20 * time.Second
		return tool.DescribedBy(docs, file, s)
	}
	return []tool.Tool{
		&List{described("list", &tool.Spec{Name: ListName, Title: "List tasks", ReadOnly: true, Repeatable: true}), o},
		// A repeated call finds the task that it created before.
		&Create{described("create", &tool.Spec{Name: CreateName, Title: "Create a task", Ordered: true, Repeatable: true}), o},
		&Update{followUp{described("update", &tool.Spec{Name: UpdateName, Title: "Change a task", Ordered: true}), o}},
		&Cancel{followUp{described("cancel", &tool.Spec{Name: CancelName, Title: "Cancel a task", Ordered: true, Repeatable: true}), o}},
		&Run{followUp{described("run", &tool.Spec{Name: RunName, Title: "Run a task now", Asks: true, Ordered: true}), o}},
	}
}

// followUp is a tool for tasks that exist.
type followUp struct {
	tool.Described

	opts Options
}

func (f *followUp) Useful(chat messages.ChatKey) bool { return f.opts.Tasks.HadTasks(chat) }

//go:embed *.md *.schema.json
var docs embed.FS

// List is the tool task_list.
type List struct {
	tool.Described

	opts Options
}

// line is a task as shown to the model.
type line struct {
	ID       string           `json:"taskId"`
	Number   int              `json:"number,omitempty"` // the number that people use
	Title    string           `json:"title"`
	Status   timetable.Status `json:"status"`
	Cron     string           `json:"cron,omitempty"`
	When     string           `json:"when,omitempty"`
	Timezone string           `json:"timezone"`
	Next     []string         `json:"next"`
	Does     string           `json:"does"`
}

// describe describes a task at a time.
func describe(t timetable.Task, home *time.Location, now time.Time) (line, error) {
	times, err := t.Schedule(home)
	if err != nil {
		return line{}, err
	}
	out := line{ID: t.ID, Title: t.Title, Status: t.Status, Cron: t.Cron, Timezone: times.Zone.String(), Next: []string{}, Does: timetable.ShortText(t.Body, 200)}
	if t.Cron == "" {
		out.When = stamp(t.When, times.Zone)
	}
	if t.Say != "" {
		out.Does = "say: " + timetable.ShortText(t.Say, 200)
	}
	if t.Status == timetable.Active {
		for _, at := range times.Upcoming(now, upcoming) {
			out.Next = append(out.Next, stamp(at, times.Zone))
		}
	}
	return out, nil
}

// stamp is a time with its weekday and zone.
func stamp(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("Mon 2006-01-02 15:04 MST")
}

// Invoke implements [tool.Tool].
func (l *List) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct{ Status timetable.Status }
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	all, err := ofChat(ctx, l.opts.Tasks, call.Run.ChatKey)
	if err != nil {
		return tool.Result{}, err
	}
	out := struct {
		Now   string `json:"now"`
		Tasks []line `json:"tasks"`
	}{stamp(l.opts.Now(), l.opts.Zone), []line{}}
	numbers, err := l.opts.numbers(ctx, call.Run.ChatKey, all...)
	if err != nil {
		return tool.Result{}, err
	}
	for _, t := range all {
		if in.Status != "" && t.Status != in.Status {
			continue
		}
		d, err := describe(t, l.opts.Zone, l.opts.Now())
		if err != nil { // Unreachable: the store has checked it
			continue
		}
		d.Number = numbers[t.ID]
		out.Tasks = append(out.Tasks, d)
	}
	return result(out, fmt.Sprintf("%d tasks", len(out.Tasks)))
}

// numbers returns the numbers that people of a chat use for these tasks.
func (o Options) numbers(ctx context.Context, key messages.ChatKey, tasks ...timetable.Task) (map[string]int, error) {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	numbers, err := o.Tasks.TaskNumbers(ctx, key, ids)
	if err != nil {
		return nil, fmt.Errorf("number the tasks: %w", err)
	}
	return numbers, nil
}

// ofChat are the tasks of a chat.
func ofChat(ctx context.Context, store persistence.TaskStore, key messages.ChatKey) ([]timetable.Task, error) {
	all, _, err := store.Tasks(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tasks: %w", err)
	}
	var out []timetable.Task
	for _, t := range all {
		if t.ChatKey == key {
			out = append(out, t)
		}
	}
	return out, nil
}

// find returns a task of a chat; tasks of other chats are not found.
func find(ctx context.Context, store persistence.TaskStore, key messages.ChatKey, id string) (timetable.Task, error) {
	all, err := ofChat(ctx, store, key)
	if err != nil {
		return timetable.Task{}, err
	}
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
	}
	return timetable.Task{}, fmt.Errorf("%w: /taskId: this chat has no task %q; task_list shows them", tool.ErrInput, timetable.ShortText(id, timetable.MaxID))
}

func result(out any, summary string) (tool.Result, error) {
	return tool.Answer(out, timetable.ShortText(summary, 400))
}
