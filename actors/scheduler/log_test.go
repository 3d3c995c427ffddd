package scheduler_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/scheduler"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// failsOnce is a fire log whose first write fails.
type failsOnce struct {
	persistence.FireLog
	once sync.Once
}

func (l *failsOnce) AddFires(ctx context.Context, fires ...timetable.Fire) error {
	failed := false
	l.once.Do(func() { failed = true })
	if failed {
		return errFlaky
	}
	return l.FireLog.AddFires(ctx, fires...)
}

// Two fires only have to be settled, and the first write of that fails: the log is read again
// before anything else is written, and both are settled in the end.
func TestLogThatFailsWhileFiresAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		for _, id := range []string{"a", "b"} {
			f := timetable.Fire{Is: timetable.FireStarted, At: s.now(), Task: id, ID: timetable.FireID(id, s.now()), Planned: s.now(), Title: id, Body: "do it"}
			ended := timetable.Fire{Is: timetable.FireEnded, At: s.now(), Task: id, ID: f.ID, Result: string(journal.ResultDone), Text: "done"}
			stdtest.Must(t, s.log.Log.AddFires(t.Context(), f, ended))
		}
		panics := 0
		heard := s.System.EventStream.Subscribe(func(event any) {
			if _, ok := event.(*actor.SupervisorEvent); ok {
				panics++
			}
		})
		defer s.System.EventStream.Unsubscribe(heard)
		s.pid = s.System.Root.Spawn(scheduler.Props(scheduler.Options{
			Tasks: s.tasks, Log: &failsOnce{FireLog: s.log}, Router: s.Router, Zone: time.UTC, Now: s.now, Logger: slog.New(slog.DiscardHandler),
		}))
		s.pass(2 * time.Minute)
		settled := 0
		for _, f := range s.fires() {
			if f.Is == timetable.FireSettled {
				settled++
			}
		}
		if panics > 0 || settled != 2 {
			t.Errorf("%d panics, %d of 2 settled", panics, settled)
		}
		s.stop()
	})
}
