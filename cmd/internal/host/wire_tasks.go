package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/scheduler"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	tasktools "github.com/shipmyagent/shipmyagent/adapters/tool/task"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
)

const (
	schedulerName = "scheduler"
	// schedulerWait is how long the scheduler may take to begin a task.
	schedulerWait = 10 * time.Second
)

// TaskStore is the tasks below a state folder. A host may run meanwhile.
func TaskStore(state, timezone string) *taskfile.Store {
	return taskfile.New(state, projectZone(timezone))
}

// Zone is the time zone of a project with that setting.
func Zone(timezone string) *time.Location { return projectZone(timezone) }

// TaskFires is the log of what became of the times of tasks. Only a host writes it.
func TaskFires(state string) persistence.FireLog { return taskfile.NewLog(state) }

// taskTools are the tools for tasks of the chat that calls them.
func (h *Host) taskTools() []tool.Tool {
	store := taskfile.New(h.opts.State, h.zone)
	return tasktools.Tools(tasktools.Options{
		Tasks: store, Zone: h.zone, Run: h.runTask,
		Check: func(t persistence.Task) error {
			_, err := store.Check(t)
			return err
		},
	})
}

// startScheduler begins to do tasks at their times. Everything that they need is up.
func (h *Host) startScheduler(context.Context) error {
	log := taskfile.NewLog(h.opts.State)
	props := h.workers.with(scheduler.Props(scheduler.Options{
		Tasks: taskfile.New(h.opts.State, h.zone), Log: log, Router: h.router, Zone: h.zone, Logger: h.opts.Logger, Metrics: scheduler.NewMetrics(h.registry),
		Asked: h.askedAboutTask,
	}))
	pid, err := h.system.Root.SpawnNamed(props, schedulerName)
	if err != nil {
		return &Failure{Kind: KindFailed, What: "the scheduler cannot be started", Why: err} // Unreachable: the name is free
	}
	h.cleanups.add("scheduler", func(ctx context.Context) error {
		_, err := await(ctx, h.system.Root.StopFuture(pid))
		return errors.Join(err, log.Close())
	})
	return nil
}

func (h *Host) schedulerPID() *actor.PID { return h.system.NewLocalPID(schedulerName) }

// taskFolders are the folders to watch for tasks.
func (h *Host) taskFolders() []string { return []string{taskfile.New(h.opts.State, h.zone).Dir()} }

// tasksChanged has the scheduler look at the tasks.
func (h *Host) tasksChanged() { h.system.Root.Send(h.schedulerPID(), messages.TasksChanged{}) }

// runTask starts a task now.
func (h *Host) runTask(ctx context.Context, id, by string) (fire string, err error) {
	reply, err := await(ctx, h.system.Root.RequestFuture(h.schedulerPID(), messages.RunTask{TaskID: id, By: by}, schedulerWait))
	if err != nil {
		return "", fmt.Errorf("run the task %s: the scheduler does not answer: %w", id, err)
	}
	started, _ := reply.(messages.TaskStarted)
	switch started.Reason {
	case "":
		return started.FireID, nil
	case "not_found":
		return "", fmt.Errorf("%w: %s", persistence.ErrTask, id)
	case "running":
		return "", fmt.Errorf("the task %s is under way already", id)
	default:
		return "", fmt.Errorf("the task %s cannot be started now: %s", id, started.Reason)
	}
}

// TaskStarted says that a task was started by hand.
type TaskStarted struct {
	TaskID  string           `json:"taskId"`
	ChatKey messages.ChatKey `json:"chatKey"` // that the task runs in
}

// runTask answers an order over the control socket.
func (c *control) runTask(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	fire, err := c.host.runTask(r.Context(), id, "operator")
	switch {
	case errors.Is(err, persistence.ErrTask):
		writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
	case err != nil:
		writeJSON(w, http.StatusConflict, map[string]string{"error": err.Error()})
	default:
		writeJSON(w, http.StatusOK, TaskStarted{TaskID: id, ChatKey: persistence.FireChat(fire)})
	}
}

// tasksOf lists the tasks of a chat, for its people.
func (h *Host) tasksOf(key messages.ChatKey, say speak) (string, bool) {
	all, _, err := taskfile.New(h.opts.State, h.zone).Tasks(context.Background())
	if err != nil {
		h.log.Warn("the tasks cannot be read", "error", err)
		return say("The tasks cannot be read now. The operator finds the reason in the log.", "现在无法读取任务。管理员可以查看日志中的原因。")
	}
	var en, zh []string
	for _, t := range all {
		if t.ChatKey != key || t.Status == persistence.TaskDone {
			continue
		}
		times, err := t.Schedule(h.zone)
		if err != nil { // Unreachable: the store has checked it
			continue
		}
		next := times.Upcoming(time.Now(), 3)
		if len(next) == 0 && !times.Repeats() {
			continue // it is being done
		}
		if t.Status != persistence.TaskActive {
			next = nil
		}
		en = append(en, taskLine(t, next, "paused", "only by hand"))
		zh = append(zh, taskLine(t, next, "已暂停", "仅手动执行"))
	}
	if len(en) == 0 {
		return say("There are no tasks in this chat. Ask me for one, for example: remind me in 20 minutes.", "这个聊天里没有任务。可以直接让我安排，例如：20 分钟后提醒我。")
	}
	return say(strings.Join(en, "\n"), strings.Join(zh, "\n"))
}

func taskLine(t persistence.Task, next []time.Time, paused, byHand string) string {
	var when []string
	for _, at := range next {
		when = append(when, at.Format("2006-01-02 15:04 MST"))
	}
	switch {
	case t.Status == persistence.TaskPaused:
		when = []string{paused}
	case len(when) == 0:
		when = []string{byHand}
	}
	return "• " + t.Title + ": " + strings.Join(when, ", ")
}
