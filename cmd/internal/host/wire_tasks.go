package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/actors/scheduler"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	tasktools "github.com/shipmyagent/shipmyagent/adapters/tool/task"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	schedulerName = "scheduler"
	// schedulerWait is how long the scheduler may take to start a task.
	schedulerWait = 10 * time.Second
)

// TaskStore is the store of tasks below a state folder. It may be used while a host runs.
func TaskStore(state, timezone string) *taskfile.Store {
	return taskfile.New(state, agentdir.Zone(timezone))
}

// TaskFires is the log of what happened at the times of tasks. Only a host writes it.
func TaskFires(state string) persistence.FireLog { return taskfile.NewLog(state) }

// taskTools are the tools that manage tasks.
func (h *Host) taskTools() []tool.Tool {
	store := taskfile.New(h.opts.State, h.zone)
	return tasktools.Tools(tasktools.Options{
		Tasks: store, Zone: h.zone, Run: h.runTask, Changed: h.tasksChanged,
		Check: func(t timetable.Task) error {
			_, err := store.Check(t)
			return err
		},
		May: func(run tool.Run, t timetable.Task) bool {
			order := decision.Command{ChatKey: run.ChatKey, By: messages.Asker(run.Asker), ChatType: messages.ChatPrivate}
			if run.Group {
				order.ChatType = messages.ChatGroup
			}
			return h.commands().MayManage(order, t)
		},
	})
}

// startScheduler starts to run tasks at their times. It is called after everything that tasks need.
func (h *Host) startScheduler(ctx context.Context) error {
	log := h.fires
	err := h.spawn(ctx, schedulerName, h.workers.With(scheduler.Props(scheduler.Options{
		Tasks: taskfile.New(h.opts.State, h.zone), Log: log, Router: h.router, Zone: h.zone, Logger: h.opts.Logger, Metrics: scheduler.NewMetrics(h.registry),
		Asked: h.deciders.AskedAboutTask, Paused: h.silent,
	})))
	if err != nil {
		return err
	}
	h.cleanups.add("scheduler", func(ctx context.Context) error {
		return errors.Join(h.stopChild(ctx, schedulerName), log.Close())
	})
	return nil
}

// silent reports whether a task does nothing now: an operator has paused its chat, or blocked the group, the person
// whose private chat it is, or the person who asked for it.
func (h *Host) silent(t timetable.Task) bool {
	at, _ := t.ChatKey.Address()
	return h.preferences.Paused(t.ChatKey) || slices.ContainsFunc([]string{at.Chat, strings.TrimPrefix(t.MadeBy, at.Platform+"-")}, func(who string) bool {
		return h.deciders.Role(query.BotOf(t.ChatKey), who) == platform.RoleBlocked
	})
}

func (h *Host) schedulerPID() *actor.PID { return guardian.PID(h.system, schedulerName) }

// tasksChanged tells the scheduler to read the tasks again.
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
		return "", fmt.Errorf("the task %s is running already", id)
	default:
		return "", fmt.Errorf("the task %s cannot be started now: %s", id, started.Reason)
	}
}

// TaskStarted reports that a task was started by hand.
type TaskStarted struct {
	TaskID  string           `json:"taskId"`
	ChatKey messages.ChatKey `json:"chatKey"` // that the task runs in
}

// runTask starts a task for a request of an operator.
func (c *socket) runTask(by string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Query().Get("id")
		fire, err := c.host.runTask(r.Context(), id, by)
		switch {
		case errors.Is(err, persistence.ErrTask):
			control.Refuse(w, http.StatusNotFound, err)
		case err != nil:
			control.Refuse(w, http.StatusConflict, err)
		default:
			control.JSON(w, http.StatusOK, TaskStarted{TaskID: id, ChatKey: timetable.FireChat(fire)})
		}
	}
}
