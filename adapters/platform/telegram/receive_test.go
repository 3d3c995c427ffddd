package telegram_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func texts(in []platform.Inbound) []string {
	var out []string
	for _, x := range in {
		out = append(out, x.Text)
	}
	return out
}

func TestIO3IDsFallAndJump(t *testing.T) {
	b := newBench(t, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	var want []string
	for i, id := range []int64{5000, 5001, 9_000_000, 12, 13, 2, 1 << 40} {
		text := fmt.Sprint("update ", id)
		want = append(want, text)
		b.api.AwaitPoller(t)
		b.api.InjectAs(id, "message", map[string]any{
			"message_id": id, "date": 1, "chat": map[string]any{"id": private, "type": "private"}, "from": telegramtest.User(owner, "Ann"), "text": text,
		})
		host.AwaitAccepted(t, i+1)
	}
	stdtest.Diff(t, "", want, texts(host.Accepted()))
}

func TestIO3IDsMayFallAfterAQuietPoll(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *telegram.Options) { o.PollTimeout = time.Second })
	host := platformtest.NewHost()
	b.receive(t, host)
	b.api.Say(private, owner, "high", nil)
	host.AwaitAccepted(t, 1)
	polls := len(b.api.Calls("getUpdates"))
	calls := b.api.AwaitCalls(t, "getUpdates", polls+2)
	if got := calls[len(calls)-1].Params.Int("offset"); got != 0 {
		t.Errorf("after an empty answer the offset is %d", got)
	}
}

// Redelivered updates may fill a batch and displace updates that were never delivered. None of
// those is acknowledged or overtaken.
func TestIO3AFullBatchWithHoles(t *testing.T) {
	t.Parallel()
	const queued = 350
	b := newBench(t, nil)
	host := platformtest.NewHost()
	b.api.Gather(true)
	for i := range queued {
		b.api.InjectAs(int64(1000+i), "message", map[string]any{
			"message_id": i + 1, "date": 1, "chat": map[string]any{"id": private, "type": "private"}, "from": telegramtest.User(owner, "Ann"), "text": fmt.Sprint(i),
		})
	}
	for i := 50; i < queued; i += 2 { // more than a batch
		b.api.Redeliver(int64(1000 + i))
	}
	b.api.Gather(false)
	b.receive(t, host)
	host.AwaitAccepted(t, queued)
	b.api.Await(t, "all to be confirmed", func() bool { return b.api.Pending() == 0 })
	first := map[string]bool{}
	var got, want []string
	for _, text := range texts(host.Accepted()) { // the fake host accepts duplicates
		if !first[text] {
			first[text] = true
			got = append(got, text)
		}
	}
	for i := range queued {
		want = append(want, fmt.Sprint(i))
	}
	stdtest.Diff(t, "", want, got)
}

func TestABadUpdateStopsNobody(t *testing.T) {
	reg := prometheus.NewRegistry()
	b := newBench(t, func(o *telegram.Options) { o.Registry = reg })
	host := platformtest.NewHost()
	b.api.Say(private, owner, "before", nil)
	b.api.InjectRaw(1001, "message", []byte(`{"update_id":1001,"message":{"message_id":"not a number","text":"secret words"}}`))
	b.api.Say(private, owner, "after", nil)
	b.receive(t, host)
	stdtest.Diff(t, "", []string{"before", "after"}, texts(host.AwaitAccepted(t, 2)))
	b.api.Await(t, "all to be confirmed", func() bool { return b.api.Pending() == 0 })
	if !strings.Contains(b.log.String(), "update_id=1001") || strings.Contains(b.log.String(), "secret words") {
		t.Errorf("log: %s", b.log)
	}
	want := `
# HELP sma_telegram_unreadable_updates_total Updates that could not be read and were confirmed.
# TYPE sma_telegram_unreadable_updates_total counter
sma_telegram_unreadable_updates_total{platform="telegram"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sma_telegram_unreadable_updates_total"); err != nil {
		t.Error(err)
	}
}

func TestATokenThatIsRefusedEndsIt(t *testing.T) {
	for name, fault := range map[string]telegramtest.Fault{
		"at the start":    {Method: "getMe", Kind: faketest.Refuse, Code: http.StatusUnauthorized, Text: "Unauthorized"},
		"of a wrong form": {Method: "getMe", Kind: faketest.Refuse, Code: http.StatusNotFound, Text: "Not Found"},
		"later":           {Method: "getUpdates", Kind: faketest.Refuse, Code: http.StatusUnauthorized, Text: "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.api.Fail(fault)
			host := platformtest.NewHost()
			err := b.bot.Receive(t.Context(), host)
			e, ok := errors.AsType[*platform.Error](err)
			if !errors.Is(err, telegram.ErrToken) || !ok || e.Reason != platform.SendAuth || !strings.Contains(err.Error(), "@BotFather") {
				t.Errorf("got %v", err)
			}
			if s := host.States(); len(s) == 0 || s[len(s)-1].Up {
				t.Errorf("states %v", s)
			}
		})
	}
}

func TestWaitsOutWhatCanBeWaitedOut(t *testing.T) {
	cases := []struct {
		name  string
		fault telegramtest.Fault
		note  string
	}{
		{"another poller", telegramtest.Fault{Kind: faketest.Refuse, Code: http.StatusConflict, Text: "Conflict: terminated by other getUpdates request"}, "another poller or a webhook is using this token"},
		{"a pause", telegramtest.Fault{Kind: faketest.Refuse, Code: http.StatusTooManyRequests, Text: "Too Many Requests", RetryAfter: 1}, "the server asks for a pause"},
		{"server error", telegramtest.Fault{Kind: faketest.Refuse, Code: http.StatusBadGateway, Text: "Bad Gateway", N: 3}, "the server answers with error 502"},
		{"a page", telegramtest.Fault{Kind: faketest.Garbage, Code: http.StatusBadGateway, N: 2}, "the server cannot be reached"},
		{"reset", telegramtest.Fault{Kind: faketest.ResetAfter, N: 2}, "the server cannot be reached"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			c.fault.Method = "getUpdates"
			b.api.Fail(c.fault)
			host := platformtest.NewHost()
			b.receive(t, host)
			b.api.Say(private, owner, "still there", nil)
			host.AwaitAccepted(t, 1)
			host.AwaitUp(t)
			want := []platformtest.State{{Up: false, Note: c.note}, {Up: true}}
			stdtest.Diff(t, "states", want, host.States())
		})
	}
}

func TestAPauseIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.api.Fail(telegramtest.Fault{Method: "getUpdates", Kind: faketest.Refuse, Code: http.StatusTooManyRequests, Text: "Too Many Requests", RetryAfter: 1})
	host := platformtest.NewHost()
	start := time.Now()
	b.receive(t, host)
	host.AwaitUp(t)
	if d := time.Since(start); d < time.Second {
		t.Errorf("asked again after %v", d)
	}
}

func TestAWebhookIsDeletedAloud(t *testing.T) {
	b := newBench(t, nil)
	b.api.SetWebhook("https://hook.example/very-private-path")
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	if b.api.Webhook() != "" {
		t.Error("the webhook is still set")
	}
	if log := b.log.String(); !strings.Contains(log, "webhook_host=hook.example") || strings.Contains(log, "very-private-path") {
		t.Errorf("log: %s", log)
	}
	b.api.AwaitPoller(t)
	b.api.SetWebhook("https://hook.example/again")
	host.Await(t, "the second webhook to be reported", func() bool {
		s := host.States()
		return !s[len(s)-1].Up && strings.Contains(s[len(s)-1].Note, "webhook")
	})
	if n := len(b.api.Calls("deleteWebhook")); n != 1 || b.api.Webhook() == "" {
		t.Errorf("deleted %d times, webhook %q", n, b.api.Webhook())
	}
}

// TestAChatThatTakesNothingHoldsNobodyUp has a host that refuses one chat permanently.
func TestAChatThatTakesNothingHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	var hurry atomic.Int64 // each reading of the clock is a minute later
	b := newBench(t, func(o *telegram.Options) {
		o.PollTimeout, o.StateDir = time.Second, t.TempDir()
		o.Now = func() time.Time { return time.Unix(hurry.Add(60), 0) }
	})
	host := platformtest.NewHost()
	var mu sync.Mutex
	broken := true
	host.Refuse(func(in platform.Inbound) error {
		mu.Lock()
		defer mu.Unlock()
		if broken && in.Chat.ID == "77" {
			return errors.New("this chat cannot be written")
		}
		return nil
	})
	b.receive(t, host)
	b.api.Say(private, owner, "stuck 1", nil)
	host.Await(t, "a try", func() bool { return len(host.Offered()) > 0 })
	b.api.Say(private, owner, "stuck 2", nil)
	for i := range 3 {
		b.api.Say(other, other, fmt.Sprint("free ", i), nil)
	}
	stdtest.Diff(t, "", []string{"free 0", "free 1", "free 2"}, texts(host.AwaitAccepted(t, 3)))
	mu.Lock()
	broken = false
	mu.Unlock()
	b.api.Say(private, owner, "stuck 3", nil)
	stdtest.Diff(t, "", []string{"stuck 1", "stuck 2", "stuck 3"}, texts(host.AwaitAccepted(t, 6))[3:])
}

// TestAChatWithAFullBatchHoldsNobodyUp has a chat that the host refuses fill more than a whole batch of updates. What
// follows, a press and the message of another chat, arrives all the same, and nothing of the chat is lost.
func TestAChatWithAFullBatchHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	var hurry atomic.Int64 // each reading of the clock is a minute later
	b := newBench(t, func(o *telegram.Options) {
		o.StateDir, o.Decide = t.TempDir(), (&decisions{}).decide
		o.Now = func() time.Time { return time.Unix(hurry.Add(60), 0) }
	})
	host := platformtest.NewHost()
	host.Refuse(func(in platform.Inbound) error {
		if in.Chat.ID == fmt.Sprint(private) {
			return platform.ErrUnavailable
		}
		return nil
	})
	const stuck = 150
	for i := range stuck {
		b.api.Say(private, owner, fmt.Sprint("stuck ", i), nil)
	}
	b.api.Say(other, other, "free", nil)
	b.receive(t, host)
	stdtest.Diff(t, "", []string{"free"}, texts(host.AwaitAccepted(t, 1)))
	b.api.Press(other, other, 1, "a button of old", nil)
	b.api.AwaitCalls(t, "answerCallbackQuery", 1)
	host.Refuse(nil)
	got := texts(host.AwaitAccepted(t, stuck+1))
	if got[1] != "stuck 0" || got[stuck] != fmt.Sprint("stuck ", stuck-1) {
		t.Errorf("the chat gets %v", got)
	}
}

func TestPollAsksForWhatItReads(t *testing.T) {
	b := newBench(t, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	calls := b.api.AwaitCalls(t, "getUpdates", 2)
	if got := calls[0].Params.Text("allowed_updates"); got != `["message","edited_message","channel_post","edited_channel_post","callback_query","my_chat_member"]` {
		t.Errorf("allowed_updates %s", got)
	}
	if a, z := calls[0].Params.Int("timeout"), calls[1].Params.Int("timeout"); a != 0 || z != 3 {
		t.Errorf("timeouts %d and %d, want 0 and 3", a, z)
	}
	if b.bot.Username() != telegramtest.BotName {
		t.Errorf("username %q", b.bot.Username())
	}
}
