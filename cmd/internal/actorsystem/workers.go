package actorsystem

import "github.com/asynkron/protoactor-go/actor"

// throughput is how many messages an actor processes before it yields.
const throughput = 300

// Workers run the actors that have messages to process. The actor library starts a new goroutine each time; growing
// its stack took a tenth of the CPU time. A worker that is done waits for the next actor instead and keeps its stack.
// The number of active workers is not limited: if no worker is idle, a new one starts.
type Workers struct {
	work  chan func()
	seats chan struct{} // holds a token for each idle worker
	done  chan struct{}
}

var _ actor.Dispatcher = (*Workers)(nil)

// NewWorkers keeps at most waiting idle goroutines. The caller closes it.
func NewWorkers(waiting int) *Workers {
	return &Workers{work: make(chan func()), seats: make(chan struct{}, waiting), done: make(chan struct{})}
}

// Schedule implements [actor.Dispatcher].
func (w *Workers) Schedule(fn func()) {
	select {
	case w.work <- fn:
	default:
		go w.run(fn)
	}
}

// Throughput implements [actor.Dispatcher].
func (w *Workers) Throughput() int { return throughput }

func (w *Workers) run(fn func()) {
	for {
		fn()
		select {
		case w.seats <- struct{}{}:
		default:
			return // enough workers are idle
		}
		select {
		case fn = <-w.work:
			<-w.seats
		case <-w.done:
			return
		}
	}
}

// Close ends the idle workers. Functions that are scheduled later still run.
func (w *Workers) Close() { close(w.done) }

// With makes props run by the workers.
func (w *Workers) With(props *actor.Props) *actor.Props {
	return props.Configure(actor.WithDispatcher(w))
}

// Inline makes props run in the goroutine of whoever sends to the actor, so that a message costs no switch of
// goroutines. It is for actors that only pass messages on: they must not block, and not wait for an answer.
func Inline(props *actor.Props) *actor.Props {
	return props.Configure(actor.WithDispatcher(actor.NewSynchronizedDispatcher(throughput)))
}
