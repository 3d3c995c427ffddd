package telegram

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
	"github.com/shipmyagent/shipmyagent/messages"
)

func TestLooksLikeMore(t *testing.T) {
	for text, want := range map[string]bool{
		"and tomorrow": true, "why?": true, "明天呢？": true, "那明天": true, "继续说": true, "": false, "lunch is ready": false, "Android is out": false,
		"今天吃饭": false, "  Also, this": true, "...": false, strings.Repeat("x", 10_000) + "?": false, "\xff": false,
	} {
		if got := looksLikeMore(text); got != want {
			t.Errorf("%.40q goes on: %v, want %v", text, got, want)
		}
	}
}

// Only a person whom the bot has answered may follow up, for a while and in that chat.
func TestFollows(t *testing.T) {
	now := time.Unix(1000, 0)
	f := recent.NewTimes(maxFollows, 10*time.Minute, func() time.Time { return now })
	in := func(chat, who string) string {
		return followKey(platform.Inbound{ChatKey: messages.ChatKey("telegram-chat-" + chat), Sender: platform.Person{ID: who}})
	}
	f.Note(in("-1", "7"))
	now = now.Add(9 * time.Minute)
	for _, c := range []struct {
		chat, who string
		want      bool
	}{{"-1", "7", true}, {"-1", "8", false}, {"-2", "7", false}} {
		if got := f.Within(in(c.chat, c.who)); got != c.want {
			t.Errorf("%s in %s: %v", c.who, c.chat, got)
		}
	}
	now = now.Add(time.Minute)
	if f.Within(in("-1", "7")) {
		t.Error("the window does not end")
	}
	now = now.Add(-time.Hour)
	if f.Within(in("-1", "7")) {
		t.Error("a clock that went back opens the window")
	}
}
