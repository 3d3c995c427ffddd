package simtest

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// backlog is how many tasks may arrive between two checks.
const backlog = 1 << 14

// task is something that can happen next: a mailbox with messages, or a continuation of work. Its
// name is unique among those that can happen at once.
type task struct {
	life int
	name string
	run  func()
}

// letter is a message sent by a timer.
type letter struct {
	to   *mailbox
	msg  any
	at   time.Time
	text string // of the message, to distinguish letters of one instant
}

// sched decides what happens next. Tasks arrive from any goroutine; everything else belongs to the
// goroutine that runs them.
type sched struct {
	in    chan task
	mail  chan letter // what timers send while time passes
	ready []task
	life  int // tasks of earlier lives are dropped
	pause *time.Timer
	// asleep is set while time passes, when only timers send.
	asleep atomic.Bool
}

func newSched() *sched {
	s := &sched{in: make(chan task, backlog), mail: make(chan letter, backlog), pause: time.NewTimer(0)}
	<-s.pause.C
	return s
}

// run runs one task until everything it started waits for something else.
func (s *sched) run(i int) {
	t := s.ready[i]
	s.ready = slices.Delete(s.ready, i, i+1)
	t.run()
	s.settle()
}

// settle lets an instant pass, so that no two tasks have the same time, and collects what has
// become possible.
func (s *sched) settle() { s.pass(1) }

func (s *sched) pass(d time.Duration) {
	s.sleep(d)
	<-s.pause.C
	s.take(nil)
}

func (s *sched) sleep(d time.Duration) {
	synctest.Wait()
	s.asleep.Store(true)
	s.pause.Reset(d)
}

// idle lets time pass until something can happen, up to a limit.
func (s *sched) idle(d time.Duration) {
	if len(s.ready) > 0 {
		return
	}
	var mail []letter
	s.sleep(d)
	select {
	case t := <-s.in:
		s.add(t)
	case l := <-s.mail:
		mail = append(mail, l)
	case <-s.pause.C:
	}
	s.pause.Stop()
	s.take(mail)
}

// take collects letters and tasks. Goroutines that woke together add them in any order, so they are
// sorted.
func (s *sched) take(mail []letter) {
	synctest.Wait()
	s.asleep.Store(false)
	for len(s.mail) > 0 {
		mail = append(mail, <-s.mail)
	}
	slices.SortStableFunc(mail, func(a, b letter) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.to.of.name, b.to.of.name), cmp.Compare(a.text, b.text))
	})
	for _, l := range mail {
		l.to.Mailbox.PostUserMessage(l.msg)
	}
	from := len(s.ready)
	for len(s.in) > 0 {
		s.add(<-s.in)
	}
	slices.SortFunc(s.ready[from:], func(a, b task) int { return cmp.Compare(a.name, b.name) })
}

func (s *sched) add(t task) {
	if t.life == s.life {
		s.ready = append(s.ready, t)
	}
}

// mailbox sorts what timers send.
type mailbox struct {
	actor.Mailbox
	of hand
}

func (m *mailbox) PostUserMessage(msg any) {
	if s := m.of.life.sim.sched; s.asleep.Load() {
		s.mail <- letter{m, msg, time.Now(), fmt.Sprintf("%T%+v", msg, msg)}
		return
	}
	m.Mailbox.PostUserMessage(msg)
}

// next starts another life: pending tasks of the previous one never run.
func (s *sched) next() {
	s.life++
	s.ready = nil
}

type life struct {
	sim    *Sim
	n      int
	ended  chan struct{}
	bodies int
	node
}

// turn waits until the scheduler picks the work with this name. Work of a process that has ended
// stops here.
func (l *life) turn(name string) {
	picked := make(chan struct{})
	select {
	case l.sim.sched.in <- task{l.n, name, func() { close(picked) }}:
	case <-l.ended:
		runtime.Goexit()
	}
	select {
	case <-picked:
	case <-l.ended:
		runtime.Goexit()
	}
}

// wait lets time pass for work; it returns false if done was closed first.
func (l *life) wait(name string, d time.Duration, done <-chan struct{}) bool {
	over := false
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		over = true
	case <-done:
	case <-l.ended:
		runtime.Goexit()
	}
	l.turn(name)
	return over
}

// start starts work outside the actors; under unique names it can wait.
func (l *life) start(name string, work func(name string)) {
	l.bodies++
	name = name + "!" + itoa(l.bodies)
	l.sim.sched.in <- task{l.n, name, func() { go work(name) }}
}

// hand is an actor's part of the scheduler.
type hand struct {
	life *life
	name string
}

func (h hand) Schedule(mailbox func()) {
	select {
	case h.life.sim.sched.in <- task{h.life.n, h.name, mailbox}:
	case <-h.life.ended:
	}
}

func (hand) Throughput() int { return backlog }

// Start implements the pipe's starter: work starts when it is picked and its result is sent when it
// is picked again.
func (h hand) Start(work func() any, home func(any)) {
	h.life.start(h.name, func(name string) {
		result := work()
		h.life.turn(name + " home")
		home(result)
	})
}

// handed is an actor's context with the starter.
type handed struct {
	actor.Context
	hand
}

func (l *life) props(name string, p *actor.Props) *actor.Props {
	h := hand{l, name}
	return p.Configure(actor.WithDispatcher(h),
		actor.WithMailbox(func() actor.Mailbox { return &mailbox{actor.Unbounded()(), h} }),
		actor.WithContextDecorator(func(next actor.ContextDecoratorFunc) actor.ContextDecoratorFunc {
			return func(ac actor.Context) actor.Context { return next(handed{ac, h}) }
		}),
		actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
			return func(ac actor.ReceiverContext, e *actor.MessageEnvelope) {
				l.sim.trace.received(e.Message)
				next(ac, e)
			}
		}))
}
