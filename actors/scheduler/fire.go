package scheduler

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// step sends a fire's next request. It may be repeated.
func (s *scheduler) step(ac actor.Context, f *fire) {
	f.retry = time.Now().Add(patience)
	switch f.phase {
	case asking:
		ac.Request(s.Router, s.ingress(f))
	case running:
		s.ask(ac, f)
	case telling:
		if f.ChatKey == "" || strings.TrimSpace(f.text) == "" {
			s.settle(f)
			return
		}
		if s.silent(f) {
			return // asked again later
		}
		ac.Request(s.Router, messages.PostWords{ChatKey: f.ChatKey, PostID: f.ID, RequestID: requestID(f), Text: f.text})
	}
}

func (s *scheduler) paused(t timetable.Task) bool {
	return t.ChatKey != "" && s.Paused != nil && s.Paused(t)
}

// silent reports whether the outcome of a fire waits, also if its task is gone.
func (s *scheduler) silent(f *fire) bool {
	t := timetable.Task{ID: f.Task}
	if known := s.find(f.Task); known != nil {
		t = known.Task
	}
	t.ChatKey = f.ChatKey
	return s.paused(t)
}

func requestID(f *fire) string { return "task-" + f.ID }

// zone is the time zone of the task when the fire started.
func (s *scheduler) zone(f *fire) *time.Location {
	if zone, err := time.LoadLocation(f.Zone); err == nil && f.Zone != "" {
		return zone
	}
	return s.Zone
}

// ingress returns the instructions as the first turn of the fire's own chat.
func (s *scheduler) ingress(f *fire) messages.AcceptIngress {
	key := timetable.FireChat(f.ID)
	meta := uimessage.Metadata{
		TS: f.At.UnixMilli(), ChatKey: string(key), Channel: "task", ChatID: f.ID, ChatType: messages.ChatPrivate, ChatTitle: f.Title, MessageID: "1", RequestID: requestID(f),
		Kind: uimessage.KindNormal, Source: uimessage.SourceTask, IngressID: "task:" + f.ID,
	}
	return messages.AcceptIngress{
		ChatKey: key, RequestID: meta.RequestID, IngressID: meta.IngressID, Verdict: messages.VerdictOpen,
		Turn: uimessage.Message{
			ID: "u:" + string(key) + ":1", Role: uimessage.RoleUser,
			Parts:    []uimessage.Part{uimessage.Text{Text: preface(f.Fire, s.zone(f))}, uimessage.Text{Text: f.Body}},
			Metadata: meta.Append(nil),
		},
		// The author of the task is not present: these words decide no request.
		Forwarded: true,
	}
}

// ofChat returns the open fire with this chat of its own.
func (s *scheduler) ofChat(key messages.ChatKey) *fire {
	if s.book == nil {
		return nil
	}
	id, ok := strings.CutPrefix(string(key), string(timetable.FireChat("")))
	if !ok {
		return nil
	}
	return s.book.open[id]
}

// later handles a chat that refused for now.
func (s *scheduler) later(key messages.ChatKey) {
	if f := s.ofChat(key); f != nil {
		s.pause(f)
	}
}

// pause repeats the request of a fire soon.
func (s *scheduler) pause(f *fire) {
	f.retry = time.Now().Add(pause)
	s.wake(pause)
}

func (s *scheduler) onAccepted(ac actor.Context, msg messages.IngressAccepted) {
	f := s.ofChat(msg.ChatKey)
	if f == nil || f.phase != asking {
		return
	}
	if msg.Declined != "" {
		s.ended(ac, f, string(journal.ResultFailed), failed(f.Fire, "", msg.Declined))
		return
	}
	f.phase = running
	s.step(ac, f)
}

// ask queries the chat of a fire and watches it for the end of a run.
func (s *scheduler) ask(ac actor.Context, f *fire) {
	if f == nil || f.phase != running {
		return
	}
	key := timetable.FireChat(f.ID)
	ac.Request(s.Router, messages.WatchChat{ChatKey: key, WatchID: watchID})
	ac.Request(s.Router, messages.ViewQuery{ChatKey: key})
}

// onView decides whether a fire's run has ended, and with what result.
func (s *scheduler) onView(ac actor.Context, msg messages.ViewReply) {
	f := s.ofChat(msg.ChatKey)
	if f == nil || f.phase != running || msg.Err != "" || msg.Running || msg.Open > 0 || len(msg.Waiting) > 0 {
		return
	}
	var last uimessage.Message
	if n := len(msg.Messages); n > 0 {
		last = msg.Messages[n-1]
	}
	meta, err := uimessage.DecodeMetadata(last.Metadata)
	switch {
	case err != nil || last.Role != uimessage.RoleAssistant || meta.Result == "":
		s.ended(ac, f, string(journal.ResultFailed), failed(f.Fire, "", "no answer"))
	case meta.Result == string(journal.ResultWaiting) && parts.Asking(last.Parts):
		s.waits(ac, f)
	case meta.Result == string(journal.ResultWaiting):
		s.ended(ac, f, string(journal.ResultFailed), undecided(f.Fire))
	case meta.Result != string(journal.ResultDone):
		s.ended(ac, f, meta.Result, unfinished(f.Fire, meta))
	default:
		s.ended(ac, f, meta.Result, answered(f.Fire, parts.FinalText(last), meta.Notice())+lateness(f.Fire, s.zone(f), f.At.Sub(f.Planned)))
	}
}

// waitsMark is appended to the id of a fire to get the id of the notice that it waits.
const waitsMark = ":waits"

// waits tells people once that a run waits for a person, if there is a chat to tell them in.
func (s *scheduler) waits(ac actor.Context, f *fire) {
	switch {
	case f.waits:
	case f.ChatKey == "":
		s.park(ac, f)
	case s.silent(f): // asked again later
	default:
		en, zh := "", ""
		if s.Asked != nil {
			en, zh = s.Asked(timetable.FireChat(f.ID))
		}
		ac.Request(s.Router, messages.PostWords{ChatKey: f.ChatKey, PostID: f.ID + waitsMark, RequestID: requestID(f), Text: waiting(f.Fire, en, zh)})
	}
}

// park records that a run waits for a person. A failure is logged, and the notice is repeated.
func (s *scheduler) park(ac actor.Context, f *fire) {
	if s.write(timetable.Fire{Is: timetable.FireWaits, At: s.Now(), Task: f.Task, ID: f.ID}) {
		s.look(ac) // another task may run now
	}
}

// ended makes the outcome of a fire durable and then reports it.
func (s *scheduler) ended(ac actor.Context, f *fire, result, text string) {
	if !s.write(timetable.Fire{Is: timetable.FireEnded, At: s.Now(), Task: f.Task, ID: f.ID, Result: result, Text: text}) {
		return // the timer asks again
	}
	ac.Request(s.Router, messages.UnwatchChat{ChatKey: timetable.FireChat(f.ID), WatchID: watchID})
	s.step(ac, f)
	s.look(ac) // another task may run now
}

func (s *scheduler) onPosted(ac actor.Context, msg messages.WordsPosted) {
	if s.book == nil {
		return
	}
	id, waits := strings.CutSuffix(msg.PostID, waitsMark)
	f := s.book.open[id]
	if f != nil && waits && !f.waits && msg.Reason == "" {
		s.park(ac, f)
	}
	if f == nil || waits || f.phase != telling {
		return
	}
	if msg.Reason != "" {
		s.pause(f)
		return
	}
	s.settle(f)
}

// settle ends a fire. A task with a single time is then done.
func (s *scheduler) settle(f *fire) {
	if f.By == "" {
		s.done(f)
	}
	if !s.write(timetable.Fire{Is: timetable.FireSettled, At: s.Now(), Task: f.Task, ID: f.ID, Result: f.result}) {
		return // the timer asks again
	}
	if f.Is == timetable.FireStarted {
		s.Metrics.became(f.result, 1)
		s.log.Info("a task has ended", "task", f.Task, "fire", f.ID, "result", f.result)
	}
}

// done notes in the file of a task with a single time that this time has passed. The fire log knows
// it anyway; the note is for people.
func (s *scheduler) done(f *fire) {
	t := s.find(f.Task)
	if t == nil || t.times.Repeats() || t.Status != timetable.Active || timetable.FireID(t.ID, t.When) != f.ID {
		return
	}
	if err := s.Tasks.SetTaskStatus(context.Background(), t.ID, timetable.Done, t.MadeBy); err != nil {
		s.log.Warn("a task is done, but its file could not be updated", "task", t.ID, "error", err)
	}
	t.Status, t.next = timetable.Done, time.Time{}
}

// find returns a task as it was read last, or nil.
func (s *scheduler) find(id string) *task {
	i, ok := sort.Find(len(s.tasks), func(i int) int { return cmp.Compare(id, s.tasks[i].ID) })
	if !ok {
		return nil
	}
	return &s.tasks[i]
}

// changed reports whether a task was changed or removed since it was read.
func (s *scheduler) changed(id string) bool {
	now, err := s.Tasks.Task(id)
	was := s.find(id)
	return err != nil || was == nil || now.Digest() != was.Digest()
}

// look starts what is due, repeats requests without an answer, and sets the timer.
func (s *scheduler) look(ac actor.Context) {
	fresh := s.tasks == nil
	if s.ready() {
		s.plan(ac, fresh)
		now := time.Now()
		for _, f := range s.fires() {
			if !f.retry.After(now) {
				s.step(ac, f)
			}
		}
	}
	s.arm()
}

// ready reads the log and the tasks if that is still to be done.
func (s *scheduler) ready() bool {
	ctx := context.Background()
	if s.book == nil || time.Since(s.read) > reread {
		fires, err := s.Log.Fires(ctx)
		switch {
		case err == nil:
			s.book, s.read = newBook(fires), time.Now()
		case s.book == nil:
			s.log.Error("no tasks are run because it is unknown which ones have run", "error", err)
			return false
		}
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
	for _, t := range all {
		times, err := t.Schedule(s.Zone)
		if err != nil { // Unreachable: the store has validated it
			continue
		}
		read := task{Task: t, times: times}
		if s.removed(read) {
			continue
		}
		s.tasks = append(s.tasks, read)
	}
	s.tell(problems)
	s.forget(ctx)
	return true
}

// forget reads the log again if the task of an open fire is gone. After the deletion of its chat the log does not have the
// fire any more, and its outcome is not reported.
func (s *scheduler) forget(ctx context.Context) {
	left := map[string]bool{}
	for _, t := range s.tasks {
		left[t.ID] = true
	}
	for _, f := range s.book.open {
		if left[f.Task] {
			continue
		}
		if fires, err := s.Log.Fires(ctx); err == nil { // else with the next change
			s.book, s.read = newBook(fires), time.Now()
		}
		return
	}
}

// keepDone is how long after its single time the file of a task that is done is kept.
const keepDone = 30 * 24 * time.Hour

// removed removes the file of a task that was done long ago. Otherwise these files would accumulate. It reports whether
// the task is gone.
func (s *scheduler) removed(t task) bool {
	if t.Status != timetable.Done || t.times.Repeats() || s.Now().Sub(t.When) < keepDone || s.book.running(t.ID) {
		return false
	}
	if err := s.Tasks.RemoveTask(context.Background(), t.ID); err != nil {
		s.log.Warn("the file of a task that is done could not be removed", "task", t.ID, "error", err)
		return false
	}
	s.log.Info("the file of a task that was done long ago was removed", "task", t.ID)
	return true
}

// tell logs files that cannot be read, once each.
func (s *scheduler) tell(problems []timetable.Problem) {
	var now []string
	for _, p := range problems {
		now = append(now, p.String())
		if !slices.Contains(s.logged, p.String()) {
			s.log.Warn("a task cannot be read", "path", p.Path, "line", p.Line, "reason", p.What, "hint", p.Hint)
		}
	}
	s.logged = now
}

// plan starts the fires that are due, after they are in the log. If people have cancelled or changed one of their tasks
// since the tasks were read, they are read again first.
func (s *scheduler) plan(ac actor.Context, fresh bool) {
	now := s.Now()
	fires := s.book.plan(s.tasks, s.looked, now, s.paused)
	if !fresh && slices.ContainsFunc(fires, func(f timetable.Fire) bool { return s.changed(f.Task) }) {
		if s.tasks = nil; !s.ready() {
			return
		}
		fires = s.book.plan(s.tasks, s.looked, now, s.paused)
	}
	if len(fires) > 0 && !s.write(fires...) {
		return // looked does not change, so that what became due meanwhile stays due
	}
	s.looked = now
	for _, f := range fires {
		switch f.Is {
		case timetable.FireStarted:
			s.begun(ac, f)
			s.Metrics.started(now.Sub(f.Planned))
			s.Metrics.became(timetable.SkipMissed, f.Count)
		case timetable.FireSkipped:
			s.Metrics.became(f.Reason, f.Count)
			s.log.Info("a scheduled time of a task was skipped", "task", f.Task, "planned", f.Planned, "reason", f.Reason, "times", f.Count)
		case timetable.FireSeen, timetable.FireWaits, timetable.FireEnded, timetable.FireSettled:
		}
	}
}

func (s *scheduler) begun(ac actor.Context, f timetable.Fire) {
	s.log.Info("a task begins", "task", f.Task, "fire", f.ID, "planned", f.Planned)
	if s.book == nil {
		return // a write failed; open fires continue once the log is read again
	}
	if o := s.book.open[f.ID]; o != nil {
		s.step(ac, o)
	}
}

// write makes records durable and applies them to the book, in this order. After an error the
// contents of the log are unknown: it is read again before anything else is written.
func (s *scheduler) write(fires ...timetable.Fire) bool {
	if s.book == nil {
		return false
	}
	if err := s.Log.AddFires(context.Background(), fires...); err != nil {
		s.log.Error("the log of started tasks cannot be written; due tasks wait", "error", err)
		s.book, s.tasks = nil, nil
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
	if !s.ready() {
		answer.Reason = "unavailable"
		return
	}
	t, err := s.Tasks.Task(msg.TaskID)
	if err != nil {
		answer.Reason = "not_found"
		return
	}
	times, err := t.Schedule(s.Zone)
	if err != nil { // Unreachable: the store has validated it
		answer.Reason = "not_found"
		return
	}
	now := s.Now()
	f := timetable.Fire{
		Is: timetable.FireStarted, At: now, Task: t.ID, ID: timetable.FireByHand(t.ID, now), Planned: now, Title: t.Title, ChatKey: t.ChatKey,
		Say: t.Say, Body: t.Body, Text: t.Say, Zone: times.Zone.String(), By: cmp.Or(msg.By, "somebody"),
	}
	switch {
	case s.book.running(t.ID) || s.book.known[f.ID]:
		answer.Reason = "running"
	case !s.write(f):
		answer.Reason = "unavailable"
	default:
		answer.FireID = f.ID
		s.begun(ac, f)
		s.wake(look)
	}
}

// fires returns the open fires, in the order of their ids.
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

// arm sets the timer for what comes next, if anything does.
func (s *scheduler) arm() {
	wait, now := look, s.Now()
	busy := s.book == nil || s.tasks == nil // the log has to be read again
	for i := range s.tasks {
		if t := &s.tasks[i]; !t.next.IsZero() {
			busy, wait = true, min(wait, max(t.next.Sub(now), 0))
		}
	}
	for _, f := range s.fires() {
		busy, wait = true, min(wait, max(time.Until(f.retry), 0))
	}
	if busy {
		s.wake(wait)
	}
}

// wake sets the one timer, unless it ends sooner already.
func (s *scheduler) wake(wait time.Duration) {
	at := time.Now().Add(wait)
	if s.timer != nil {
		if !at.Before(s.wakes) {
			return
		}
		s.timer.Stop()
	}
	s.gen++
	s.wakes, s.timer = at, s.home.After(wait, due{s.gen})
}
