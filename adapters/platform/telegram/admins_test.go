package telegram_test

import (
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// Administrators are people by their numeric ids, without bots and anonymous administrators. A
// private chat has none, and a failure is an error without the token.
func TestAP5Admins(t *testing.T) {
	b := newBench(t, nil)
	var bot platform.Administered = b.bot
	b.api.SetAdmins(group, telegramtest.Admin{ID: 5, Owner: true}, telegramtest.Admin{ID: 6}, telegramtest.Admin{ID: 7, Anonymous: true}, telegramtest.Admin{ID: 8, Bot: true})
	id := target(group, 0).Chat
	if got, err := bot.Admins(t.Context(), id); err != nil || !slices.Equal(got, []string{"5", "6"}) {
		t.Errorf("administrators %q, %v", got, err)
	}
	b.api.SetAdmins(group)
	if got, err := bot.Admins(t.Context(), id); err != nil || len(got) != 0 {
		t.Errorf("of a group without any: %q, %v", got, err)
	}
	calls := len(b.api.Calls("getChatAdministrators"))
	if got, err := bot.Admins(t.Context(), target(private, 0).Chat); err != nil || len(got) != 0 || len(b.api.Calls("getChatAdministrators")) != calls {
		t.Errorf("of a private chat: %q, %v, asked %v", got, err, b.api.Calls("getChatAdministrators")[calls:])
	}
	for _, kind := range []faketest.FaultKind{faketest.Refuse, faketest.Garbage} {
		b.api.Fail(telegramtest.Fault{Method: "getChatAdministrators", Kind: kind, Code: 403, Text: "Forbidden: bot was kicked"})
		got, err := bot.Admins(t.Context(), id)
		if err == nil || got != nil {
			t.Fatalf("%v: %q, %v", kind, got, err)
		}
		b.clean(t, err.Error())
	}
	b.api.Block(group)
	if got, err := bot.Admins(t.Context(), id); err == nil || got != nil {
		t.Errorf("of a group that the bot is not in: %q, %v", got, err)
	}
}

// A group that became a supergroup has the supergroup's administrators.
func TestAdminsOfAGroupThatMoved(t *testing.T) {
	b := newBench(t, nil)
	b.api.AddChat(telegramtest.Chat{ID: -100777, Type: "supergroup"})
	b.api.SetAdmins(-100777, telegramtest.Admin{ID: 5, Owner: true})
	b.api.Migrate(group, -100777)
	for range 2 {
		if got, err := b.bot.Admins(t.Context(), target(group, 0).Chat); err != nil || !slices.Equal(got, []string{"5"}) {
			t.Errorf("administrators %q, %v", got, err)
		}
	}
	if n := len(b.api.Calls("getChatAdministrators")); n != 3 {
		t.Errorf("asked %d times: the new place was not remembered", n)
	}
}
