package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/scheduler"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const alice messages.ChatKey = "telegram-chat-1"

func newStore(t *testing.T) persistence.Store {
	t.Helper()
	return filestoretest.In(t, t.TempDir())
}

// reader is a chat whose people read its history, which shows everything once.
const reader messages.ChatKey = "web-chat-a"

// scheduled is a world with a scheduler. Its wall clock can be set.
type scheduled struct {
	*actortest.World
	t     *testing.T
	tasks *taskfile.Store
	log   *flaky
	pid   *actor.PID
	ahead *atomic.Int64 // of the wall clock
	// paused is whether all chats are.
	paused atomic.Bool
}

// flaky is a fire log that can fail, before or after writing.
type flaky struct {
	*taskfile.Log
	failing atomic.Bool
	mu      sync.Mutex
	chance  *rand.Rand // under mu
}

// fails decides whether a write fails now, before or after it is made.
func (l *flaky) fails() (before, after bool) {
	if !l.failing.Load() {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chance.IntN(6) == 0, l.chance.IntN(6) == 0
}

var errFlaky = errors.New("the disk says no")

func (l *flaky) AddFires(ctx context.Context, fires ...timetable.Fire) error {
	before, after := l.fails()
	if before {
		return errFlaky
	}
	err := l.Log.AddFires(ctx, fires...)
	if after {
		return errFlaky
	}
	return err
}

var planned = regexp.MustCompile(`scheduled task “(.+)”, planned for (\S+ \S+ \S+)\.`)

// obey answers the instructions of a task with its name and time, and people politely.
func obey(req model.Request) []model.Event {
	said := "hello"
	for _, p := range req.Messages[len(req.Messages)-1].Parts {
		if text, ok := p.(modelmessage.Text); ok {
			if found := planned.FindStringSubmatch(text.Text); found != nil {
				said = "did " + found[1] + " at " + found[2]
			}
		}
	}
	return append(modeltest.TextEvents(said), modeltest.Finish("stop"))
}

func newScheduled(t *testing.T, change func(*actortest.Options)) *scheduled {
	t.Helper()
	state := t.TempDir()
	s := &scheduled{t: t, tasks: taskfile.New(state, time.UTC), log: &flaky{Log: taskfile.NewLog(state), chance: rand.New(rand.NewPCG(6, 6))}, ahead: &atomic.Int64{}}
	o := actortest.Options{Store: newStore(t), Model: modeltest.NewFunc(obey)}
	if change != nil {
		change(&o)
	}
	s.World = actortest.New(t, o)
	t.Cleanup(func() { _ = s.log.Close() }) // nothing is written any more
	return s
}

func (s *scheduled) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *scheduled) add(tasks ...timetable.Task) {
	s.t.Helper()
	for _, task := range tasks {
		stdtest.Must(s.t, s.tasks.AddTask(s.t.Context(), task))
	}
}

func (s *scheduled) start() {
	s.pid = s.System.Root.Spawn(scheduler.Props(scheduler.Options{
		Tasks: s.tasks, Log: s.log, Router: s.Router, Zone: time.UTC, Now: s.now, Logger: slog.New(slog.DiscardHandler), Metrics: scheduler.NewMetrics(s.Registry),
		Paused: func(timetable.Task) bool { return s.paused.Load() },
	}))
	s.Wait()
}

// again stops everything at once and starts it again.
func (s *scheduled) again() {
	s.System.Root.Stop(s.pid)
	s.World = s.Again(nil)
	s.start()
}

func (s *scheduled) stop() {
	s.System.Root.Stop(s.pid)
	s.Wait()
}

func (s *scheduled) pass(d time.Duration) {
	<-time.After(d)
	s.Wait()
}

func (s *scheduled) read(key messages.ChatKey) []string {
	s.t.Helper()
	var out []string
	for _, m := range s.View(key).Messages {
		if m.Role == uimessage.RoleAssistant {
			out = append(out, journal.Text(m))
		}
	}
	return out
}

func (s *scheduled) fires() []timetable.Fire {
	s.t.Helper()
	fires, err := s.log.Fires(s.t.Context())
	stdtest.Must(s.t, err)
	return fires
}

func (s *scheduled) is(key messages.ChatKey, want ...string) {
	s.t.Helper()
	stdtest.Diff(s.t, string(key), want, s.read(key))
}

func TestTaskIsDoneAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		s.add(
			timetable.Task{ID: "report", Title: "Report", Cron: "0 9 * * *", ChatKey: reader, Body: "Sum up."},
			timetable.Task{ID: "remind", Title: "Tea", When: s.now().Add(20 * time.Minute), ChatKey: alice, Say: "Tea is ready."},
			timetable.Task{ID: "alone", Title: "Tidy", Cron: "30 9 * * *", Body: "Tidy up."},
			timetable.Task{ID: "off", Title: "Off", Cron: "* * * * *", ChatKey: reader, Say: "never", Status: timetable.Paused},
		)
		s.start()
		s.pass(19*time.Minute + 59*time.Second)
		if got := s.Platform.Texts(alice); len(got) > 0 {
			t.Errorf("too early: %q", got)
		}
		s.pass(2 * time.Second)
		stdtest.Diff(t, "", []string{"Tea is ready."}, s.Platform.Texts(alice))
		s.is(alice, "Tea is ready.") // the model knows it, too
		s.pass(48 * time.Hour)
		s.is(reader, "did Report at 2000-01-01 09:00 UTC", "did Report at 2000-01-02 09:00 UTC")
		s.is("task-alone-20000101T093000Z", "did Tidy at 2000-01-01 09:30 UTC")
		if tasks, _, err := s.tasks.Tasks(t.Context()); err != nil || tasks[2].ID != "remind" || tasks[2].Status != timetable.Done {
			t.Errorf("got %v, %v; want the single time done", tasks, err)
		}
		s.Say(alice, "alice", "thanks")
		s.Wait()
		s.is(alice, "Tea is ready.", "hello")
		s.stop()
	})
}

// The file of a task with a single time is removed a month after that time, if the task is done.
func TestFilesOfDoneTasksAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		past := func(days int) time.Time { return s.now().AddDate(0, 0, -days) }
		s.add(
			timetable.Task{ID: "cron", Title: "A", Cron: "0 9 * * *", ChatKey: reader, Say: "a", Status: timetable.Done},
			timetable.Task{ID: "old", Title: "A", When: past(31), ChatKey: reader, Say: "a", Status: timetable.Done},
			timetable.Task{ID: "paused", Title: "A", When: past(31), ChatKey: reader, Say: "a", Status: timetable.Paused},
			timetable.Task{ID: "recent", Title: "A", When: past(29), ChatKey: reader, Say: "a", Status: timetable.Done},
		)
		s.start()
		tasks, _, err := s.tasks.Tasks(t.Context())
		var ids []string
		for _, task := range tasks {
			ids = append(ids, task.ID)
		}
		if diff := cmp.Diff([]string{"cron", "paused", "recent"}, ids); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		s.stop()
	})
}

// A task that people have cancelled or changed does not run in its old form, even if the scheduler has not been
// informed yet.
func TestTaskIsReadBeforeItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		due := s.now().Add(10 * time.Second)
		s.add(
			timetable.Task{ID: "cancelled", Title: "A", When: due, ChatKey: reader, Say: "cancelled"},
			timetable.Task{ID: "changed", Title: "A", When: due, ChatKey: reader, Say: "as it was"},
			timetable.Task{ID: "removed", Title: "A", When: due, ChatKey: reader, Say: "removed"},
		)
		s.start()
		s.pass(9 * time.Second)
		err := errors.Join(
			s.tasks.SetTaskStatus(t.Context(), "cancelled", timetable.Done, ""),
			s.tasks.ChangeTask(t.Context(), "changed", func(t timetable.Task) (timetable.Task, error) { t.Say = "as it is"; return t, nil }),
			s.tasks.RemoveTask(t.Context(), "removed"))
		stdtest.Must(t, err)
		s.pass(time.Minute)
		s.is(reader, "as it is")
		s.stop()
	})
}

// People run a task by hand, whatever its status, but not twice at once.
func TestTaskRunByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Held(release, modeltest.Say("done by hand")))
		s := newScheduled(t, func(o *actortest.Options) { o.Model = script })
		s.add(timetable.Task{ID: "report", Title: "Report", Cron: "@manual", ChatKey: reader, Body: "Sum up.", Status: timetable.Paused})
		s.start()
		run := func(id string) messages.TaskStarted {
			answer, err := s.System.Root.RequestFuture(s.pid, messages.RunTask{TaskID: id, By: "me"}, time.Minute).Result()
			stdtest.Must(t, err)
			s.Wait()
			started, _ := answer.(messages.TaskStarted)
			return started
		}
		if got := run("none"); got.Reason != "not_found" {
			t.Errorf("got %+v, want not_found", got)
		}
		if got := run("report"); got.FireID == "" || got.Reason != "" {
			t.Errorf("got %+v, want a fire", got)
		}
		if got := run("report"); got.Reason != "running" {
			t.Errorf("got %+v, want running", got)
		}
		close(release)
		s.pass(time.Second)
		s.is(reader, "done by hand")
		s.stop()
	})
}

// The outcome of a task whose chat was deleted meanwhile is not reported to that chat.
func TestForgottenTaskIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newScheduled(t, func(o *actortest.Options) {
			o.Model = modeltest.NewScript(modeltest.Held(release, modeltest.Say("a secret")))
		})
		s.add(
			timetable.Task{ID: "other", Title: "Other", Cron: "@manual", ChatKey: alice, Say: "other"},
			timetable.Task{ID: "secret", Title: "Secret", Cron: "0 9 * * *", ChatKey: reader, Body: "Sum up."},
		)
		s.start()
		s.pass(10 * time.Hour)
		stdtest.Must(t, errors.Join(s.tasks.ForgetChat(t.Context(), reader, nil), s.log.ForgetChat(t.Context(), reader)))
		s.System.Root.Send(s.pid, messages.TasksChanged{})
		close(release)
		s.pass(time.Hour)
		s.is(reader)
		if fires := s.fires(); slices.ContainsFunc(fires, func(f timetable.Fire) bool { return f.Task == "secret" }) {
			t.Errorf("the log still has %v", fires)
		}
		s.stop()
	})
}

// A task does not disturb a busy chat, and its words follow later.
func TestTaskWaitsForABusyChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Held(release, modeltest.Say("at last")), modeltest.Held(release, modeltest.Say("at last")))
		s := newScheduled(t, func(o *actortest.Options) { o.Model = script })
		when := s.now().Add(time.Minute)
		s.add(
			timetable.Task{ID: "a", Title: "A", When: when, ChatKey: reader, Say: "ping"},
			timetable.Task{ID: "b", Title: "B", When: when, ChatKey: alice, Say: "ping"},
		)
		s.start()
		s.Say(reader, "bob", "long work")
		s.Say(alice, "alice", "long work")
		s.pass(2 * time.Minute)
		s.is(reader)
		stdtest.Diff(t, "a chat with an outbox hears it at once", []string{"ping"}, s.Platform.Texts(alice))
		close(release)
		s.pass(10 * time.Second)
		s.is(reader, "at last", "ping")
		s.is(alice, "at last")
		s.stop()
	})
}

// In a chat that an operator has paused no task begins and no outcome is reported, also after a restart. When the pause
// ends everything follows once: the outcome, the reminder, and the newest time of a repeating task.
func TestTasksOfAPausedChatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Held(release, modeltest.Say("slow work")))
		script.Otherwise = &modeltest.Step{Do: obey}
		s := newScheduled(t, func(o *actortest.Options) { o.Model = script })
		at := func(d time.Duration) time.Time { return s.now().Add(d) }
		s.add(
			timetable.Task{ID: "a-slow", Title: "Slow", When: at(time.Minute), ChatKey: alice, Body: "Work."},
			timetable.Task{ID: "b-tea", Title: "Tea", When: at(10 * time.Minute), ChatKey: alice, Say: "Tea is ready."},
			timetable.Task{ID: "c-often", Title: "Often", Cron: "*/15 * * * *", ChatKey: alice, Body: "Look.", CatchUp: timetable.CatchUpSkip},
			timetable.Task{ID: "d-alone", Title: "Alone", Cron: "*/15 * * * *", Body: "Tidy."},
		)
		s.start()
		s.pass(2 * time.Minute)
		s.paused.Store(true)
		close(release)
		s.pass(30 * time.Minute)
		s.again()
		s.pass(2 * 24 * time.Hour)
		if got := s.Platform.Texts(alice); len(got) > 0 || len(s.read(alice)) > 0 || len(s.started("b-tea"))+len(s.started("c-often")) > 0 {
			t.Errorf("while the chat is paused it gets %q, and %d tasks begin", got, len(s.started("b-tea"))+len(s.started("c-often")))
		}
		s.paused.Store(false)
		s.pass(2 * time.Minute)
		s.again()
		s.pass(2 * time.Minute)
		s.is(alice, "Tea is ready.\n\n(planned for 2000-01-01 00:10 UTC)", "slow work",
			"did Often at 2000-01-03 00:30 UTC\n\n(times before that were left out: 193)")
		s.stop()
	})
}

// A run that fails, or that no person approves, is reported.
func TestTaskThatFailsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.FailWith("auth", false))
		s := newScheduled(t, func(o *actortest.Options) { o.Model = script })
		s.add(timetable.Task{ID: "report", Title: "日报", When: s.now().Add(time.Minute), ChatKey: reader, Body: "汇总"})
		s.start()
		s.pass(2 * time.Minute)
		s.is(reader, "任务“日报”没有完成。无法使用模型：密钥被拒绝。请管理员设置有效的密钥（llm.apiKey）。管理员可以用 sma chats show task-report-20000101T000100Z 查看。")
		s.stop()
	})
}

// People read that the answer of a task is not whole.
func TestTaskThatIsCutIsTold(t *testing.T) {
	for _, tt := range []struct{ words, reason, want string }{
		{"Half of it", "length", "Half of it\n\nThe answer was cut at its length limit. Ask me to go on, or for a shorter answer."},
		{"Half of it", "content-filter", "Half of it\n\nThe answer ends here: the service of my model stopped it because of its content."},
		{"All of it", "stop", "All of it"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newScheduled(t, func(o *actortest.Options) {
				o.Model = modeltest.NewFunc(func(model.Request) []model.Event {
					return append(modeltest.TextEvents(tt.words), modeltest.Finish(tt.reason))
				})
			})
			s.add(timetable.Task{ID: "report", Title: "Report", When: s.now().Add(time.Minute), ChatKey: reader, Body: "Sum up."})
			s.start()
			s.pass(2 * time.Minute)
			s.is(reader, tt.want)
			s.stop()
		})
	}
}

// The same task again while it runs is skipped, and the log records that.
func TestCL9OverlapIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Held(release, modeltest.Say("slow")))
		script.Otherwise = &modeltest.Step{Do: obey}
		s := newScheduled(t, func(o *actortest.Options) { o.Model = script })
		s.add(timetable.Task{ID: "often", Title: "Often", Cron: "* * * * *", ChatKey: reader, Body: "Look."})
		s.start()
		s.pass(3*time.Minute + 30*time.Second)
		close(release)
		s.pass(time.Minute)
		s.is(reader, "slow", "did Often at 2000-01-01 00:04 UTC")
		skipped := 0
		for _, f := range s.fires() {
			if f.Is == timetable.FireSkipped && f.Reason == timetable.SkipOverlap {
				skipped += f.Count
			}
		}
		if skipped != 2 {
			t.Errorf("%d times were left out, want 2", skipped)
		}
		s.stop()
	})
}

// Times missed while no host was running: the newest is made up for, with a note about the others;
// single times only within a day; and none for tasks with catch-up off.
func TestCL9MissedWhileDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduled(t, nil)
		s.add(
			timetable.Task{ID: "report", Title: "Report", Cron: "0 9 * * *", ChatKey: "web-chat-report", Body: "Sum up."},
			timetable.Task{ID: "strict", Title: "Strict", Cron: "0 9 * * *", ChatKey: "web-chat-strict", Body: "Sum up.", CatchUp: timetable.CatchUpSkip},
			timetable.Task{ID: "old", Title: "Old", When: s.now().Add(time.Hour), ChatKey: "web-chat-old", Say: "too late"},
			timetable.Task{ID: "new", Title: "New", When: s.now().Add(96 * time.Hour), ChatKey: "web-chat-new", Say: "just in time"},
		)
		s.start()
		s.stop()
		s.Kill()
		<-time.After(100 * time.Hour)
		s.World = s.Again(nil)
		s.start()
		s.pass(time.Minute)
		s.is("web-chat-report", "did Report at 2000-01-04 09:00 UTC\n\n(planned for 2000-01-04 09:00 UTC; times before that were left out: 3)")
		s.is("web-chat-strict", "The task “Strict” was not done: I was not running at 2000-01-04 09:00 UTC, nor at the 3 times before.")
		s.is("web-chat-old", "The task “Old” was not done: I was not running at 2000-01-01 01:00 UTC.")
		s.is("web-chat-new", "just in time\n\n(planned for 2000-01-05 00:00 UTC)")
		s.again()
		s.pass(time.Minute)
		s.is("web-chat-new", "just in time\n\n(planned for 2000-01-05 00:00 UTC)")
		s.stop()
	})
}

// Everything is killed at random points, the fire log fails before and after writing, and people
// talk meanwhile: each started fire is reported once, and each planned time was started or skipped,
// once.
func TestCL9EachFireOnceAcrossRestarts(t *testing.T) {
	restarts := 30
	if os.Getenv("SOAK") != "" {
		restarts = 1000
	}
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		s := newScheduled(t, nil)
		tasks := []timetable.Task{
			{ID: "seven", Title: "Seven", Cron: "*/7 * * * *", ChatKey: "web-chat-seven", Body: "Do it."},
			{ID: "ten", Title: "Ten", Cron: "*/10 * * * *", ChatKey: "web-chat-ten", Say: "ping"},
			{ID: "minute", Title: "Minute", Cron: "* * * * *", ChatKey: "web-chat-minute", Body: "Do it."},
			{ID: "hour", Title: "Hour", Cron: "3 * * * *", ChatKey: "web-chat-hour", Say: "ping", CatchUp: timetable.CatchUpSkip},
		}
		s.add(tasks...)
		s.start()
		s.log.failing.Store(true)
		for range restarts {
			d := time.Duration(r.Int64N(int64(6 * time.Minute)))
			if r.IntN(2) == 0 { // exactly at a planned time
				d = d.Truncate(time.Minute) + time.Duration(r.IntN(3))*time.Nanosecond
			}
			<-time.After(d)
			if r.IntN(3) == 0 {
				s.Say("web-chat-seven", "bob", "hi")
			}
			s.again()
		}
		s.log.failing.Store(false)
		s.pass(time.Hour)
		s.stop()
		end, fires := s.now(), s.fires()
		for _, task := range tasks {
			s.onceEach(task, fires, end)
		}
	})
}

// onceEach checks what became of the times of one task.
func (s *scheduled) onceEach(task timetable.Task, fires []timetable.Fire, end time.Time) {
	s.t.Helper()
	var since time.Time
	told, first, settled := map[string]timetable.Fire{}, map[string]bool{}, map[string]bool{}
	accounted, words := 0, 0
	for _, f := range fires {
		switch {
		case f.Task != task.ID:
		case f.Is == timetable.FireSeen && since.IsZero():
			since = f.At
		case f.Is == timetable.FireSettled:
			settled[f.ID] = true
		case (f.Is == timetable.FireStarted || f.Is == timetable.FireSkipped) && !first[f.ID]:
			first[f.ID] = true
			accounted += f.Count
			if f.Is == timetable.FireStarted {
				accounted++
			}
			if f.Is == timetable.FireStarted || f.Text != "" {
				told[f.ID] = f
				words++
			}
		}
	}
	times, err := task.Schedule(time.UTC)
	stdtest.Must(s.t, err)
	if _, want := times.Missed(since, end); accounted != want {
		s.t.Errorf("%s: %d times are accounted for, want %d", task.ID, accounted, want)
	}
	heard := slices.DeleteFunc(s.read(task.ChatKey), func(text string) bool { return text == "hello" })
	if len(heard) != words {
		s.t.Errorf("%s: %d words were heard of %d fires", task.ID, len(heard), words)
	}
	for id, f := range told {
		if !settled[id] {
			s.t.Errorf("%s is not settled", id)
		}
		mark := "at " + f.Planned.UTC().Format("2006-01-02 15:04 UTC")
		n := 0
		for _, text := range heard {
			if strings.Contains(text, mark) {
				n++
			}
		}
		if task.Say == "" && f.Is == timetable.FireStarted && n != 1 {
			s.t.Errorf("%s was heard %d times", id, n)
		}
	}
}
