package scheduler_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// The wall clock jumps by a day, forward and back, a few times: each task runs once for its missed
// times, no planned time runs twice, and tasks continue at their times.
func TestIO14TasksWhileTheClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		for i := range 20 {
			s.add(timetable.Task{ID: fmt.Sprintf("t%d", i), Title: "Often", Cron: "*/5 * * * *", ChatKey: messages.ChatKey(fmt.Sprintf("web-chat-%d", i)), Say: "ping"})
		}
		s.start()
		said := func() int { return len(s.read("web-chat-7")) }
		s.pass(11 * time.Minute)
		if got := said(); got != 2 {
			t.Fatalf("said %d times, want 2", got)
		}
		for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour, -24 * time.Hour, 48 * time.Hour} {
			before, started := said(), len(s.started("t7"))
			s.ahead.Add(int64(jump))
			s.pass(time.Minute)
			if got := said() - before; got > 1 {
				t.Errorf("the jump by %s made it speak %d times", jump, got)
			}
			s.pass(19 * time.Minute)
			if got := len(s.started("t7")) - started; got < 4-1 || got > 5 {
				t.Errorf("after the jump by %s: %d fires in 20 minutes, want 4 or so", jump, got)
			}
		}
		for id, n := range s.started("t7") {
			if n > 1 {
				t.Errorf("%s was started %d times", id, n)
			}
		}
		s.stop()
	})
}

func (s *scheduled) started(task string) map[string]int {
	out := map[string]int{}
	for _, f := range s.fires() {
		if f.Is == timetable.FireStarted && f.Task == task {
			out[f.ID]++
		}
	}
	return out
}
