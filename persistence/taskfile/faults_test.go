package taskfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

func on(disk document.Disk, state string) *Store {
	s := New(state, time.UTC)
	s.disk = disk
	return s
}

func logOn(disk document.Disk, state string) *Log {
	l := NewLog(state)
	l.disk = disk
	return l
}

func TestST19EveryStepOfATaskFails(t *testing.T) {
	status := func(state string) (string, error) {
		tasks, problems, err := New(state, time.UTC).Tasks(t.Context())
		if err != nil || len(problems) > 0 {
			return "", errors.Join(err, fmt.Errorf("problems: %v", problems))
		}
		var out []string
		for _, task := range tasks {
			out = append(out, task.ID+" "+string(task.Status))
		}
		return strings.Join(out, ", "), nil
	}
	add := func(disk document.Disk, state string) error {
		err := on(disk, state).AddTask(t.Context(), task("a"))
		if errors.Is(err, persistence.ErrTaskExists) {
			return nil // unchanged
		}
		return err
	}
	documenttest.EachChange(t, documenttest.Case{
		Prepare: add,
		Change: func(disk document.Disk, state string) error {
			return on(disk, state).SetTaskStatus(t.Context(), "a", timetable.Paused, "")
		},
		Look: status, Old: "a active", New: "a paused",
	}, "")
}

// A record exists or not; after an error it may exist, and written again it exists twice, which its
// id shows.
func TestST19EveryStepOfTheFireLogFails(t *testing.T) {
	add := func(is timetable.FireKind) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			l := logOn(disk, state)
			return errors.Join(l.AddFires(t.Context(), fire(is, 1)), l.Close())
		}
	}
	kinds := func(state string) (string, error) {
		l := NewLog(state)
		fires, err := l.Fires(t.Context())
		var out []string
		for _, f := range fires {
			out = append(out, string(f.Is))
		}
		return strings.Join(slices.Compact(out), ", "), errors.Join(err, l.Close())
	}
	documenttest.EachChange(t, documenttest.Case{
		Prepare: add(timetable.FireStarted), Change: add(timetable.FireEnded), Look: kinds, Old: "started", New: "started, ended",
	}, "")
}

// What a failed fsync has not written is not trusted when it is read from memory: all of it is
// written again before any caller gets it.
func TestST8FireLogAfterAFailedForce(t *testing.T) {
	l := NewLog(t.TempDir())
	var steps []document.Step
	failing := false
	l.disk.Fault = func(step document.Step, _ string) error {
		steps = append(steps, step)
		if failing && step == document.StepSync {
			return syscall.EIO
		}
		return nil
	}
	stdtest.Must(t, l.AddFires(t.Context(), fire(timetable.FireStarted, 1)))
	failing = true
	if err := l.AddFires(t.Context(), fire(timetable.FireEnded, 1)); !errors.Is(err, syscall.EIO) {
		t.Errorf("a force that failed: %v", err)
	}
	if fires, err := l.Fires(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("while nothing can be forced: %v, %v", fires, err)
	}
	failing, steps = false, nil
	fires, err := l.Fires(t.Context())
	if err != nil || len(fires) != 2 {
		t.Errorf("%d records, %v; want 2", len(fires), err)
	}
	for _, want := range []document.Step{document.StepWrite, document.StepSync, document.StepRename} {
		if !slices.Contains(steps, want) {
			t.Errorf("before they were told of there was no %q: %q", want, steps)
		}
	}
}

// What a killed process has written is fsynced before any caller gets it.
func TestFireLogOfAKilledProcess(t *testing.T) {
	state := t.TempDir()
	before := NewLog(state)
	stdtest.Must(t, errors.Join(before.AddFires(t.Context(), fire(timetable.FireStarted, 1)), before.Close()))
	var steps []document.Step
	l := logOn(document.Disk{Fault: func(step document.Step, _ string) error {
		steps = append(steps, step)
		return nil
	}}, state)
	if fires, err := l.Fires(t.Context()); err != nil || len(fires) != 1 {
		t.Fatalf("%v, %v", fires, err)
	}
	if !slices.Equal(steps, []document.Step{document.StepSync}) {
		t.Errorf("steps: %q", steps)
	}
}

// One line without an end does not hide the log's other records.
func TestFireLogWithAnEndlessLine(t *testing.T) {
	l := NewLog(t.TempDir())
	stdtest.Must(t, errors.Join(l.AddFires(t.Context(), fire(timetable.FireStarted, 1)), l.Close()))
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	stdtest.Must(t, err)
	_, err = f.Write(make([]byte, maxLine+1)) // NUL bytes, as a power cut leaves them
	stdtest.Must(t, errors.Join(err, f.Close()))
	stdtest.Must(t, l.AddFires(t.Context(), fire(timetable.FireEnded, 1)))
	if fires, err := l.Fires(t.Context()); err != nil || len(fires) != 2 {
		t.Errorf("%d records, %v; want 2", len(fires), err)
	}
}

func TestFoldersOfTasksAreForced(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	var r documenttest.Recorder
	stdtest.Must(t, on(r.Disk(), state).AddTask(t.Context(), task("a")))
	l := logOn(r.Disk(), state)
	stdtest.Must(t, errors.Join(l.AddFires(t.Context(), fire(timetable.FireStarted, 1)), l.Close()))
	r.Fsynced(t, state, filepath.Join(state, "tasks"), filepath.Join(state, "schedule"))
}
