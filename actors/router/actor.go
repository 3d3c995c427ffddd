package router

import (
	"hash/fnv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/actors/internal/supervise"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Shards is the number of shards. It is part of the data format: the folder of
// chats that a start must wake is kept by shard.
const Shards = 256

// shardRestarts is how many panics of a shard within a minute are answered by a restart
// of the shard alone. They take much less time than the guardian allows for restarts of
// the router, so that a shard which is broken for good ends the host.
const shardRestarts = 3

// Options configure the router.
type Options struct {
	// Shard makes the actor of one hash bucket.
	Shard func(n int) *actor.Props
	// Most returns how many chats the host keeps in memory now, and how much memory they may use by
	// their own estimate; 0 means no limit. Chats that are working are not stopped for it. If it is
	// nil, there are no limits.
	Most func() (chats int, bytes int64)
	// Restarted is called after the router was restarted because of a panic, which stopped all chats:
	// those with unfinished work have to be woken. It must not block, and may be nil.
	Restarted func()
}

// Props makes the router.
func Props(o Options) *actor.Props {
	lives := 0
	return actor.PropsFromProducer(func() actor.Actor {
		if lives++; lives > 1 && o.Restarted != nil {
			o.Restarted()
		}
		return &router{opts: o, byPID: map[string]int{}}
	}, actor.WithSupervisor(supervise.Strategy{Most: shardRestarts, GiveUp: escalate}))
}

// escalate turns the failure of a shard that restarts do not help into a failure of the router.
func escalate(to actor.Supervisor, _ *actor.PID, reason, message any) {
	to.EscalateFailure(reason, message)
}

// ShardOf returns the shard of a chat key.
func ShardOf(key messages.ChatKey) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return int(h.Sum32() % Shards)
}

type router struct {
	opts   Options
	shards [Shards]*actor.PID
	byPID  map[string]int

	ceiling  ceiling
	timed    bool       // a timer for the next check is set
	drainer  *actor.PID // who asked to drain
	draining bool
	left     int // shards that are not empty yet
}

func (r *router) Receive(ac actor.Context) {
	defer stray.Guard(ac)
	switch msg := ac.Message().(type) {
	case *actor.Started:
		for i := range r.shards {
			r.shards[i] = ac.Spawn(r.opts.Shard(i))
			r.byPID[r.shards[i].Id] = i
		}
	case messages.Addressed:
		ac.Forward(r.shards[ShardOf(messages.KeyOf(msg))])
	case messages.ShardLoad:
		r.onLoad(ac, msg)
	case look:
		r.timed = false
		r.shed(ac)
	case messages.Drain:
		r.draining = true
		r.drainer, r.left = ac.Sender(), Shards
		for _, pid := range r.shards {
			ac.Request(pid, msg)
		}
	case messages.Drained:
		r.drained(ac)
	case messages.ShardQuery:
		if msg.Shard >= 0 && msg.Shard < Shards {
			ac.Forward(r.shards[msg.Shard])
		}
	case messages.StatsQuery:
		ac.Respond(messages.StatsReply{Active: r.ceiling.chats})
	default:
		stray.Report(ac)
	}
}

// look asks to check whether the host is over its ceiling.
type look struct{}

func (r *router) onLoad(ac actor.Context, msg messages.ShardLoad) {
	if ac.Sender() == nil {
		return
	}
	if n, ok := r.byPID[ac.Sender().Id]; ok {
		r.ceiling.report(n, msg)
		r.shed(ac)
	}
}

// shed makes shards stop chats while the host is over its ceiling. If all chats that could stop
// were used just now, it checks again a little later.
func (r *router) shed(ac actor.Context) {
	if r.opts.Most != nil {
		r.ceiling.maxChats, r.ceiling.maxBytes = r.opts.Most()
	}
	for !r.draining {
		n, order, ok := r.ceiling.pick(time.Now())
		if !ok {
			break
		}
		ac.Request(r.shards[n], order)
	}
	if over, _ := r.ceiling.over(); !over || r.timed || r.draining {
		return
	}
	r.timed = true
	pipe.NewHome(ac).After(restAtLeast/4, look{})
}

func (r *router) drained(ac actor.Context) {
	if r.left--; r.left == 0 && r.drainer != nil {
		ac.Send(r.drainer, messages.Drained{})
	}
}
