package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// taking replaces the chats: it records the messages that it gets, in order, and answers each after
// the delay of its chat.
type taking struct {
	mu    sync.Mutex
	asked []string
	known map[string]bool
	slow  map[messages.ChatKey]time.Duration
}

func (k *taking) Receive(ac actor.Context) {
	msg, ok := ac.Message().(messages.AcceptIngress)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	id := string(msg.ChatKey) + "/" + msg.IngressID
	answer := messages.IngressAccepted{ChatKey: msg.ChatKey, TurnID: "u:" + id, Duplicate: k.known[id]}
	k.asked, k.known[id] = append(k.asked, id), true
	root, sender := ac.ActorSystem().Root, ac.Sender()
	time.AfterFunc(k.slow[msg.ChatKey], func() { root.Send(sender, answer) })
}

func (k *taking) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.asked...)
}

// newIntake is a port whose adapter actor delivers messages to such chats.
func newIntake(t *testing.T, k *taking, configure ...actor.PropsOption) (*adapter.Port, *actor.ActorSystem, *actor.PID) {
	t.Helper()
	k.known = map[string]bool{}
	quiet := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }))
	router := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return k }))
	props := adapter.Props(adapter.Options{Platform: &actortest.Platform{}, Router: router, Logger: quiet})
	pid := system.Root.Spawn(props.Configure(configure...))
	t.Cleanup(func() {
		system.Root.Stop(pid)
		synctest.Wait()
		system.Shutdown()
		<-time.After(2 * time.Minute) // the library's own timers
	})
	return adapter.NewPort(system, pid, adapter.PortOptions{Platform: "telegram"}), system, pid
}

// batch returns messages of one chat, named by numbers.
func batch(key messages.ChatKey, from, to int) []platform.Inbound {
	var in []platform.Inbound
	for n := from; n <= to; n++ {
		in = append(in, platform.Inbound{ChatKey: key, IngressID: fmt.Sprint(n), Gate: platform.Gate{Open: true}})
	}
	return in
}

// A chat gets its messages in the order of the account, and a chat that is slow to make its turns
// durable delays no other chat.
func TestP7IngressOfASlowChatDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taking{slow: map[messages.ChatKey]time.Duration{"telegram-chat-2": 20 * time.Second}}
		port, _, _ := newIntake(t, k)
		began := time.Now()
		took := make(chan time.Duration, 2)
		for _, key := range []messages.ChatKey{"telegram-chat-2", oneChat} {
			go func() {
				for i, r := range port.Accept(t.Context(), batch(key, 1, 3)) {
					if want := fmt.Sprintf("u:%s/%d", key, i+1); r.Err != nil || r.TurnID != want {
						t.Errorf("result %d is %+v, want %s", i, r, want)
					}
				}
				took <- time.Since(began)
			}()
			synctest.Wait()
		}
		if first, second := <-took, <-took; first > time.Second || second < 20*time.Second || second > 21*time.Second {
			t.Errorf("the batches took %v and %v", first, second)
		}
		want := []string{
			"telegram-chat-2/1", "telegram-chat-2/2", "telegram-chat-2/3", "telegram-chat-1/1", "telegram-chat-1/2", "telegram-chat-1/3",
		}
		stdtest.Diff(t, "the chats were asked", want, k.all())
		if got := port.Accept(t.Context(), nil); len(got) != 0 {
			t.Errorf("an empty batch has the results %v", got)
		}
	})
}

// A chat that does not answer leaves its own messages unconfirmed, and no others.
func TestIngressWithoutAnAnswerIsNotConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taking{slow: map[messages.ChatKey]time.Duration{"telegram-chat-2": time.Hour}}
		port, _, _ := newIntake(t, k)
		out := port.Accept(t.Context(), append(batch(oneChat, 1, 1), batch("telegram-chat-2", 1, 1)...))
		if len(out) != 2 || out[0].Err != nil || !errors.Is(out[1].Err, platform.ErrUnavailable) {
			t.Errorf("results %+v", out)
		}
		<-time.After(time.Hour)
	})
}

// A batch that chats are working on survives an unrelated panic of the actor.
func TestIngressOutlivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taking{slow: map[messages.ChatKey]time.Duration{oneChat: 10 * time.Second}}
		port, system, pid := newIntake(t, k, panicsAt("messages.EgressKept"))
		done := make(chan []platform.Result, 1)
		go func() { done <- port.Accept(t.Context(), batch(oneChat, 1, 2)) }()
		synctest.Wait()
		system.Root.Send(pid, messages.EgressKept{})
		for _, r := range <-done {
			if r.Err != nil || r.Duplicate {
				t.Errorf("result %+v", r)
			}
		}
	})
}

// If the actor panics while handling a batch, its receiver repeats the batch, and the chats that
// got it before say so: nothing is lost or duplicated.
func TestIngressAgainAfterAPanicOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &taking{}
		sent := 0
		port, _, _ := newIntake(t, k, actor.WithSenderMiddleware(func(next actor.SenderFunc) actor.SenderFunc {
			return func(c actor.SenderContext, to *actor.PID, e *actor.MessageEnvelope) {
				if _, ok := e.Message.(messages.AcceptIngress); ok {
					if sent++; sent == 2 {
						panic("simulated")
					}
				}
				next(c, to, e)
			}
		}))
		began := time.Now()
		for _, r := range port.Accept(context.Background(), batch(oneChat, 1, 3)) {
			if !errors.Is(r.Err, platform.ErrUnavailable) {
				t.Errorf("result %+v, want that it is handed over again", r)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the receiver waited %v", took)
		}
		var got []bool
		for _, r := range port.Accept(context.Background(), batch(oneChat, 1, 3)) {
			if r.Err != nil {
				t.Errorf("the second time: %v", r.Err)
			}
			got = append(got, r.Duplicate)
		}
		stdtest.Diff(t, "known already", []bool{true, false, false}, got)
	})
}

// panicsAt makes an actor panic at the first message of a type.
func panicsAt(kind string) actor.PropsOption {
	done := false
	return actor.WithReceiverMiddleware(func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, e *actor.MessageEnvelope) {
			if !done && fmt.Sprintf("%T", e.Message) == kind {
				done = true
				panic("simulated")
			}
			next(c, e)
		}
	})
}
