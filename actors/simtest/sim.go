package simtest

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options configure a simulation.
type Options struct {
	Seed   uint64
	Faults int // how many are injected before all work must complete
	Disk   Disk
	Trace  io.Writer // takes every line of the trace; may be nil
	// Compacts makes chats compact frequently.
	Compacts bool
}

// Result is the result of a simulation.
type Result struct {
	Faults map[string]int // by kind
	Steps  int
	Lives  int
	Turns  int
	Shown  int
	// Stories count other things that happened: merges, stops, answers to requests, compactions.
	Stories map[string]int
	Sum     uint64 // of the trace
	Tail    string // the trace's last lines
	Err     string // the first guarantee that was broken; may be empty
}

// Total is the number of faults.
func (r Result) Total() int {
	n := 0
	for _, c := range r.Faults {
		n += c
	}
	return n
}

// setup is what a seed chooses for its whole simulation.
type setup struct {
	chats      []messages.ChatKey
	mode       string
	lane       int
	slots      int
	idle       time.Duration
	toolEgress bool
	drafts     bool
	strict     bool // messages of a chat are delivered one at a time
	stopAll    bool
	rates      platform.Rates
	compacting compacting
}

// Sim is a simulation in progress.
type Sim struct {
	o     Options
	setup setup
	rnd   *rand.Rand
	sched *sched
	trace *trace

	system *actor.ActorSystem
	life   *life
	people *people
	sent   *sent

	witnesses map[messages.ChatKey]*witness
	order     []*witness
	permitted map[int]bool   // numbers of calls that a person approved
	effects   map[int]effect // by number
	told      map[int]bool   // numbers whose outcome was archived by a rewind

	resting bool
	looking bool // the witness reads, and faults are off
	steps   int
	places  int64 // number of messages by anyone
	tokens  int
	asked   int // requests to the model
	calls   int
	asks    int    // the last number of a request for approval
	crash   string // how the process will be killed, as soon as possible; may be empty
	dieIn   int    // operations of the store until it is killed; 0 means never
	dieHow  string
	faults  map[string]int
	stories map[string]int
	err     string
}

// Run runs a simulation in the current synctest bubble.
func Run(o Options) Result {
	s := &Sim{
		o: o, rnd: rand.New(rand.NewPCG(o.Seed, 0x5eed)), sched: newSched(), trace: newTrace(o.Trace), faults: map[string]int{}, stories: map[string]int{},
		witnesses: map[messages.ChatKey]*witness{}, permitted: map[int]bool{}, effects: map[int]effect{}, told: map[int]bool{},
		system: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })),
	}
	s.system.EventStream.Subscribe(func(event any) {
		if e, ok := event.(*actor.SupervisorEvent); ok {
			s.trace.addf("  %s panicked: %.200v", e.Child.Id, e.Reason)
		}
	})
	s.people, s.sent = newPeople(s), newSent(s)
	s.choose()
	s.boot()
	for s.err == "" && (Result{Faults: s.faults}).Total() < o.Faults {
		s.tick()
	}
	s.rest()
	s.end()
	return Result{
		Faults: s.faults, Steps: s.steps, Lives: s.sched.life, Turns: len(s.people.posts), Shown: len(s.sent.list), Stories: s.stories,
		Sum: s.trace.sum, Tail: s.trace.last(), Err: s.err,
	}
}

// choose lets the seed choose the setup.
func (s *Sim) choose() {
	keys := []messages.ChatKey{"telegram-chat-1", "telegram-chat-2", "telegram-chat--3", "telegram-chat-4", "telegram-chat--5-topic-6"}
	s.setup = setup{
		chats: keys[:1+s.rnd.IntN(len(keys))],
		mode:  []string{"merge", "merge", "merge", "followup", "interrupt"}[s.rnd.IntN(5)],
		lane:  []int{2, 5, 200}[s.rnd.IntN(3)], slots: []int{1, 2, 512}[s.rnd.IntN(3)],
		idle:       []time.Duration{2 * time.Second, 20 * time.Second, 2 * time.Minute}[s.rnd.IntN(3)],
		toolEgress: s.chance(2), drafts: s.chance(3), strict: s.chance(2), stopAll: s.chance(2),
	}
	if s.chance(3) {
		s.setup.rates = platform.Rates{PerChat: platform.Rate{N: 1, Per: time.Second}, PerGroup: platform.Rate{N: 20, Per: time.Minute}}
	}
	s.trace.addf("seed %d: %+v", s.o.Seed, s.setup)
	s.chooseFolding()
}

// chance is true once in n times.
func (s *Sim) chance(n int) bool { return s.rnd.IntN(n) == 0 }

func (s *Sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rnd.Int64N(int64(d))) + 1 }

// faulty reports whether faults are still injected.
func (s *Sim) faulty() bool { return !s.resting }

func (s *Sim) fault(kind, what string) {
	s.faults[kind]++
	s.trace.add("fault " + kind + " " + what)
}

// failf records the first guarantee that was broken.
func (s *Sim) failf(format string, args ...any) {
	if s.err == "" {
		s.err = fmt.Sprintf(format, args...)
		s.trace.add("FAILED " + s.err)
	}
}

// token is a unique word.
func (s *Sim) token() string {
	s.tokens++
	return "·" + itoa(s.tokens) + "·"
}

// unique reports whether a text occurs in one row only.
func (*Sim) unique(text string) bool { return strings.Contains(text, "·") }

// tick lets one thing happen.
func (s *Sim) tick() {
	s.steps++
	switch {
	case s.crash != "":
		s.reborn()
	case len(s.sched.ready) > 0 && !s.chance(9):
		s.step()
	default:
		s.act()
	}
	s.check()
}

// step runs one of the tasks that can happen next.
func (s *Sim) step() {
	i := s.rnd.IntN(len(s.sched.ready))
	s.trace.add("run " + s.sched.ready[i].name)
	s.sched.run(i)
}

// act does something from outside: people, faults, time.
func (s *Sim) act() {
	key := s.setup.chats[s.rnd.IntN(len(s.setup.chats))]
	switch n := s.rnd.IntN(100); {
	case n < 40 && len(s.people.shown(key)) > 0:
		s.people.decide(key)
	case n < 30:
		s.people.write(key)
	case n < 40:
		s.people.decide(key)
	case n < 45:
		s.people.order(key)
	case n < 48:
		s.die()
	case n < 52:
		if kind, ok := s.o.Disk.Fault(s.rnd.IntN); ok {
			s.fault(kind, "of the disk")
		}
	default:
		s.later()
	}
	s.sched.settle()
}

// later lets time pass: until something can happen, or for a while.
func (s *Sim) later() {
	switch n := s.rnd.IntN(40); {
	case n < 30:
		s.sched.idle(time.Minute)
	case n < 36:
		s.sched.pass(s.upTo(5 * time.Second))
	case n < 39:
		s.fault("standstill", "short")
		s.sched.pass(s.upTo(2 * time.Minute))
	default:
		s.fault("standstill", "long")
		s.sched.pass(s.upTo(40 * time.Minute))
	}
}

// die kills the process now, or in the middle of its next operation.
func (s *Sim) die() {
	how := []string{"crash", "power cut"}[s.rnd.IntN(2)]
	if s.chance(3) {
		s.crash = how
		return
	}
	s.dieIn, s.dieHow = 1+s.rnd.IntN(6), how
}

// reborn kills the process and starts another one, at once or later.
func (s *Sim) reborn() {
	s.fault(s.crash, "")
	close(s.life.ended)
	s.sched.settle()
	s.sent.crashed()
	power := s.crash == "power cut"
	s.o.Disk.Crash(power, s.rnd.IntN)
	s.crash, s.dieIn = "", 0
	if s.faulty() && s.chance(8) {
		s.sched.pass(s.upTo(20 * time.Minute))
	}
	for _, w := range s.order {
		if power || w.under || w.troubled {
			w.excuse("what was not forced is gone, or a write came to nobody knows what")
		}
		w.under, w.troubled = false, true // the next process has not read it yet
	}
	s.boot()
}

func (s *Sim) check() {
	for _, w := range s.order {
		w.check()
	}
}
