package modelgate_test

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/modelgate"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// floor is a gate and its askers.
type floor struct {
	system *actor.ActorSystem
	gate   *actor.PID
	reg    *prometheus.Registry
	seen   chan waited
}

// waited is how long one call waited for its slot.
type waited struct {
	chat messages.ChatKey
	at   time.Time
	wait time.Duration
}

func limits(atOnce, perMinute int) func() (int, int) {
	return func() (int, int) { return atOnce, perMinute }
}

func newFloor(t *testing.T, o modelgate.Options) *floor {
	t.Helper()
	f := &floor{reg: prometheus.NewRegistry(), seen: make(chan waited, 1<<17)}
	f.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	o.Metrics = modelgate.NewMetrics(f.reg)
	f.gate = f.system.Root.Spawn(modelgate.Props(o))
	t.Cleanup(func() {
		f.system.Shutdown()
		<-time.After(2 * time.Minute) // fake time: expires timers of the library
	})
	return f
}

func (f *floor) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := f.reg.Gather()
	stdtest.Must(t, err)
	for _, m := range families {
		if m.GetName() == name {
			return m.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// begin makes a run start to ask.
type begin struct{}

// caller is a run that makes calls, one after the other, each of which takes a while.
type caller struct {
	f     *floor
	chat  messages.ChatKey
	calls int
	takes time.Duration
	keeps bool // does not release its slot, but ends
	asked time.Time
}

// done reports that a call has ended.
type done struct{}

func (c *caller) Receive(ac actor.Context) {
	switch ac.Message().(type) {
	case begin:
		c.ask(ac)
	case messages.SlotGranted:
		c.f.seen <- waited{c.chat, time.Now(), time.Since(c.asked)}
		root, self := ac.ActorSystem().Root, ac.Self()
		time.AfterFunc(c.takes, func() { root.Send(self, done{}) })
	case done:
		if c.keeps {
			ac.Stop(ac.Self())
			return
		}
		ac.Request(c.f.gate, messages.ReleaseSlot{})
		if c.calls--; c.calls > 0 {
			c.ask(ac)
		}
	}
}

func (c *caller) ask(ac actor.Context) {
	c.asked = time.Now()
	ac.Request(c.f.gate, messages.AcquireSlot{ChatKey: c.chat})
}

func (f *floor) call(c caller) {
	c.f = f
	f.system.Root.Send(f.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &c })), begin{})
}

func (f *floor) waits() []waited {
	close(f.seen)
	var out []waited
	for w := range f.seen {
		out = append(out, w)
	}
	return out
}

// A thousand chats with ten calls each and a model that takes two seconds: no chat waits longer
// than three times the median, at most one call of a chat waits, and at most the limit run at once.
func TestOV1FairAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chats, calls, slots = 1000, 10, 64
		f := newFloor(t, modelgate.Options{Limits: limits(slots, 0)})
		for i := range chats {
			f.call(caller{chat: messages.ChatKey(fmt.Sprint("c", i)), calls: calls, takes: 2 * time.Second})
		}
		for range 20 {
			synctest.Wait()
			if w, n := f.metric(t, "sma_model_calls_waiting"), f.metric(t, "sma_model_calls_in_flight"); w > chats || n > slots {
				t.Fatalf("%v calls wait, %v run", w, n)
			}
			<-time.After(15 * time.Second)
		}
		<-time.After(time.Hour)
		var all []time.Duration
		for _, w := range f.waits() {
			all = append(all, w.wait)
		}
		slices.Sort(all)
		if len(all) != chats*calls {
			t.Fatalf("%d calls were made, want %d", len(all), chats*calls)
		}
		median, longest := all[len(all)/2], all[len(all)-1]
		t.Logf("median wait %v, longest %v", median, longest)
		if longest > 3*median {
			t.Errorf("the longest wait is %v, the median %v", longest, median)
		}
	})
}

// One chat that needs a hundred calls gets no more turns than one that needs a few.
func TestOV1GreedyChatWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, modelgate.Options{Limits: limits(1, 0)})
		for range 20 { // several runs of one chat, which a real chat never has
			f.call(caller{chat: "greedy", calls: 5, takes: time.Second})
		}
		synctest.Wait()
		f.call(caller{chat: "modest", calls: 3, takes: time.Second})
		<-time.After(10 * time.Minute)
		for _, w := range f.waits() {
			if w.chat == "modest" && w.wait > 2*time.Second {
				t.Errorf("the modest chat waited %v for a call", w.wait)
			}
		}
	})
}

// The budget of a minute is never exceeded in any minute, and always used fully.
func TestOV1RequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perMinute = 30
		f := newFloor(t, modelgate.Options{Limits: limits(0, perMinute)})
		for i := range 10 {
			f.call(caller{chat: messages.ChatKey(fmt.Sprint("c", i)), calls: 12, takes: 100 * time.Millisecond})
		}
		<-time.After(10 * time.Minute)
		calls := f.waits()
		slices.SortFunc(calls, func(a, b waited) int { return a.at.Compare(b.at) })
		for i := perMinute; i < len(calls); i++ {
			if calls[i].at.Sub(calls[i-perMinute].at) < time.Minute {
				t.Errorf("calls %d to %d began within %v", i-perMinute, i, calls[i].at.Sub(calls[i-perMinute].at))
			}
		}
		if took := calls[len(calls)-1].at.Sub(calls[0].at); len(calls) != 120 || took > 3*time.Minute+time.Second {
			t.Errorf("%d calls in %v", len(calls), took)
		}
	})
}

// A slot is released when its actor ends without releasing it, and is never given to an actor that
// has ended. An actor that continues another's run gets its own slot.
func TestSlotsComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, modelgate.Options{Limits: limits(1, 0)})
		for i := range 50 {
			f.call(caller{chat: messages.ChatKey(fmt.Sprint("c", i%5)), calls: 1, takes: time.Second, keeps: i%2 == 0})
		}
		<-time.After(10 * time.Minute)
		if w, n := f.metric(t, "sma_model_calls_waiting"), f.metric(t, "sma_model_calls_in_flight"); w != 0 || n != 0 {
			t.Errorf("%v calls wait, %v run", w, n)
		}
		if calls := f.waits(); len(calls) != 50 {
			t.Errorf("%d calls were made, want 50", len(calls))
		}
	})
}

// Other limits count from the next call on: fewer calls run at once once those in progress have
// ended, and more as soon as there are more slots.
func TestChangedLimitsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slots atomic.Int64
		slots.Store(4)
		f := newFloor(t, modelgate.Options{Limits: func() (int, int) { return int(slots.Load()), 0 }})
		for i := range 12 {
			f.call(caller{chat: messages.ChatKey(fmt.Sprint("c", i)), calls: 1000, takes: time.Second})
		}
		for _, n := range []int64{4, 1, 7} {
			slots.Store(n)
			<-time.After(10*time.Second + time.Millisecond)
			synctest.Wait()
			if got := f.metric(t, "sma_model_calls_in_flight"); int64(got) != n {
				t.Errorf("%v calls run at once, want %d", got, n)
			}
		}
		<-time.After(time.Hour)
	})
}
