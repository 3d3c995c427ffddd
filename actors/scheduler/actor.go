package scheduler

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	// look is the longest wait before the scheduler checks the clock.
	look = 30 * time.Second
	// reread is how often the log is read again: it keeps less than what was ever written to it.
	reread = 24 * time.Hour
	// patience is how long to wait for an answer, and pause is the wait after a refusal.
	patience = 30 * time.Second
	pause    = 3 * time.Second
	watchID  = "scheduler"
)

// Options configure the scheduler. Tasks, Log, Router and Logger are required.
type Options struct {
	Tasks  persistence.TaskStore
	Log    persistence.FireLog
	Router *actor.PID
	Zone   *time.Location // of tasks without one; nil means the host's
	Now    func() time.Time
	Logger *slog.Logger
	// Asked names, in English and Chinese, those who are asked in private if a task's own chat needs
	// an approval; the names are empty if there are none. It may be nil.
	Asked func(task messages.ChatKey) (en, zh string)
	// Paused reports whether an operator has paused the chat of a task: the task and its outcome wait. It may be nil.
	Paused func(t timetable.Task) bool
	// Metrics may be nil.
	Metrics *Metrics
}

// Props makes the scheduler.
func Props(o Options) *actor.Props {
	o.Zone = cmp.Or(o.Zone, time.Local)
	if o.Now == nil {
		o.Now = time.Now
	}
	return actor.PropsFromProducer(func() actor.Actor {
		return &scheduler{Options: o, log: o.Logger.With("component", "scheduler")}
	})
}

// scheduler is the actor. Its fields are used in Receive only.
type scheduler struct {
	Options
	log    *slog.Logger
	home   pipe.Home
	book   *book       // nil if the log cannot be read
	read   time.Time   // when it was read
	tasks  []task      // in the order of their ids
	logged []string    // problems already logged
	looked time.Time   // when the clock was last checked
	timer  *time.Timer // nil after its end
	wakes  time.Time   // when it ends
	gen    int
}

// due reports that the timer has ended.
type due struct{ gen int }

func (s *scheduler) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		s.home = pipe.NewHome(ac)
		s.look(ac)
	case *actor.Stopping, *actor.Restarting:
		if s.timer != nil {
			s.timer.Stop()
		}
	case due:
		if msg.gen == s.gen {
			s.timer = nil
			s.look(ac)
		}
	case messages.ToScheduler:
		s.command(ac, msg)
	default:
		stray.Report(ac)
	}
}

func (s *scheduler) command(ac actor.Context, msg messages.ToScheduler) {
	switch msg := msg.(type) {
	case messages.TasksChanged:
		s.tasks = nil
		s.look(ac)
	case messages.RunTask:
		s.runTask(ac, msg)
	case messages.IngressAccepted:
		s.onAccepted(ac, msg)
	case messages.IngressRejected:
		s.later(msg.ChatKey)
	case messages.ChatProgressed:
		if msg.Kind == "end" && msg.Last {
			s.ask(ac, s.ofChat(msg.ChatKey))
		}
	case messages.WatchEnded:
		s.later(msg.ChatKey)
	case messages.ViewReply:
		s.onView(ac, msg)
	case messages.WordsPosted:
		s.onPosted(ac, msg)
	}
}
