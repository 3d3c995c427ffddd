package errand_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/actors/internal/errand"
	"github.com/shipmyagent/shipmyagent/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = time.Minute

// order is a task for the errand; slot means that it uses the model.
type order struct {
	id   string
	slot bool
	work errand.Work
}

// runner is an actor with an errand that answers with whatever result arrives.
type runner struct {
	errand.Errand
	gate     *actor.PID
	answered bool
	late     func(msg any) // a result arrives after the answer, which must not happen
}

func (r *runner) Receive(ac actor.Context) {
	switch msg := r.Errand.Receive(ac, r.gate).(type) {
	case order:
		if !r.Begin("web-chat-a", msg.id, deadline) {
			return
		}
		if msg.slot {
			r.Acquire(ac, msg.work)
		} else {
			r.Go(msg.work)
		}
	case string, errand.Failed:
		if r.answered {
			r.late(msg)
			return
		}
		r.answered = true
		r.Answer(ac, msg)
	}
}

// chat is the parent. gate grants a slot when the test says so. Both record what they receive.
type (
	chat struct {
		heard func(who string, msg any)
		gate  *actor.PID
		child *actor.PID
	}
	gate struct {
		heard func(who string, msg any)
		slow  bool
	}
	stop struct{}
)

func (c *chat) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		c.child = ac.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return &runner{gate: c.gate, late: func(msg any) { c.heard("late", msg) }}
		}))
	case order:
		ac.Request(c.child, msg)
	case stop:
		ac.Stop(c.child)
	case string, errand.Failed:
		c.heard("chat", msg)
	}
}

func (g *gate) Receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case messages.AcquireSlot:
		g.heard("gate", msg)
		if !g.slow {
			ac.Respond(messages.SlotGranted{})
			ac.Respond(messages.SlotGranted{}) // sent twice, but counts once
		}
	case messages.ReleaseSlot:
		g.heard("gate", msg)
	}
}

func TestErrand(t *testing.T) {
	said := func(text string) errand.Work { return func(context.Context) (any, error) { return text, nil } }
	patient := func(ctx context.Context) (any, error) { <-ctx.Done(); return "cancelled", nil }
	taken, given := "gate {web-chat-a}", "gate {}"
	tests := []struct {
		name   string
		slow   bool // the gate grants nothing
		orders []order
		stop   bool // before the deadline
		want   []string
	}{
		{"work comes home", false, []order{{"1", false, said("done")}}, false, []string{"chat done"}},
		{"with a slot", false, []order{{"1", true, said("done")}}, false, []string{taken, "chat done", given}},
		{"an order again changes nothing", false, []order{{"1", false, said("done")}, {"1", false, said("again")}}, false, []string{"chat done"}},
		{"an error", false, []order{{"1", true, func(context.Context) (any, error) { return nil, errors.New("no luck") }}}, false, []string{taken, "chat {no luck}", given}},
		{"a panic", false, []order{{"1", false, func(context.Context) (any, error) { panic("oh") }}}, false, []string{"chat {panic: oh}"}},
		{"too slow", false, []order{{"1", false, patient}}, false, []string{"chat {the deadline has passed}"}},
		{"too slow with a slot", false, []order{{"1", true, patient}}, false, []string{taken, "chat {the deadline has passed}", given}},
		{"no slot to be had", true, []order{{"1", true, said("done")}}, false, []string{taken, "chat {the deadline has passed}", given}},
		{"stopped while it waits", true, []order{{"1", true, said("done")}}, true, []string{taken, given}},
		{"stopped at work", false, []order{{"1", true, patient}}, true, []string{taken, given}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := make(chan string, 64)
				hear := func(who string, msg any) { heard <- fmt.Sprint(who, " ", msg) }
				system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
				gatePID := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &gate{hear, tt.slow} }))
				chatPID := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &chat{heard: hear, gate: gatePID} }))
				for _, o := range tt.orders {
					system.Root.Send(chatPID, o)
				}
				synctest.Wait()
				if tt.stop {
					system.Root.Send(chatPID, stop{})
				}
				<-time.After(2 * deadline) // fake
				synctest.Wait()
				close(heard)
				var got []string
				for line := range heard {
					got = append(got, line)
				}
				// The chat and the gate learn of the end at the same time.
				slices.Sort(got)
				want := slices.Sorted(slices.Values(tt.want))
				if !slices.Equal(got, want) {
					t.Errorf("heard %q, want %q", got, want)
				}
				_ = system.Root.PoisonFuture(chatPID).Wait() // a bubble does not wait in real time
				system.Shutdown()
				<-time.After(2 * time.Minute) // fake time: expires timers of the library
			})
		})
	}
}
