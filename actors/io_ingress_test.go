package actors_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// A process is killed before or after any operation of its store, or when the batch it fetched never arrives. People's
// messages are in the history once, in order, and all are answered.
func TestIO1CrashBetweenFetchAndConfirm(t *testing.T) {
	const chats, rounds = 3, 3
	var want []string
	for r := range rounds {
		want = append(want, fmt.Sprint("message ", r))
	}
	play := func(t *testing.T, fault func(*wire)) (operations int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			x := newWire(t, nil)
			for c := range int64(chats) {
				x.chat(c + 1)
			}
			fault(x)
			x.start()
			for _, words := range want {
				for c := range int64(chats) {
					x.api.Say(c+1, 7, words, nil)
				}
				x.w.Wait()
				if dead := false; x.store.isDead(&dead) {
					x.again()
				}
			}
			x.later(time.Minute)
			if dead := false; x.store.isDead(&dead) {
				x.again()
				x.later(time.Minute)
			}
			// The following checks may load chats, and no process is killed by that.
			x.store.set(func(s *faulty) { operations, s.dieAt = len(s.trace), 0 })
			for c := range int64(chats) {
				stdtest.Diff(t, fmt.Sprintf("history of chat %d", c+1), want, x.words(c+1))
				v := x.w.View(keyOf(c + 1))
				if v.Running || v.Counts.Open != 0 || v.Counts.Pending != 0 || v.Counts.Accepted != rounds {
					t.Errorf("chat %d: %+v", c+1, v.Counts)
				}
				if n := len(x.shown(c + 1)); n == 0 {
					t.Errorf("chat %d was not answered", c+1)
				}
			}
			if n := x.api.Pending(); n != 0 {
				t.Errorf("%d updates are not confirmed", n)
			}
		})
		return operations
	}
	total := play(t, func(*wire) {})
	kills := 0
	crash := func(name string, fault func(*wire)) {
		kills++
		if play(t, fault); t.Failed() {
			t.Fatal(name)
		}
	}
	step := max(1, total/soak(8, total))
	for n := 1; n <= total; n += step {
		for _, after := range []bool{false, true} {
			crash(fmt.Sprintf("died at operation %d of %d, after it: %t", n, total, after), func(x *wire) {
				x.store.dieAt, x.store.after = n, after
			})
		}
	}
	for n := range soak(3, 220) {
		crash(fmt.Sprintf("batch %d was lost and the process died", n), func(x *wire) {
			for range n % 8 {
				x.api.Fail(telegramtest.Fault{Method: "getUpdates", Kind: faketest.Latency})
			}
			x.api.Fail(telegramtest.Fault{Method: "getUpdates", Kind: faketest.ResetAfter})
			x.store.dieAt = 1 + n%total
		})
	}
	t.Logf("%d kills, 0 lost, 0 double", kills)
}

// isDead tells whether the process of the store has died.
func (s *faulty) isDead(dead *bool) bool {
	s.set(func(s *faulty) { *dead = s.dead })
	return *dead
}

// The service delivers a hundred old updates again after every restart.
func TestIO2ReplayAfterRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const updates = 100
		x := newWire(t, nil)
		x.start()
		for c := range int64(updates) {
			x.chat(c + 1)
			x.api.Say(c+1, 7, "once", nil)
		}
		x.later(time.Minute)
		restarts := soak(9, 108)
		for range restarts {
			x.again()
			for id := range int64(updates) {
				x.api.Redeliver(1000 + id)
			}
			x.later(time.Minute)
		}
		answers := 0
		for c := range int64(updates) {
			answers += len(x.shown(c + 1))
			if got := x.words(c + 1); len(got) != 1 {
				t.Errorf("chat %d has the turns %q", c+1, got)
			}
		}
		if answers != updates {
			t.Errorf("%d answers to %d updates", answers, updates)
		}
		t.Logf("%d restarts, %d updates each time: %d answers", restarts, updates, answers)
	})
}

// The model never answers. The webhook answers as soon as the turn is durable, and no simulated time passes meanwhile.
func TestIO5AckedBeforeTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const events = 200
		var pipe *faketest.Pipe
		x := newWire(t, func(o *telegram.Options) {
			pipe = faketest.NewPipe(t)
			o.Webhook = &telegram.Webhook{URL: "https://bot.example/hook", Listener: pipe}
		})
		x.model.Otherwise = &modeltest.Step{Stall: true}
		x.start()
		x.w.Wait()
		for c := range int64(events) {
			x.chat(c + 1)
			x.api.Say(c+1, 7, "hi", nil)
		}
		began, acked := time.Now(), make(chan int, events)
		for _, body := range x.api.Waiting() {
			go func() {
				code, err := x.api.Bring(t.Context(), pipe.Client(), "http://bot.example/hook", body)
				if err != nil {
					t.Error(err)
				}
				acked <- code
			}()
		}
		for range events {
			if code := <-acked; code != http.StatusOK {
				t.Errorf("answered with %d", code)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the answers waited %v of simulated time", took)
		}
		x.again() // they are durable
		x.w.Wait()
		for c := range int64(events) {
			if got := x.words(c + 1); len(got) != 1 {
				t.Errorf("chat %d has the turns %q", c+1, got)
			}
		}
	})
}

// partly is a store that cannot open one chat.
type partly struct {
	persistence.Store
	key    messages.ChatKey
	broken *atomic.Bool
}

func (s partly) OpenChat(ctx context.Context, key messages.ChatKey) (persistence.Chat, error) {
	if key == s.key && s.broken.Load() {
		return nil, &persistence.Error{Op: "open", Cause: errBroken}
	}
	return s.Store.OpenChat(ctx, key)
}

// The disk of one chat is broken. The others continue, its messages are confirmed because they are stored elsewhere on
// disk, and the next process has them.
func TestIO1SetAsideSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWire(t, nil)
		var broken atomic.Bool
		broken.Store(true)
		x.store.Store = partly{x.store.Store, keyOf(1), &broken}
		x.chat(1)
		x.chat(2)
		x.start()
		var want []string
		for i := range 5 {
			want = append(want, fmt.Sprint("message ", i))
			x.api.Say(1, 7, want[i], nil)
			x.api.Say(2, 7, want[i], nil)
			x.later(20 * time.Second)
		}
		stdtest.Diff(t, "the chat that works", want, x.words(2))
		if n := x.api.Pending(); n != 0 {
			t.Errorf("%d updates wait at the service", n)
		}
		x.again()
		x.api.Say(1, 7, "last", nil)
		x.later(time.Minute)
		broken.Store(false)
		x.later(time.Minute)
		stdtest.Diff(t, "the chat that was broken", append(want, "last"), x.words(1))
		if len(x.shown(1)) == 0 || len(x.shown(2)) != len(want) {
			t.Errorf("answers: %q and %q", x.shown(1), x.shown(2))
		}
	})
}
