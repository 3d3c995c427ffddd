package telegram_test

import (
	"errors"
	"maps"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// TestIO11Telegram checks that messages of other bots are ignored, however they address ours and
// however open the settings are, so that two bots cannot talk to each other forever.
func TestIO11Telegram(t *testing.T) {
	b := newBench(t, func(o *telegram.Options) { o.Groups, o.FollowUp = platform.GroupsAll, time.Hour })
	host := platformtest.NewHost()
	b.receive(t, host)
	ours := b.api.Say(group, owner, at+"hi", mention()) // a person is heard, so that a follow-up would be possible
	host.AwaitAccepted(t, 1)
	robot := func(more map[string]any) map[string]any {
		out := map[string]any{"from": map[string]any{"id": 5, "is_bot": true, "first_name": "Robo", "username": "robo_bot"}}
		maps.Copy(out, more)
		return out
	}
	chat := map[string]any{"id": int64(-100777), "type": "channel", "title": "Channel"}
	for _, c := range []struct {
		name, reason string
		chat         int64
		text         string
		more         map[string]any
	}{
		{"in private", "bot", private, "hello", robot(nil)},
		{"in a group where all is heard", "bot", group, "hello", robot(nil)},
		{"by a mention", "bot", group, at + "hello", robot(mention())},
		{"by a reply", "bot", group, "and then?", robot(map[string]any{"reply_to_message": map[string]any{
			"message_id": ours, "date": 1, "chat": map[string]any{"id": group, "type": "supergroup"}, "from": telegramtest.User(1, "Bot"), "text": "x",
		}})},
		{"by a command", "bot", group, "/status@" + telegramtest.BotName, robot(nil)},
		{"by going on", "bot", group, "and then?", robot(nil)},
		{"in a topic", "bot", forum, "hello", robot(map[string]any{"message_thread_id": 5, "is_topic_message": true})},
		{"in the name of a channel", "anonymous", group, at + "hello", map[string]any{
			"entities": mention()["entities"], "sender_chat": chat, "from": map[string]any{"id": 136817688, "is_bot": true, "first_name": "Channel"},
		}},
	} {
		before := len(host.Accepted())
		b.api.Say(c.chat, 5, c.text, c.more)
		in := host.AwaitAccepted(t, before+1)[before]
		if in.Gate.Open || in.Gate.Refuse || in.Gate.Notice != "" || in.Gate.Reason != c.reason {
			t.Errorf("%s: %+v", c.name, in.Gate)
		}
	}
	const rounds = 100
	before := len(host.Accepted())
	for range rounds {
		b.api.Say(group, 5, at+"as I said", robot(mention()))
	}
	heard := 0
	for _, in := range host.AwaitAccepted(t, before+rounds)[before:] {
		if in.Gate.Open {
			heard++
		}
	}
	if heard != 0 {
		t.Errorf("a bot was heard %d times", heard)
	}
	t.Logf("soak: row=IO11 platform=telegram ways=8 rounds=%d heard=%d", rounds, heard)
}

// TestIO14Telegram lets the clock jump by a day forward and back. Messages still arrive and are
// sent; people may continue without naming the bot for minutes, not forever; a delay that the
// server asked for does not last a day.
func TestIO14Telegram(t *testing.T) {
	var ahead atomic.Int64
	begin := time.Now().Round(0) // wall clock only, as after a restart
	b := newBench(t, func(o *telegram.Options) {
		o.FollowUp, o.StateDir = 10*time.Minute, t.TempDir()
		o.Now = func() time.Time { return begin.Add(time.Duration(ahead.Load())) }
	})
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	say := func(text string, more map[string]any) platform.Gate {
		t.Helper()
		n := len(host.Accepted())
		b.api.Say(group, owner, text, more)
		return host.AwaitAccepted(t, n+1)[n].Gate
	}
	send := func() error {
		_, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Text: "hello"})
		return err
	}
	violations := 0
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour, -24 * time.Hour, 24 * time.Hour} {
		if g := say(at+"hi", mention()); !g.Open {
			t.Errorf("before %v: %+v", jump, g)
		}
		if g := say("and then?", nil); !g.Open || g.Reason != "follow_up" {
			t.Errorf("before %v: %+v", jump, g)
		}
		b.api.Fail(telegramtest.Fault{Method: "sendMessage", Kind: faketest.Refuse, Code: http.StatusTooManyRequests, Text: "Too Many Requests: retry after 30", RetryAfter: 30})
		if e, ok := errors.AsType[*platform.Error](send()); !ok || e.RetryAfter != 30*time.Second {
			t.Errorf("before %v the wait is %+v", jump, e)
		}
		if e, ok := errors.AsType[*platform.Error](send()); !ok || !e.Remembered || e.Reason != platform.SendRate {
			t.Errorf("before %v the wait is not remembered: %+v", jump, e)
		}
		ahead.Add(int64(jump))
		if g := say("and then?", nil); g.Open {
			violations++
			t.Errorf("after %v somebody may still go on: %+v", jump, g)
		}
		if err := send(); err != nil {
			violations++
			t.Errorf("after %v a chat waits: %v", jump, err)
		}
	}
	t.Logf("soak: row=IO14 platform=telegram jumps=4 violations=%d", violations)
}
