package host

import "github.com/asynkron/protoactor-go/actor"

// throughput is how many messages an actor takes before others get a turn.
const throughput = 300

// workers run the actors that have something to do. The actor library begins a
// goroutine each time; its stack grows anew each time, and that took a tenth of the
// processor. A worker that is done waits a while for the next actor instead, with the
// stack it has. It never bounds how many work at once: an actor that finds nobody
// waiting gets a worker of its own.
type workers struct {
	work  chan func()
	seats chan struct{} // a token for each that waits
	done  chan struct{}
}

var _ actor.Dispatcher = (*workers)(nil)

// newWorkers keeps at most waiting idle goroutines. Close it.
func newWorkers(waiting int) *workers {
	return &workers{work: make(chan func()), seats: make(chan struct{}, waiting), done: make(chan struct{})}
}

// Schedule implements [actor.Dispatcher].
func (w *workers) Schedule(fn func()) {
	select {
	case w.work <- fn:
	default:
		go w.run(fn)
	}
}

// Throughput implements [actor.Dispatcher].
func (w *workers) Throughput() int { return throughput }

func (w *workers) run(fn func()) {
	for {
		fn()
		select {
		case w.seats <- struct{}{}:
		default:
			return // enough are waiting
		}
		select {
		case fn = <-w.work:
			<-w.seats
		case <-w.done:
			return
		}
	}
}

// close lets go of those that wait. Who is scheduled later is run all the same.
func (w *workers) close() { close(w.done) }

// with makes props run by the workers.
func (w *workers) with(props *actor.Props) *actor.Props {
	return props.Configure(actor.WithDispatcher(w))
}
