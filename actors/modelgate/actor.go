package modelgate

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// DefaultMax is how many model calls run at once unless set otherwise.
const DefaultMax = 512

// Options of the model gate.
type Options struct {
	Max       int // model calls at once; 0: [DefaultMax]
	PerMinute int // model calls a minute; 0: no limit
}

// Props makes the model gate.
func Props(o Options) *actor.Props {
	if o.Max <= 0 {
		o.Max = DefaultMax
	}
	return actor.PropsFromProducer(func() actor.Actor {
		return &gate{line: newLine(o.Max, o.PerMinute), runs: map[string]*actor.PID{}, byPID: map[string]string{}}
	})
}

// gate is the actor around the line.
type gate struct {
	line  *line
	runs  map[string]*actor.PID
	byPID map[string]string // run ids by their actor's
	timed bool
}

// refill: the minute's budget may allow more.
type refill struct{}

func (g *gate) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case messages.AcquireSlot:
		g.acquire(ac, msg)
	case messages.ReleaseSlot:
		g.release(ac, msg.RunID)
	case *actor.Terminated:
		g.gone(ac, msg.Who)
	case refill:
		g.timed = false
		g.admit(ac)
	}
}

func (g *gate) acquire(ac actor.Context, msg messages.AcquireSlot) {
	if g.runs[msg.RunID] == nil {
		g.runs[msg.RunID], g.byPID[ac.Sender().Id] = ac.Sender(), msg.RunID
		ac.Watch(ac.Sender())
	}
	g.line.ask(msg.RunID)
	g.admit(ac)
}

func (g *gate) release(ac actor.Context, runID string) {
	if pid := g.runs[runID]; pid != nil {
		ac.Unwatch(pid)
		g.forget(pid, runID)
		g.admit(ac)
	}
}

// gone gives back what a run held when its actor ended.
func (g *gate) gone(ac actor.Context, who *actor.PID) {
	if runID, ok := g.byPID[who.Id]; ok {
		g.forget(who, runID)
		g.admit(ac)
	}
}

func (g *gate) forget(pid *actor.PID, runID string) {
	delete(g.runs, runID)
	delete(g.byPID, pid.Id)
	g.line.release(runID)
}

func (g *gate) admit(ac actor.Context) {
	granted, wait := g.line.admit(time.Now())
	for _, runID := range granted {
		ac.Send(g.runs[runID], messages.SlotGranted{RunID: runID})
	}
	if wait > 0 && !g.timed {
		g.timed = true
		root, self := ac.ActorSystem().Root, ac.Self()
		time.AfterFunc(wait, func() { root.Send(self, refill{}) })
	}
}
