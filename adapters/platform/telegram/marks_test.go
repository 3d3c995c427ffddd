package telegram_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A chat that refuses reactions is not tried for a day; a chat whose message is gone still is.
func TestMarksThatAreNotWanted(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newBench(t, func(o *telegram.Options) { o.Reactions, o.Now = true, func() time.Time { return now } })
	mark := func(chat, message int64) {
		t.Helper()
		_ = b.bot.Mark(t.Context(), target(chat, 0), strconv.FormatInt(message, 10), messages.MarkSeen)
	}
	calls := func() int { return len(b.api.Calls("setMessageReaction")) }
	here, there := b.api.Say(group, 7, "hello", nil), b.api.Say(private, 7, "hello", nil)
	mark(group, 9999)
	mark(group, here)
	if calls() != 2 || b.api.Reaction(group, here) != "👀" {
		t.Errorf("%d calls after a message that is gone", calls())
	}
	b.api.ForbidReactions(group)
	for range 3 {
		mark(group, here)
	}
	mark(private, there)
	if calls() != 4 || b.api.Reaction(private, there) != "👀" {
		t.Errorf("%d calls, want one refusal and the other chat's", calls())
	}
	now = now.Add(25 * time.Hour)
	mark(group, here)
	if calls() != 5 {
		t.Errorf("%d calls a day later", calls())
	}
	b.api.Fail(telegramtest.Fault{Method: "setMessageReaction", Kind: faketest.Refuse, Code: 404, Text: "Not Found", N: -1})
	mark(private, there)
	b.api.Heal()
	mark(private, there)
	if calls() != 6 {
		t.Errorf("%d calls of a server that does not know the method", calls())
	}
}

// Without the setting nothing is called.
func TestMarksAreOff(t *testing.T) {
	b := newBench(t, nil)
	id := b.api.Say(private, 7, "hello", nil)
	if err := b.bot.Mark(t.Context(), target(private, 0), strconv.FormatInt(id, 10), messages.MarkSeen); err != nil || b.bot.Capabilities().Reactions {
		t.Errorf("%v, %+v", err, b.bot.Capabilities())
	}
	if n := len(b.api.Calls("setMessageReaction")); n != 0 {
		t.Errorf("%d calls", n)
	}
}
