package guardian_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tree is a guardian, and the children that it gave up.
type tree struct {
	system *actor.ActorSystem
	pid    *actor.PID
	mu     sync.Mutex
	gaveUp []string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	quiet := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	w := &tree{system: actor.NewActorSystem(actor.WithLoggerFactory(quiet))}
	props := guardian.Props(guardian.Options{GiveUp: func(child string, reason any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gaveUp = append(w.gaveUp, fmt.Sprintf("%s: %v", child, reason))
	}})
	var err error
	if w.pid, err = w.system.Root.SpawnNamed(props, guardian.Name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.system.Root.StopFuture(w.pid).Wait() // a bubble does not wait in real time
		w.system.Shutdown()
		<-time.After(2 * time.Minute) // fake time: expires timers of the library
	})
	return w
}

func (w *tree) ask(t *testing.T, question any) any {
	t.Helper()
	reply, err := w.system.Root.RequestFuture(w.pid, question, time.Minute).Result()
	stdtest.Must(t, err)
	return reply
}

func (w *tree) spawn(t *testing.T, name string, props *actor.Props) *actor.PID {
	t.Helper()
	if done, ok := w.ask(t, guardian.Spawn{Name: name, Props: props}).(guardian.Spawned); !ok || done.Err != nil {
		t.Fatalf("spawn of %s: %+v", name, done)
	}
	return guardian.PID(w.system, name)
}

func (w *tree) given() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.gaveUp...)
}

// boom makes a shaky child panic.
type boom struct{}

// shaky is a child that records its starts and the words that it got.
type shaky struct {
	mu     sync.Mutex
	starts []time.Duration // time since began
	began  time.Time
	words  []string
	broken bool // it panics at every start except the first
}

func newShaky() *shaky { return &shaky{began: time.Now()} }

func (s *shaky) props() *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return s })
}

func (s *shaky) Receive(ac actor.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch msg := ac.Message().(type) {
	case *actor.Started:
		if s.starts = append(s.starts, time.Since(s.began)); s.broken && len(s.starts) > 1 {
			panic("simulated")
		}
	case boom:
		panic("simulated")
	case string:
		s.words = append(s.words, msg)
	}
}

func (s *shaky) seen() ([]time.Duration, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Duration(nil), s.starts...), append([]string(nil), s.words...)
}

// A child that panics is restarted at once with the same PID and mailbox; its siblings are not
// affected.
func TestGuardianRestartsAChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, one, other := newTree(t), newShaky(), newShaky()
		pid := w.spawn(t, "one", one.props())
		w.spawn(t, "other", other.props())
		for _, msg := range []any{"before", boom{}, "after"} {
			w.system.Root.Send(pid, msg)
		}
		synctest.Wait()
		starts, words := one.seen()
		if diff := cmp.Diff([]string{"before", "after"}, words); diff != "" || len(starts) != 2 || starts[1] != 0 {
			t.Errorf("the child was started at %v and got (-want +got):\n%s", starts, diff)
		}
		if starts, _ := other.seen(); len(starts) != 1 {
			t.Errorf("the sibling was started %d times", len(starts))
		}
		if got := w.given(); len(got) > 0 {
			t.Errorf("given up: %v", got)
		}
	})
}

// The waits between restarts double. A child that restarts do not help is given up, once, and not
// restarted again.
func TestGuardianBacksOffAndGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, child := newTree(t), newShaky()
		child.broken = true
		pid := w.spawn(t, "child", child.props())
		w.system.Root.Send(pid, boom{})
		<-time.After(time.Hour)
		starts, _ := child.seen()
		var waits []time.Duration
		for i := 1; i < len(starts); i++ {
			waits = append(waits, starts[i]-starts[i-1])
		}
		const ms = time.Millisecond
		want := []time.Duration{0, 250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms, 5000 * ms, 5000 * ms}
		if diff := cmp.Diff(want, waits); diff != "" || len(waits) != guardian.Restarts {
			t.Errorf("waits before restarts (-want +got):\n%s", diff)
		}
		stdtest.Diff(t, "given up", []string{"child: simulated"}, w.given())
	})
}

// Panics that are far apart never add up.
func TestGuardianForgetsOldPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, child := newTree(t), newShaky()
		pid := w.spawn(t, "child", child.props())
		for range 5 * guardian.Restarts {
			w.system.Root.Send(pid, boom{})
			<-time.After(10 * time.Second)
		}
		if starts, _ := child.seen(); len(starts) != 5*guardian.Restarts+1 || len(w.given()) > 0 {
			t.Errorf("started %d times, given up: %v", len(starts), w.given())
		}
	})
}

// A child that ends without having been stopped is given up. One that the host stops is not, and
// whoever stopped it is informed of its end.
func TestGuardianWatchesItsChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTree(t)
		lost := w.spawn(t, "lost", newShaky().props())
		stopped := w.spawn(t, "stopped", newShaky().props())
		if got := w.ask(t, guardian.Stop{Name: "stopped"}); got != (guardian.Stopped{}) {
			t.Errorf("the answer to a stop is %T", got)
		}
		if _, there := w.system.ProcessRegistry.GetLocal(stopped.Id); there {
			t.Error("the child was reported gone too early")
		}
		if got := w.ask(t, guardian.Stop{Name: "unknown"}); got != (guardian.Stopped{}) {
			t.Errorf("the answer to a stop of nothing is %T", got)
		}
		w.system.Root.Stop(lost)
		synctest.Wait()
		stdtest.Diff(t, "given up", []string{"lost: " + guardian.ErrEnded.Error()}, w.given())
		if again, ok := w.ask(t, guardian.Spawn{Name: "stopped", Props: newShaky().props()}).(guardian.Spawned); !ok || again.Err != nil {
			t.Errorf("the name of a stopped child is not free: %+v", again)
		}
		if twice, ok := w.ask(t, guardian.Spawn{Name: "stopped", Props: newShaky().props()}).(guardian.Spawned); !ok || !errors.Is(twice.Err, actor.ErrNameExists) {
			t.Errorf("a name was given twice: %+v", twice)
		}
	})
}

// A shard that restarts do not help makes the router restart, and with it all shards; a router that
// this does not help is given up. The host is informed of every restart of the router, because that
// stops the chats.
func TestGuardianIsToldOfAShardThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		panics   int // of the shard, at its starts
		restarts int // of the router
		given    int
	}{
		"once":     {panics: 1, restarts: 0, given: 0},
		"for long": {panics: 5, restarts: 1, given: 0},
		"for good": {panics: 1 << 30, restarts: guardian.Restarts, given: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTree(t)
				var panics, restarts atomic.Int64
				shaky := actor.PropsFromFunc(func(ac actor.Context) {
					if _, ok := ac.Message().(*actor.Started); ok && panics.Add(1) <= int64(c.panics) {
						panic("simulated")
					}
				})
				calm := actor.PropsFromFunc(func(actor.Context) {})
				w.spawn(t, "router", router.Props(router.Options{
					Shard: func(n int) *actor.Props {
						if n == 0 {
							return shaky
						}
						return calm
					},
					Restarted: func() { restarts.Add(1) },
				}))
				<-time.After(time.Hour)
				if got := w.given(); int(restarts.Load()) != c.restarts || len(got) != c.given {
					t.Errorf("the router was restarted %d times, given up: %v", restarts.Load(), got)
				}
			})
		})
	}
}
