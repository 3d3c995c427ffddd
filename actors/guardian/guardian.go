// Package guardian is the actor at the root of the supervision tree. It spawns the router, the
// model gate, the scheduler and one adapter actor for each account of a platform, and restarts
// those that panic. It gives up if that does not help, or if one of them ends without having been
// stopped: a process that cannot work any more must not seem healthy.
//
// A restart of the router or of a shard stops the chats below it. Their facts are on disk, and the
// restarted actor reports itself so that the host wakes them.
package guardian

import (
	"errors"
	"slices"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/kin"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/actors/internal/supervise"
)

// Name is the name of the guardian, and the first word of the ids of all actors below it.
const Name = "host"

// Restarts is how many panics of a child within a minute are answered by a restart.
const Restarts = 10

// ErrEnded is the reason for giving up when a child has ended by itself.
var ErrEnded = errors.New("the actor has ended")

// Options configure the guardian.
type Options struct {
	// GiveUp is called in the guardian's goroutine, at most once for each child.
	GiveUp func(child string, reason any)
}

// Spawn starts a child. It is answered with [Spawned].
type Spawn struct {
	Name  string
	Props *actor.Props
}

// Spawned answers [Spawn].
type Spawned struct{ Err error }

// Stop ends a child permanently. It is answered with [Stopped] when the child has ended, or at once
// if there is no such child.
type Stop struct{ Name string }

// Stopped answers [Stop].
type Stopped struct{}

// List asks for the children. It is answered with [Listed].
type List struct{}

// Listed answers [List].
type Listed struct{ Names []string }

// PID returns the PID of a child by its name, even before it is spawned.
func PID(system *actor.ActorSystem, child string) *actor.PID {
	return system.NewLocalPID(Name + "/" + child)
}

// Props makes the guardian.
func Props(o Options) *actor.Props {
	giveUp := func(_ actor.Supervisor, child *actor.PID, reason, _ any) { o.GiveUp(nameOf(child), reason) }
	return actor.PropsFromProducer(func() actor.Actor {
		return &guardian{Options: o, stopping: map[string]*actor.PID{}}
	}, actor.WithSupervisor(supervise.Strategy{Most: Restarts, GiveUp: giveUp}))
}

func nameOf(child *actor.PID) string { return strings.TrimPrefix(child.Id, Name+"/") }

type guardian struct {
	Options
	stopping map[string]*actor.PID // who waits for the end of a child, by its id
	closing  bool                  // the guardian is stopping, and its children with it
}

func (g *guardian) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case Spawn:
		_, err := ac.SpawnNamed(msg.Props, msg.Name)
		ac.Respond(Spawned{err})
	case Stop:
		g.stop(ac, PID(ac.ActorSystem(), msg.Name))
	case List:
		names := []string{}
		for _, child := range ac.Children() {
			names = append(names, nameOf(child))
		}
		ac.Respond(Listed{names})
	case *actor.Stopping:
		g.closing = true
	case *actor.Terminated:
		g.ended(ac, msg.Who)
	default:
		stray.Report(ac)
	}
}

func (g *guardian) stop(ac actor.Context, child *actor.PID) {
	if !slices.ContainsFunc(ac.Children(), child.Equal) {
		ac.Respond(Stopped{})
		return
	}
	g.stopping[child.Id] = ac.Sender()
	ac.Stop(child)
}

func (g *guardian) ended(ac actor.Context, child *actor.PID) {
	kin.Forget(ac)
	waiter, expected := g.stopping[child.Id]
	switch {
	case expected:
		delete(g.stopping, child.Id)
		ac.Send(waiter, Stopped{})
	case !g.closing:
		g.GiveUp(nameOf(child), ErrEnded)
	}
}
