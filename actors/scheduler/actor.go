package scheduler

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// look is how long the scheduler waits at most before it looks at the clock.
	look = 30 * time.Second
	// patience is how long an answer is waited for, and pause is the wait after a refusal.
	patience = 30 * time.Second
	pause    = 3 * time.Second
	watchID  = "scheduler"
)

// Options of the scheduler. Tasks, Log, Router and Logger are required.
type Options struct {
	Tasks  persistence.TaskStore
	Log    persistence.FireLog
	Router *actor.PID
	Zone   *time.Location // of tasks without one; nil: the host's
	Now    func() time.Time
	Logger *slog.Logger
	// Asked names those who are asked in private about what a task's own chat asks, in
	// English and Chinese; empty: nobody is. It may be nil.
	Asked func(task messages.ChatKey) (en, zh string)
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

// scheduler is the actor. Its fields are touched in Receive only.
type scheduler struct {
	Options
	log    *slog.Logger
	home   pipe.Home
	book   *book // nil: the log cannot be read
	tasks  []task
	told   []string  // problems that the log has heard of
	looked time.Time // when the clock was looked at last
	timer  *time.Timer
	gen    int
}

// due: the timer has ended.
type due struct{ gen int }

// Receive implements [actor.Actor].
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
		s.onPosted(msg)
	}
}

// look does what is due, asks again where nobody answered, and sets the timer.
func (s *scheduler) look(ac actor.Context) {
	if s.ready() {
		s.plan(ac)
		now := time.Now()
		for _, f := range s.fires() {
			if !f.retry.After(now) {
				s.step(ac, f)
			}
		}
	}
	s.arm()
}

// ready reads log and tasks, if that was not done yet.
func (s *scheduler) ready() bool {
	ctx := context.Background()
	if s.book == nil {
		fires, err := s.Log.Fires(ctx)
		if err != nil {
			s.log.Error("no task is run, since it cannot be told which ones were", "error", err)
			return false
		}
		s.book = newBook(fires)
	}
	if s.tasks != nil {
		return true
	}
	all, problems, err := s.Tasks.Tasks(ctx)
	if err != nil {
		s.log.Error("the tasks cannot be read", "error", err)
		return false
	}
	s.tasks = []task{}
	active := 0
	for _, t := range all {
		times, err := t.Schedule(s.Zone)
		if err != nil { // Unreachable: the store has checked it
			continue
		}
		s.tasks = append(s.tasks, task{t, times})
		if t.Status == persistence.TaskActive {
			active++
		}
	}
	s.Metrics.active(active)
	s.tell(problems)
	return true
}

// tell logs files that cannot be read, once each.
func (s *scheduler) tell(problems []persistence.TaskProblem) {
	var now []string
	for _, p := range problems {
		now = append(now, p.String())
		if !slices.Contains(s.told, p.String()) {
			s.log.Warn("a task was left out", "path", p.Path, "line", p.Line, "reason", p.What, "hint", p.Hint)
		}
	}
	s.told = now
}

// plan starts what is due: the log has it first.
func (s *scheduler) plan(ac actor.Context) {
	now := s.Now()
	fires := s.book.plan(s.tasks, s.looked, now)
	if len(fires) > 0 && !s.write(fires...) {
		return // looked stays: what came due meanwhile is due yet
	}
	s.looked = now
	for _, f := range fires {
		switch f.Is {
		case persistence.FireStarted:
			s.begun(ac, f)
			s.Metrics.started(now.Sub(f.Planned))
			s.Metrics.became(persistence.SkipMissed, f.Count)
		case persistence.FireSkipped:
			s.Metrics.became(f.Reason, f.Count)
			s.log.Info("a time of a task was left out", "task", f.Task, "planned", f.Planned, "reason", f.Reason, "times", f.Count)
		case persistence.FireSeen, persistence.FireWaits, persistence.FireEnded, persistence.FireSettled:
		}
	}
}

func (s *scheduler) begun(ac actor.Context, f persistence.Fire) {
	s.log.Info("a task begins", "task", f.Task, "fire", f.ID, "planned", f.Planned)
	if s.book == nil {
		return // it could not be written meanwhile; what is open goes on once it is read
	}
	if o := s.book.open[f.ID]; o != nil {
		s.step(ac, o)
	}
}

// write makes records durable and takes them into the book, in this order. After an
// error nobody knows what the log has: it is read anew, before anything else is written.
func (s *scheduler) write(fires ...persistence.Fire) bool {
	if s.book == nil {
		return false
	}
	if err := s.Log.AddFires(context.Background(), fires...); err != nil {
		s.log.Error("the log of fires cannot be written; what is due waits", "error", err)
		s.book = nil
		return false
	}
	for _, f := range fires {
		s.book.apply(f)
	}
	return true
}

// runTask starts a task by hand.
func (s *scheduler) runTask(ac actor.Context, msg messages.RunTask) {
	answer := messages.TaskStarted{TaskID: msg.TaskID}
	defer func() {
		if ac.Sender() != nil {
			ac.Respond(answer)
		}
	}()
	s.tasks = nil
	if !s.ready() {
		answer.Reason = "unavailable"
		return
	}
	i := slices.IndexFunc(s.tasks, func(t task) bool { return t.ID == msg.TaskID })
	if i < 0 {
		answer.Reason = "not_found"
		return
	}
	t, now := s.tasks[i], s.Now()
	f := persistence.Fire{
		Is: persistence.FireStarted, At: now, Task: t.ID, ID: persistence.FireID(t.ID, now) + "-by-hand", Planned: now, Title: t.Title, ChatKey: t.ChatKey,
		Say: t.Say, Body: t.Body, Text: t.Say, Zone: t.times.Zone.String(), By: cmp.Or(msg.By, "somebody"),
	}
	switch {
	case s.book.running(t.ID) > 0 || s.book.known[f.ID]:
		answer.Reason = "running"
	case !s.write(f):
		answer.Reason = "unavailable"
	default:
		answer.FireID = f.ID
		s.begun(ac, f)
		s.arm()
	}
}

// fires are those that are open, in the order of their ids.
func (s *scheduler) fires() []*fire {
	var out []*fire
	if s.book != nil {
		for _, f := range s.book.open {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *fire) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// arm sets the one timer. Without tasks that have a time to come there is none.
func (s *scheduler) arm() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.gen++
	wait := look
	at, busy := next(s.tasks, s.Now())
	if busy {
		wait = min(wait, max(at.Sub(s.Now()), 0))
	}
	if s.book == nil || s.tasks == nil {
		busy = true // to be read
	}
	for _, f := range s.fires() {
		busy = true
		wait = min(wait, max(time.Until(f.retry), 0))
	}
	if !busy {
		return
	}
	s.timer = s.home.After(wait, due{s.gen})
}
