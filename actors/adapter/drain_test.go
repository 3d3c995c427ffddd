package adapter_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// slow sends take a while.
type slow struct {
	*actortest.Platform
	takes time.Duration
}

func (s slow) Send(ctx context.Context, to platform.Target, part platform.Part) (messages.Receipt, error) {
	<-time.After(s.takes)
	return s.Platform.Send(ctx, to, part)
}

// TestIO6StopHidesNoSend: while chats wait for the account's limit, a host that stops learns of the
// send in progress, and no other send starts.
func TestIO6StopHidesNoSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Rates: platform.Rates{PerSender: platform.Rate{N: 1, Per: time.Second}}}}
		s := newStage(t, adapter.Options{Platform: slow{fake, 500 * time.Millisecond}})
		for i := range 10 {
			s.send(messages.Deliver{ChatKey: messages.ChatKey(fmt.Sprint("telegram-chat-", i)), Row: messages.RowID{MessageID: "a1"}, Text: "here"})
		}
		<-time.After(2200 * time.Millisecond) // the third send is in progress
		synctest.Wait()
		f := s.system.Root.RequestFuture(s.pid, messages.Drain{}, time.Minute)
		begun := time.Now()
		if _, ok := result(t, f).(messages.Drained); !ok {
			t.Error("no answer")
		}
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		told := len(s.chats.all())
		if diff := cmp.Diff(3, told); diff != "" || len(fake.Sent()) != told {
			t.Errorf("%d messages stand there, the chats know of %d", len(fake.Sent()), told)
		}
		s.send(messages.Deliver{ChatKey: "telegram-chat-11", Row: messages.RowID{MessageID: "a1"}, Text: "here"})
		<-time.After(time.Hour)
		if n := len(fake.Sent()); n != told {
			t.Errorf("%d sends began behind the end", n-told)
		}
		if _, ok := result(t, s.system.Root.RequestFuture(s.pid, messages.Drain{}, time.Minute)).(messages.Drained); !ok {
			t.Error("no answer when nothing is under way")
		}
	})
}

func result(t *testing.T, f interface{ Result() (any, error) }) any {
	t.Helper()
	reply, err := f.Result()
	if err != nil {
		t.Error(err)
	}
	return reply
}
