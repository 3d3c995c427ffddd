package persistence

import (
	"context"
	"errors"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Errors of tasks.
var (
	// ErrTask means that there is no such task.
	ErrTask = errors.New("there is no such task")
	// ErrTaskExists means that a task with that id already exists.
	ErrTaskExists = errors.New("there is a task of that name already")
)

// TaskStore stores tasks: files that people read and edit. A nil error means durable. It is safe
// for concurrent use, also by several processes.
type TaskStore interface {
	// Tasks returns all tasks in the order of their ids, and those that cannot be read.
	Tasks(ctx context.Context) ([]timetable.Task, []timetable.Problem, error)
	// Task returns a task, or fails with [ErrTask].
	Task(id string) (timetable.Task, error)
	// AddTask adds a task, or fails with [ErrTaskExists].
	AddTask(ctx context.Context, t timetable.Task) error
	// SetTaskStatus changes the status and who stopped the task, and nothing else, or fails with [ErrTask].
	SetTaskStatus(ctx context.Context, id string, status timetable.Status, by string) error
	// ChangeTask replaces a task with the result of change, or fails with [ErrTask]. The id does not
	// change. An error of change is returned, and the task stays as it is.
	ChangeTask(ctx context.Context, id string, change func(timetable.Task) (timetable.Task, error)) error
	// TaskNumbers returns the numbers by which people of a chat refer to its tasks, by task id. A
	// task without a number gets the next one; numbers are not reused.
	TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error)
	// HadTasks reports whether a task of the chat was ever given a number. It is fast.
	HadTasks(key messages.ChatKey) bool
	// RemoveTask removes a task, or fails with [ErrTask].
	RemoveTask(ctx context.Context, id string) error
}

// FireLog stores what became of the times of tasks. Its writes are durable when they return; only
// one process may write it.
type FireLog interface {
	// Fires returns the records so far, the oldest first.
	Fires(ctx context.Context) ([]timetable.Fire, error)
	AddFires(ctx context.Context, fires ...timetable.Fire) error
}
