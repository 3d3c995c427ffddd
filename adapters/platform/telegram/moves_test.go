package telegram_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// A group, and the supergroups that it becomes.
const (
	notGrown = int64(-600)
	grown    = int64(-10077)
	regrown  = int64(-10088)
)

func newGroupBench(t *testing.T, dir string) *bench {
	t.Helper()
	b := newBench(t, func(o *telegram.Options) { o.Groups, o.StateDir = platform.GroupsAll, dir })
	b.api.AddChat(telegramtest.Chat{ID: notGrown, Type: "group", Title: "Team"})
	b.api.AddChat(telegramtest.Chat{ID: grown, Type: "supergroup", Title: "Team"})
	b.api.AddChat(telegramtest.Chat{ID: regrown, Type: "supergroup", Title: "Team"})
	return b
}

// A group that becomes a supergroup continues in its chat: what people say there, also under a
// reused message id, and what the bot says, also across a restart.
func TestChatFollowsItsGroup(t *testing.T) {
	dir := t.TempDir()
	b := newGroupBench(t, dir)
	host := platformtest.NewHost()
	b.receive(t, host)
	first := b.api.Say(notGrown, other, "before", nil)
	b.api.Say(notGrown, other, "", map[string]any{"text": nil, "migrate_to_chat_id": grown})
	b.api.Say(grown, other, "", map[string]any{"text": nil, "migrate_from_chat_id": notGrown})
	b.api.Say(grown, other, "after", map[string]any{"message_id": first})
	ids := map[string]bool{}
	for _, in := range host.AwaitAccepted(t, 4) {
		if in.ChatKey != "telegram-chat--600" || in.Chat.ID != "-600" {
			t.Errorf("%q is in chat %s, %s", in.Text, in.ChatKey, in.Chat.ID)
		}
		ids[in.IngressID] = true
		if in.Text == "after" && in.TurnID != "u:telegram-chat--600:-10077-"+in.MessageID || in.Text == "before" && in.TurnID != "" {
			t.Errorf("%q has the turn id %q", in.Text, in.TurnID)
		}
	}
	if len(ids) != 4 {
		t.Errorf("messages share ids: %v", ids)
	}
	to := target(notGrown, 0)
	if _, err := b.bot.Send(t.Context(), to, platform.Part{Text: "here"}); err != nil || len(b.api.Sent(grown)) != 1 {
		t.Errorf("%v; the supergroup shows %v", err, b.api.Sent(grown))
	}
	again := newGroupBench(t, dir)
	id, err := again.bot.Send(t.Context(), to, platform.Part{Text: "still"})
	if err != nil || len(again.api.Sent(grown)) != 1 {
		t.Errorf("after a restart: %v; the supergroup shows %v", err, again.api.Sent(grown))
	}
	if err := again.bot.Edit(t.Context(), to, id.ID, platform.Part{Text: "edited"}); err != nil {
		t.Error(err)
	}
}

// The server may first report the move when the bot sends: then nothing was sent, and the message
// is sent to the new id at once.
func TestSendFollowsItsGroup(t *testing.T) {
	b := newGroupBench(t, "")
	b.api.Migrate(notGrown, grown)
	to := target(notGrown, 0)
	for _, text := range []string{"one", "two"} {
		if _, err := b.bot.Send(t.Context(), to, platform.Part{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.api.Sent(grown); len(got) != 2 || len(b.api.Calls("sendMessage")) != 3 {
		t.Errorf("the supergroup shows %v after %d calls", got, len(b.api.Calls("sendMessage")))
	}
	b.api.Migrate(grown, regrown)
	if _, err := b.bot.Send(t.Context(), to, platform.Part{Text: "three"}); err != nil || len(b.api.Sent(regrown)) != 1 {
		t.Errorf("%v; the second supergroup shows %v", err, b.api.Sent(regrown))
	}
}
