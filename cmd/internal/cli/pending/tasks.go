package pending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Tasks is the command tasks with its subcommands. They work on the files of the tasks, which a running host follows.
func Tasks(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "tasks", Short: "List, add, run and pause scheduled tasks",
		Long: "A task is a file .ship/tasks/ID.md: when it is due, for which chat, and what to do or to say. The host follows changes\n" +
			"of these files while it is running.",
		Example: "  sma tasks list\n  sma tasks add standup --title Stand-up --cron \"0 9 * * 1-5\" --chat telegram-chat-42 --say \"What is next?\"\n  sma tasks pause standup",
	}, tasksListCmd(a), tasksShowCmd(a), tasksAddCmd(a), tasksRemoveCmd(a), tasksRunCmd(a), tasksStatusCmd(a, timetable.Paused),
		tasksStatusCmd(a, timetable.Active))
}

type tasks struct {
	store *taskfile.Store
	zone  *time.Location
	state string
}

func openTasks(a *console.Console) (tasks, error) {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return tasks{}, err
	}
	loaded, err := a.Load(dir, false)
	if err != nil {
		return tasks{}, err
	}
	return tasks{host.TaskStore(state, loaded.Settings.Timezone), agentdir.Zone(loaded.Settings.Timezone), state}, nil
}

// taskLine is a task as JSON. Members are only ever added.
type taskLine struct {
	ID       string            `json:"taskId"`
	Title    string            `json:"title"`
	Status   timetable.Status  `json:"status"`
	Cron     string            `json:"cron,omitempty"`
	When     *time.Time        `json:"when,omitempty"`
	Timezone string            `json:"timezone"`
	ChatKey  messages.ChatKey  `json:"chatKey,omitempty"`
	Name     string            `json:"name,omitempty"` // what people call the chat
	CatchUp  timetable.CatchUp `json:"catchUp"`
	Next     []time.Time       `json:"next"`
	Last     *taskFire         `json:"last,omitempty"`
	Say      string            `json:"say,omitempty"`
	Body     string            `json:"instructions,omitempty"`
	Path     string            `json:"path"`
}

// taskFire is the last time that a task was due.
type taskFire struct {
	Planned time.Time        `json:"planned"`
	Result  string           `json:"result"`
	ChatKey messages.ChatKey `json:"chatKey,omitempty"` // that it ran in
}

// lines are the tasks with their next times, and those that cannot be read.
func (t tasks) lines(ctx context.Context) ([]taskLine, []timetable.Problem, error) {
	all, problems, err := t.store.Tasks(ctx)
	if err != nil {
		return nil, nil, &console.Failure{Code: console.CodeFailed, What: "the tasks cannot be read", Why: err, Help: "sma doctor"}
	}
	fires, err := host.TaskFires(t.state).Fires(ctx)
	if err != nil {
		return nil, nil, &console.Failure{Code: console.CodeFailed, What: "the log of the tasks cannot be read", Why: err, Help: "sma doctor"}
	}
	last, now := timetable.LastFires(fires), time.Now()
	out := []taskLine{}
	for _, task := range all {
		times, err := task.Schedule(t.zone)
		if err != nil { // Unreachable: the store has checked it
			continue
		}
		line := taskLine{
			ID: task.ID, Title: task.Title, Status: task.Status, Cron: task.Cron, Timezone: times.Zone.String(), ChatKey: task.ChatKey, CatchUp: task.CatchUp,
			Next: []time.Time{}, Say: task.Say, Body: task.Body, Path: t.store.Path(task.ID),
		}
		if !times.Repeats() {
			line.When = &task.When
		}
		if task.Status == timetable.Active {
			line.Next = append(line.Next, times.Upcoming(now, 3)...)
		}
		if f, ok := last[task.ID]; ok {
			line.Last = &taskFire{Planned: f.Planned.In(times.Zone), Result: cmp.Or(f.Result, string(f.Is))}
			if f.Is == timetable.FireSkipped {
				line.Last.Result += ": " + f.Reason
			} else if f.Say == "" {
				line.Last.ChatKey = timetable.FireChat(f.ID)
			}
		}
		out = append(out, line)
	}
	return out, problems, nil
}

// TaskList is the JSON of tasks list.
func TaskList(ctx context.Context, a *console.Console) (any, error) {
	_, list, err := listTasks(ctx, a)
	return list, err
}

type taskList struct {
	Tasks    []taskLine          `json:"tasks"`
	Problems []timetable.Problem `json:"problems,omitempty"`
}

func listTasks(ctx context.Context, a *console.Console) (tasks, taskList, error) {
	t, err := openTasks(a)
	if err != nil {
		return t, taskList{}, err
	}
	lines, problems, err := t.lines(ctx)
	for names, i := a.Names(), 0; i < len(lines); i++ {
		lines[i].Name = names.Of(lines[i].ChatKey)
	}
	return t, taskList{lines, problems}, err
}

// find finds a task of the list by its id.
func (l taskList) find(id string) (taskLine, bool) {
	i := slices.IndexFunc(l.Tasks, func(t taskLine) bool { return t.ID == id })
	if i < 0 {
		return taskLine{}, false
	}
	return l.Tasks[i], true
}

func tasksListCmd(a *console.Console) *cobra.Command {
	return console.Command[taskList]{
		Run: func(ctx context.Context, _ []string) (taskList, error) {
			_, list, err := listTasks(ctx, a)
			return list, err
		},
		Text: func(l taskList) string { return tasksText(a, l.Tasks, l.Problems) },
	}.On(a, &cobra.Command{
		Use: "list", Short: "List the tasks with their next times, and files that cannot be read", Args: cobra.NoArgs, Example: "  sma tasks list --json",
	})
}

func tasksShowCmd(a *console.Console) *cobra.Command {
	return console.Command[taskLine]{
		Run: func(ctx context.Context, args []string) (taskLine, error) {
			t, list, err := listTasks(ctx, a)
			if err != nil {
				return taskLine{}, err
			}
			if line, ok := list.find(args[0]); ok {
				return line, nil
			}
			for _, p := range list.Problems {
				if p.Path == t.store.Path(args[0]) {
					return taskLine{}, &console.Failure{Code: console.CodeFailed, What: p.String()}
				}
			}
			return taskLine{}, noTask(args[0])
		},
		Text: func(l taskLine) string {
			return tasksText(a, []taskLine{l}, nil) + "\n" + l.Path + "\n\n" + l.Say + l.Body + "\n"
		},
	}.On(a, &cobra.Command{Use: "show ID", Short: "Show a task", Args: cobra.ExactArgs(1), Example: "  sma tasks show standup"})
}

func noTask(id string) error {
	return &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("there is no task %q", id), Help: "sma tasks list"}
}

// taskFailure says why a task could not be changed.
func taskFailure(id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, persistence.ErrTask):
		return noTask(id)
	}
	return &console.Failure{Code: console.CodeFailed, What: "the task cannot be changed", Why: err, Help: "sma doctor"}
}

func tasksAddCmd(a *console.Console) *cobra.Command {
	var t timetable.Task
	var when, delay, chat, catchUp string
	cmd := &cobra.Command{
		Use: "add ID", Short: "Add a task", Args: cobra.ExactArgs(1),
		Long: "Give one of --cron, --when and --in, and one of --say and --do. The text of --say, or the outcome of --do, is sent to\n" +
			"--chat.",
		Example: "  sma tasks add report --title \"Morning report\" --cron \"0 9 * * 1-5\" --chat telegram-chat-42 --do \"Sum up the news.\"\n" +
			"  sma tasks add tea --in 20m --chat web-chat-me --say \"Tea is ready.\"",
	}
	f := cmd.Flags()
	f.StringVar(&t.Title, "title", "", "a title for people (default: the ID)")
	f.StringVar(&t.Cron, "cron", "", "minute hour day month weekday, or words like \"every weekday at 9\"; @manual: only by hand")
	f.StringVar(&when, "when", "", "one moment, like 2026-03-29 09:30")
	f.StringVar(&delay, "in", "", "from now, like 20m or 2d")
	f.StringVar(&t.Zone, "timezone", "", "like Europe/Berlin (default: that of the project)")
	f.StringVar(&chat, "chat", "", "the chat that gets the text or the outcome, like telegram-chat-42")
	f.StringVar(&t.Say, "say", "", "the text to send")
	f.StringVar(&t.Body, "do", "", "the instructions to follow")
	f.StringVar(&catchUp, "catch-up", string(timetable.CatchUpOnce), "what to do with times that pass while no host runs: once or skip")
	return a.Prints(cmd, func(ctx context.Context, args []string) (string, error) {
		t.ID, t.ChatKey, t.CatchUp = args[0], messages.ChatKey(chat), timetable.CatchUp(catchUp)
		t.Title = cmp.Or(t.Title, t.ID)
		return addTask(ctx, a, t, when, delay)
	})
}

func addTask(ctx context.Context, a *console.Console, t timetable.Task, when, delay string) (string, error) {
	opened, err := openTasks(a)
	if err != nil {
		return "", err
	}
	if cron, ok := schedule.Phrase(t.Cron); ok {
		t.Cron = cron
	}
	if t.When, err = moment(t, when, delay, opened.zone); err != nil {
		return "", &console.Failure{Code: console.CodeUsage, What: "that is not a time", Why: err, Help: "sma tasks add --help"}
	}
	if _, err := opened.store.Check(t); err != nil {
		return "", &console.Failure{Code: console.CodeUsage, What: "that is not a task", Why: err, Help: "sma tasks add --help"}
	}
	if err := opened.store.AddTask(ctx, t); err != nil {
		return "", taskFailure(t.ID, err)
	}
	_, list, err := listTasks(ctx, a)
	line, ok := list.find(t.ID)
	if err != nil || !ok {
		return "", err
	}
	return tasksText(a, []taskLine{line}, nil), nil
}

// moment is the time of a one-time task, or zero.
func moment(t timetable.Task, when, delay string, home *time.Location) (time.Time, error) {
	zone := home
	if t.Zone != "" {
		var err error
		if zone, err = schedule.ParseZone(t.Zone); err != nil {
			return time.Time{}, err
		}
	}
	switch {
	case t.Cron != "" && when+delay != "" || when != "" && delay != "" || t.Cron+when+delay == "":
		return time.Time{}, errors.New("give one of --cron, --when and --in")
	case when != "":
		return schedule.ParseFuture(when, zone, time.Now())
	case delay != "":
		d, err := schedule.ParseDelay(delay)
		return time.Now().Add(d).In(zone).Truncate(time.Second), err
	}
	return time.Time{}, nil
}

// changesTask makes cmd change the task that its argument names.
func changesTask(a *console.Console, cmd *cobra.Command, change func(ctx context.Context, store *taskfile.Store, id string) error) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	return a.Prints(cmd, func(ctx context.Context, args []string) (string, error) {
		t, err := openTasks(a)
		if err != nil {
			return "", err
		}
		return "", change(ctx, t.store, args[0])
	})
}

func tasksRemoveCmd(a *console.Console) *cobra.Command {
	return changesTask(a, &cobra.Command{Use: "rm ID", Short: "Remove a task", Example: "  sma tasks rm standup"},
		func(ctx context.Context, store *taskfile.Store, id string) error {
			return taskFailure(id, store.RemoveTask(ctx, id))
		})
}

// tasksStatusCmd is the command pause or resume.
func tasksStatusCmd(a *console.Console, status timetable.Status) *cobra.Command {
	cmd := &cobra.Command{Use: "pause ID", Short: "Pause a task; it can still be run by hand", Example: "  sma tasks pause standup"}
	if status == timetable.Active {
		cmd.Use, cmd.Short, cmd.Example = "resume ID", "Resume a task; times that passed meanwhile are not caught up", "  sma tasks resume standup"
	}
	return changesTask(a, cmd, func(ctx context.Context, store *taskfile.Store, id string) error {
		t, err := store.Task(id)
		if err == nil && status == timetable.Active && t.Cron == "" && !t.When.After(time.Now()) {
			return &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("the task %q cannot go on: its time has passed", id), Help: "sma tasks add --help"}
		}
		return taskFailure(id, store.SetTaskStatus(ctx, id, status, ""))
	})
}

func tasksRunCmd(a *console.Console) *cobra.Command {
	return console.Command[host.TaskStarted]{
		Run: func(ctx context.Context, args []string) (out host.TaskStarted, err error) {
			_, state, err := a.Folders(nil)
			if err != nil {
				return out, err
			}
			err = console.NewControl(state).Post(ctx, "/control/tasks?id="+url.QueryEscape(args[0]), nil, &out)
			switch {
			case errors.Is(err, console.ErrNotRunning):
				err = console.NoAnswer(err)
			case errors.Is(err, console.ErrNoChat):
				err = noTask(args[0])
			case err != nil:
				err = &console.Failure{Code: console.CodeFailed, What: "the task was not started", Why: err}
			}
			return out, err
		},
		Text: func(started host.TaskStarted) string { return string(started.ChatKey) + "\n" },
	}.On(a, &cobra.Command{
		Use: "run ID", Short: "Run a task now, regardless of its schedule; the host must be running", Args: cobra.ExactArgs(1), Example: "  sma tasks run standup",
	})
}

func tasksText(a *console.Console, lines []taskLine, problems []timetable.Problem) string {
	if len(lines)+len(problems) == 0 {
		return a.Text("there are no tasks\n", "没有任务\n")
	}
	const stamp = "Mon 2006-01-02 15:04 MST"
	var out strings.Builder
	for _, l := range lines {
		times := cmp.Or(l.Cron, l.Timezone)
		fmt.Fprintf(&out, "%s %s  %s  %s  %s\n", console.Column(a.Words(string(l.Status)), 7), l.ID, checkup.OneLine(l.Title, 60), times, cmp.Or(console.Named(l.ChatKey, l.Name), "-"))
		var next []string
		for _, at := range l.Next {
			next = append(next, at.Format(stamp))
		}
		if l.Cron == schedule.Manual && l.Status == timetable.Active {
			next = []string{a.Text("by hand", "仅手动")}
		}
		if len(next) > 0 {
			fmt.Fprintf(&out, "        %s: %s\n", a.Text("next", "下次"), strings.Join(next, ", "))
		}
		if l.Last != nil {
			fmt.Fprintf(&out, "        %s: %s, %s\n", a.Text("last", "上次"), l.Last.Planned.Format(stamp), l.Last.Result)
		}
	}
	for _, p := range problems {
		fmt.Fprintf(&out, "%s: %s\n", a.Text("cannot be read", "无法读取"), p)
	}
	return out.String()
}
