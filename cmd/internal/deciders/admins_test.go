package deciders

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// registrar is a platform that knows administrators, if it answers.
type registrar struct {
	ids   []string
	err   error
	takes time.Duration
	asked atomic.Int64
}

func (r *registrar) Admins(ctx context.Context, _ string) ([]string, error) {
	r.asked.Add(1)
	select {
	case <-time.After(r.takes): // fake
		return r.ids, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const friends = messages.ChatKey("telegram@work-chat--7-topic-3")

// The platform's answer is valid for a minute and is refreshed meanwhile. Without an answer nobody is an administrator.
func TestAP5AdministratorsAreKnownForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registrar{ids: []string{"3", ""}, takes: 100 * time.Millisecond}
		a := newAdmins(slog.New(slog.DiscardHandler), func(name string) platform.Administered {
			if name != "telegram@work" {
				return nil
			}
			return r
		})
		defer a.close()
		pass := func(d time.Duration) {
			<-time.After(d) // fake
			synctest.Wait()
		}
		want := func(what string, has bool, asked int64) {
			t.Helper()
			questions := r.asked.Load() // before another one that the next line may begin
			if got := a.has(friends, "3"); got != has || questions != asked {
				t.Errorf("%s: %v after %d questions, want %v after %d", what, got, questions, has, asked)
			}
		}
		want("before anybody asked", false, 0)
		stdtest.Must(t, a.learn(t.Context(), friends))
		want("once the platform said so", true, 1)
		for who, in := range map[string]messages.ChatKey{"4": friends, "": friends, "3": "telegram-chat--7"} {
			if a.has(in, who) {
				t.Errorf("%q administers %s", who, in)
			}
		}
		if !a.has("telegram@work-chat--7", "3") {
			t.Error("another topic of the group has other administrators")
		}
		for range 100 {
			stdtest.Must(t, a.learn(t.Context(), friends))
		}
		want("asked again and again", true, 1)
		r.ids = nil // not any more
		pass(adminsFresh)
		want("while it is asked anew", true, 1)
		pass(time.Second)
		want("a former administrator", false, 2)

		r.ids = []string{"3"}
		pass(adminsFresh)
		stdtest.Must(t, a.learn(t.Context(), friends))
		want("again", true, 3)
		r.err = errors.New("the network is gone")
		pass(adminsHold - time.Second)
		want("what was said just before the network went", true, 3)
		pass(time.Second)
		want("a minute after", false, 4)
		if err := a.learn(t.Context(), friends); err == nil {
			t.Error("an unreachable platform is taken for an answer")
		}
		if n := r.asked.Load(); n != 4 {
			t.Errorf("asked %d times, want no question right after one in vain", n)
		}
		pass(adminsAgain)
		if err := a.learn(t.Context(), friends); err == nil || !a.Unknown(friends) {
			t.Errorf("an unreachable platform is taken for an answer: %v", err)
		}
		r.err, r.takes = nil, time.Hour
		pass(adminsAgain)
		began := time.Now()
		if err := a.learn(t.Context(), friends); err == nil || time.Since(began) != adminsWait {
			t.Errorf("a platform that does not answer: %v after %s", err, time.Since(began))
		}
		if err := a.learn(t.Context(), "feishu-chat-oc_1"); err == nil {
			t.Error("a platform that is not there gave an answer")
		}
	})
}

// Many who ask at once are one question, and no more groups are kept than the limit.
func TestAdministratorsAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registrar{takes: time.Second}
		a := newAdmins(slog.New(slog.DiscardHandler), func(string) platform.Administered { return r })
		for range 50 {
			go func() { _ = a.learn(t.Context(), friends) }()
		}
		<-time.After(2 * time.Second) // fake
		synctest.Wait()
		if n := r.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		r.takes = 0
		for i := range maxAdminChats + 10 {
			key := messages.NewChatKey("telegram", "", "-"+strings.Repeat("1", 1+i%9)+strings.Repeat("2", 1+i/9%30)+strings.Repeat("3", 1+i/270), 0)
			stdtest.Must(t, a.learn(t.Context(), key))
		}
		if n := len(a.Known); n > maxAdminChats {
			t.Errorf("%d groups are kept", n)
		}
		a.close()
		<-time.After(adminsHold) // fake
		if err := a.learn(t.Context(), friends); err == nil {
			t.Error("a closed one asks")
		}
	})
}
