package shard_test

import (
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/shard"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is one shard with chats that only record what they get.
type world struct {
	t        *testing.T
	system   *actor.ActorSystem
	shard    *actor.PID
	registry *prometheus.Registry

	mu     sync.Mutex
	got    map[messages.ChatKey][]string
	starts map[messages.ChatKey]int
	poison func(key messages.ChatKey, n int) bool // panics at the n-th message; may be nil
	sick   map[messages.ChatKey]bool              // panics as soon as it starts
	busy   map[messages.ChatKey]bool              // has work
	slow   chan struct{}                          // holds a chat up at each message; may be nil
	loads  []messages.ShardLoad
	idle   []messages.PassivateOK // what chats have answered

	receipts int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, got: map[messages.ChatKey][]string{}, starts: map[messages.ChatKey]int{}, sick: map[messages.ChatKey]bool{}, busy: map[messages.ChatKey]bool{},
		registry: prometheus.NewRegistry(),
		system:   actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })),
	}
	props := shard.Props(shard.Options{
		Metrics: shard.NewMetrics(w.registry),
		Chat: func(key messages.ChatKey) *actor.Props {
			return actor.PropsFromProducer(func() actor.Actor { return &chat{w: w, key: key} }, actor.WithMailbox(actor.UnboundedLockfree()))
		},
	})
	above := w.system.Root.Spawn(actor.PropsFromFunc(func(ac actor.Context) {
		switch msg := ac.Message().(type) {
		case *actor.Started:
			w.shard = ac.Spawn(props)
		case messages.ShardLoad:
			w.mu.Lock()
			w.loads = append(w.loads, msg)
			w.mu.Unlock()
		case messages.Shed:
			ac.Request(w.shard, msg)
		}
	}))
	synctest.Wait()
	t.Cleanup(func() {
		w.system.Root.Stop(above)
		synctest.Wait()
		w.system.Shutdown()
		<-time.After(time.Hour) // fake time: expires timers of the library and of stopped actors
	})
	return w
}

// chat is a chat without a store: the world keeps its state.
type chat struct {
	w   *world
	key messages.ChatKey
}

func (c *chat) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		c.w.starts[c.key]++
		if c.w.sick[c.key] {
			panic("sick")
		}
	case messages.AcceptIngress:
		c.accept(ac, msg)
	case messages.EgressDelivered:
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		c.w.receipts++
	case messages.AskPassivate:
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		if c.w.busy[c.key] {
			ac.Respond(messages.PassivateBusy{ChatKey: c.key})
			return
		}
		ok := messages.PassivateOK{ChatKey: c.key, Seq: msg.Seq}
		c.w.idle = append(c.w.idle, ok)
		ac.Respond(ok)
	case messages.Drain:
		ac.Respond(messages.Drained{ChatKey: c.key})
	}
}

func (c *chat) accept(ac actor.Context, msg messages.AcceptIngress) {
	if c.w.slow != nil {
		<-c.w.slow
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	n := len(c.w.got[c.key])
	c.w.got[c.key] = append(c.w.got[c.key], msg.IngressID)
	if c.w.poison != nil && c.w.poison(c.key, n) {
		panic("poison")
	}
	if ac.Sender() != nil {
		ac.Respond(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID})
	}
}

// send sends ingresses from..to-1 to a chat, without waiting for answers.
func (w *world) send(key messages.ChatKey, from, to int) {
	for i := from; i < to; i++ {
		w.system.Root.Send(w.shard, messages.AcceptIngress{ChatKey: key, IngressID: strconv.Itoa(i)})
	}
	synctest.Wait()
}

// ask sends one ingress and returns the answer, or nil after a minute without one.
func (w *world) ask(key messages.ChatKey, id string) any {
	reply, err := w.system.Root.RequestFuture(w.shard, messages.AcceptIngress{ChatKey: key, IngressID: id}, time.Minute).Result()
	if err != nil {
		return nil
	}
	return reply
}

// took are the ids that a chat got so far.
func (w *world) took(key messages.ChatKey) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.got[key]...)
}

func (w *world) started(key messages.ChatKey) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts[key]
}

func (w *world) metric(name string) float64 {
	w.t.Helper()
	families, err := w.registry.Gather()
	stdtest.Must(w.t, err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func ids(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		out = append(out, strconv.Itoa(i))
	}
	return out
}
