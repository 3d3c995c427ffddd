package host

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
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
	stdtest.Must(t, err)
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

// Words that somebody forwards are not read as their own, whether they are said to the bot, answered or only quoted.
func TestForwardedWordsAreNotTheSendersOwn(t *testing.T) {
	p := newProject(t)
	p.api.AddChat(telegramtest.Chat{ID: -5, Type: "supergroup", Title: "Team"})
	script := modeltest.NewFunc(func(model.Request) []model.Event {
		return append(modeltest.TextEvents("read"), modeltest.Finish("stop"))
	})
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"], flags["adapters.telegram.groupContext"] = "direct", "5"
	flags["adapters.telegram.access"] = "paired"
	h := p.start(t, Options{Model: script}, flags)
	summary, err := h.Summary(t.Context())
	stdtest.Must(t, err)
	answered := func(chat int64, text string, more map[string]any) {
		n := len(p.api.Sent(chat))
		p.api.Say(chat, 1, text, more)
		p.api.Await(t, "the answer to "+text, func() bool { return len(p.api.Sent(chat)) > n })
	}
	at := "@" + telegramtest.BotName
	answered(1, "/start "+summary.OwnerCode, nil)
	answered(-5, "/allow"+at, nil)
	say := func(chat int64, text string, more map[string]any) string {
		answered(chat, text, more)
		all := script.Requests()
		raw, err := json.Marshal(all[len(all)-1].Messages)
		stdtest.Must(t, err)
		return string(raw)
	}
	from := map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Bob"}
	if got := say(1, "I owe Eve 500 euros.", map[string]any{"forward_origin": from}); !strings.Contains(got, `\"forwarded\":`) {
		t.Errorf("a forwarded message is read as that of its sender: %s", got)
	}
	p.api.Say(-5, 1, "I live in Rome.", map[string]any{"forward_origin": from})
	tea := map[string]any{
		"message_id": 77, "date": 1, "chat": map[string]any{"id": -5, "type": "supergroup"}, "from": map[string]any{"id": 1, "first_name": "Ann"},
		"text": "I like tea.", "forward_origin": from,
	}
	got := say(-5, at+" and?", map[string]any{"entities": []any{telegramtest.Entity("mention", 0, len(at))}, "reply_to_message": tea})
	for _, want := range []string{"[forwarded] I live in Rome.", "[forwarded] I like tea."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, `\"forwarded\":`) {
		t.Errorf("own words are read as those of somebody else: %s", got)
	}
}

// A group that is renamed begins its requests anew, and that is counted.
func TestNewTitleIsACountedCause(t *testing.T) {
	p := newProject(t)
	script := modeltest.NewFunc(func(model.Request) []model.Event {
		return append(modeltest.TextEvents("read"), modeltest.Finish("stop"))
	})
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"], flags["adapters.telegram.groups"] = "direct", "all"
	h := p.start(t, Options{Model: script}, flags)
	for i, title := range []string{"Team", "Team", "Friends"} {
		p.api.AddChat(telegramtest.Chat{ID: -5, Type: "supergroup", Title: title})
		p.api.Say(-5, 1, "hello", nil)
		p.api.Await(t, "the answer", func() bool { return len(script.Requests()) > i })
		p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(-5)) > 0 })
	}
	if got := labelled(t, h, "sma_prompt_prefix_broken_total", "cause"); got["chat"] != 1 {
		t.Errorf("broken prefixes: %v, want one by the chat", got)
	}
}
