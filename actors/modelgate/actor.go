package modelgate

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/messages"
)

// largeTable is how many askers at once make the tables large enough to be replaced.
const largeTable = 256

// Options configure the model gate.
type Options struct {
	// Limits returns how many model calls may run at once and start per minute, where 0 means no
	// limit. It is asked with every message.
	Limits func() (atOnce, perMinute int)
	// Metrics may be nil.
	Metrics *Metrics
}

// Props makes the model gate. They are for one spawn: the queue and the slots in use survive a
// panic of the actor.
func Props(o Options) *actor.Props {
	g := &gate{limits: o.Limits, line: newLine(0, 0), askers: map[string]asker{}, metrics: o.Metrics}
	return actor.PropsFromProducer(func() actor.Actor { return g })
}

// gate is the actor around the line. Askers are identified by their actors, not by the id of their
// run: after a restart another actor continues the same run.
type gate struct {
	limits  func() (atOnce, perMinute int)
	line    *line
	askers  map[string]asker // who waits or has a slot, by the id of its PID
	most    int              // most askers at once since the gate was last empty
	metrics *Metrics
	timed   bool
}

// asker is the actor of a run.
type asker struct {
	pid   *actor.PID
	since time.Time
}

// refill reports that the minute's budget may allow more calls.
type refill struct{}

func (g *gate) Receive(ac actor.Context) {
	g.line.max, g.line.perMinute = g.limits()
	switch msg := ac.Message().(type) {
	case messages.AcquireSlot:
		g.acquire(ac, msg)
	case messages.ReleaseSlot:
		g.release(ac, ac.Sender())
	case *actor.Terminated:
		g.release(ac, msg.Who)
	case refill:
		g.timed = false
		g.admit(ac)
	default:
		stray.Report(ac)
	}
}

func (g *gate) acquire(ac actor.Context, msg messages.AcquireSlot) {
	who := ac.Sender()
	if who == nil {
		return
	}
	if _, known := g.askers[who.Id]; !known {
		g.askers[who.Id] = asker{pid: who, since: time.Now()}
		g.most = max(g.most, len(g.askers))
		ac.Watch(who)
	}
	g.line.ask(msg.ChatKey, who.Id)
	g.admit(ac)
}

// release returns an actor's slot, or removes its request. The actor stays watched, because a run
// ends soon after its last call and taking the watch back would cost it another message.
func (g *gate) release(ac actor.Context, who *actor.PID) {
	if who == nil {
		return
	}
	if _, known := g.askers[who.Id]; !known {
		return
	}
	delete(g.askers, who.Id)
	g.line.release(who.Id)
	if len(g.askers) == 0 {
		g.rest()
	}
	g.admit(ac)
}

// rest replaces tables that grew large, because maps never shrink.
func (g *gate) rest() {
	if g.most > largeTable {
		g.askers = map[string]asker{}
		g.line = g.line.emptied()
	}
	g.most = 0
}

func (g *gate) admit(ac actor.Context) {
	now := time.Now()
	granted, wait := g.line.admit(now)
	for _, id := range granted {
		a := g.askers[id]
		g.metrics.admitted(now.Sub(a.since))
		ac.Send(a.pid, messages.SlotGranted{})
	}
	g.metrics.counts(len(g.line.waiting), len(g.line.holders))
	if wait > 0 && !g.timed {
		g.timed = true
		pipe.NewHome(ac).After(wait, refill{})
	}
}
