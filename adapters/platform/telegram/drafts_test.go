package telegram_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func withDrafts(o *telegram.Options) { o.Drafts = telegram.DraftsDraft }

// A draft keeps its number while its text grows, and no other text has that number.
func TestDraftOnTheWire(t *testing.T) {
	b := newBench(t, withDrafts)
	for _, d := range []struct {
		id   string
		part platform.Part
	}{
		{"a/1", platform.Part{Text: "The"}},
		{"a/1", platform.Part{Text: "The sun", Markup: "The <b>sun</b>"}},
		{"a/2", platform.Part{Text: "else", Markup: "<b>else"}},
	} {
		stdtest.Must(t, b.bot.Draft(t.Context(), target(private, 0), d.id, d.part))
	}
	got := b.api.Drafts(private)
	if len(got) != 3 || got[0].ID == 0 || got[0].ID != got[1].ID || got[1].ID == got[2].ID || got[1].Text != "The sun" || got[2].Text != "else" {
		t.Errorf("drafts: %+v", got)
	}
	if n := len(b.api.Sent(private)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// Drafts are for private chats that show them. A refusal applies to that chat for a day; a rate
// limit is not a refusal.
func TestDraftsThatAreNotPossible(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newBench(t, func(o *telegram.Options) { o.Drafts, o.Now = telegram.DraftsDraft, func() time.Time { return now } })
	for to, want := range map[platform.Target]bool{
		{ChatKey: "telegram-chat-77", Chat: "77"}:                              true,
		{ChatKey: "telegram-chat-77", Chat: "77", ChatType: "private"}:         true,
		{ChatKey: "telegram-chat--10044", Chat: "-10044"}:                      false,
		{ChatKey: "telegram-chat--10044", Chat: "-10044", ChatType: "private"}: false,
		{ChatKey: "telegram-chat-77", Chat: "77", ChatType: "group"}:           false,
		{}: false,
	} {
		if got := b.bot.TakesDrafts(to); got != want {
			t.Errorf("%+v takes drafts: %v", to, got)
		}
	}
	draft := func() error { return b.bot.Draft(t.Context(), target(private, 0), "a/1", platform.Part{Text: "The"}) }
	b.api.Fail(telegramtest.Fault{Method: "sendMessageDraft", Kind: faketest.Refuse, Code: 429, Text: "Too Many Requests", RetryAfter: 1})
	if err := draft(); errors.Is(err, platform.ErrNoDraft) || !b.bot.TakesDrafts(target(private, 0)) {
		t.Errorf("a wait is taken for a refusal: %v", err)
	}
	now = now.Add(time.Minute)
	b.api.ForbidDrafts(private)
	if err := draft(); !errors.Is(err, platform.ErrNoDraft) || b.bot.TakesDrafts(target(private, 0)) {
		t.Errorf("a refusal is %v", err)
	}
	if !b.bot.TakesDrafts(platform.Target{ChatKey: "telegram-chat-5", Chat: "5"}) {
		t.Error("another chat suffers for it")
	}
	if now = now.Add(25 * time.Hour); !b.bot.TakesDrafts(target(private, 0)) {
		t.Error("it is never tried again")
	}
}

// The setting decides; an invalid value prevents the start.
func TestDraftsSetting(t *testing.T) {
	for mode, want := range map[string][2]bool{"": {true, false}, "edit": {true, false}, "draft": {true, true}, "off": {false, false}} {
		b := newBench(t, func(o *telegram.Options) { o.Drafts = mode })
		if got := [2]bool{b.bot.Capabilities().Drafts, b.bot.TakesDrafts(target(private, 0))}; got != want {
			t.Errorf("%q: %v, want %v", mode, got, want)
		}
	}
	_, err := telegram.New(telegram.Options{Token: func() string { return "1:x" }, BotOptions: platform.BotOptions{Access: "open", Drafts: "often"}})
	if err == nil {
		t.Error("any word is taken")
	}
}
