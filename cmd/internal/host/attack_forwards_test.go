package host

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// A command in a message that the owner forwards was written by another person: it gives no access and changes nothing, in
// either language.
func TestForwardedCommandsChangeNothing(t *testing.T) {
	c := newChosen(t)
	c.flags["adapters.telegram.access"] = "paired"
	for _, chat := range []telegramtest.Chat{{ID: -5, Type: "supergroup", Title: "Team"}, {ID: -6, Type: "supergroup", Title: "Others"}} {
		c.api.AddChat(chat)
	}
	c.start(t)
	t.Cleanup(func() { c.stop(t) })
	summary, err := c.h.Summary(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const owner, stranger = 1, 2
	at := "@" + telegramtest.BotName
	c.say(t, 1, owner, "/start "+summary.OwnerCode, nil)
	c.say(t, -5, owner, "/allow"+at, nil)
	asked := c.say(t, stranger, stranger, "hello", nil)
	c.api.Await(t, "the question to the owner", func() bool { return len(c.api.Sent(owner)) == 2 })
	code := asked[strings.LastIndex(asked, " ")+1:]
	forwards := func(text string) map[string]any {
		out := map[string]any{"forward_origin": map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": stranger, "first_name": "Bob"}}}
		if strings.HasPrefix(text, at) {
			out["entities"] = []any{telegramtest.Entity("mention", 0, len(at))}
		}
		return out
	}
	const refusal, chinese = "Somebody else wrote this command, so I did nothing. Send it yourself.", "这个命令是别人写的，我没有执行。请你自己发送。"
	for _, x := range []struct {
		chat int64
		say  string
		want string
	}{
		{1, "/allow " + code, refusal},
		{-6, "/allow" + at, refusal},
		{-5, "/activation" + at + " always", refusal},
		{1, "/language zh", refusal},
		{1, "/tasks cancel 1", refusal},
		{1, "/new", refusal},
		{1, "/stop all", refusal},
		{1, "/forget yes", refusal},
		{1, "/approve 1", refusal},
	} {
		if got := c.say(t, x.chat, owner, x.say, forwards(x.say)); got != x.want {
			t.Errorf("%q was answered %q, want %q", x.say, got, x.want)
		}
	}
	c.say(t, 1, owner, "/language zh", nil)
	if got := c.say(t, 1, owner, "/stop", forwards("/stop")); got != chinese {
		t.Errorf("in Chinese: %q, want %q", got, chinese)
	}
	c.api.Say(-6, owner, at+" hi", forwards(at+" hi"))
	c.api.AwaitPoller(t)
	store := c.h.access
	if role := store.Role("telegram", "2"); role != platform.RoleStranger {
		t.Errorf("the stranger is now %q", role)
	}
	if store.GroupAllowed("telegram", "-6") {
		t.Error("the other group may use the bot")
	}
	if how := store.Listens("telegram", "-5"); how != "" {
		t.Errorf("the bot listens to %q in the group", how)
	}
}
