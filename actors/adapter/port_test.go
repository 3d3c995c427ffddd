package adapter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/adapter"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// TestCL4StopWaitsForNoChatThatHangs: a stopping platform is not delayed by a chat that does not
// answer; the messages it delivered there are not confirmed.
func TestCL4StopWaitsForNoChatThatHangs(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, p *adapter.Port) error{
		"accept": func(ctx context.Context, p *adapter.Port) error {
			out := p.Accept(ctx, []platform.Inbound{{ChatKey: oneChat, IngressID: "1"}, {ChatKey: oneChat, IngressID: "2"}})
			if len(out) != 2 || out[0].Err == nil {
				t.Errorf("results %+v", out)
			}
			return out[1].Err
		},
		"decide": func(ctx context.Context, p *adapter.Port) error {
			_, err := p.Decide(ctx, oneChat, platform.Person{}, []messages.Decision{{}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, adapter.Options{Platform: &actortest.Platform{}})
				port := adapter.NewPort(s.system, s.pid, adapter.PortOptions{Platform: "telegram"})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				begun := time.Now()
				err := call(ctx, port)
				if took := time.Since(begun); took < 10*time.Second || took > 12*time.Second {
					t.Errorf("it took %v", took)
				}
				if !errors.Is(err, platform.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error %v", err)
				}
				<-time.After(time.Minute) // the question's own deadline
			})
		})
	}
}
