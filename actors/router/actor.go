package router

import (
	"fmt"
	"hash/fnv"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Shards is the number of shards. It is part of the data format: the folder of
// chats that a start must wake is kept by shard.
const Shards = 256

// Options of the router.
type Options struct {
	// Shard makes the actor of one hash bucket.
	Shard func(n int) *actor.Props
}

// Props makes the router.
func Props(o Options) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &router{opts: o} },
		actor.WithSupervisor(actor.NewOneForOneStrategy(3, 0, actor.DefaultDecider)))
}

// ShardOf is the shard of a chat key.
func ShardOf(key messages.ChatKey) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash takes everything
	return int(h.Sum32() % Shards)
}

type router struct {
	opts   Options
	shards [Shards]*actor.PID

	drainer *actor.PID // who asked to drain
	left    int        // shards that are not empty yet
	stats   messages.StatsReply
	asker   *actor.PID
	asked   int
}

func (r *router) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		for i := range r.shards {
			r.shards[i] = ac.Spawn(r.opts.Shard(i))
		}
	case messages.Addressed:
		ac.Forward(r.shards[ShardOf(msg.Key())])
	case messages.Drain:
		r.drainer, r.left = ac.Sender(), Shards
		r.tell(ac, msg)
	case messages.Drained:
		r.drained(ac)
	case messages.StatsQuery:
		r.asker, r.asked, r.stats = ac.Sender(), Shards, messages.StatsReply{}
		r.tell(ac, msg)
	case messages.StatsReply:
		r.counted(ac, msg)
	case *actor.Stopping, *actor.Stopped, *actor.Restarting, *actor.Terminated:
	default:
		ac.Logger().Error("router: unknown message", "kind", fmt.Sprintf("%T", msg))
	}
}

func (r *router) tell(ac actor.Context, msg any) {
	for _, pid := range r.shards {
		ac.Request(pid, msg)
	}
}

func (r *router) drained(ac actor.Context) {
	if r.left--; r.left == 0 && r.drainer != nil {
		ac.Send(r.drainer, messages.Drained{})
	}
}

func (r *router) counted(ac actor.Context, msg messages.StatsReply) {
	r.stats.Active += msg.Active
	r.stats.Running += msg.Running
	if r.asked--; r.asked == 0 && r.asker != nil {
		ac.Send(r.asker, r.stats)
	}
}
