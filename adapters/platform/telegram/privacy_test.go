package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// In privacy mode the service does not deliver what people in a group say among themselves.
// Messages for the bot arrive; settings that need more are reported.
func TestPrivacyMode(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*telegram.Options)
		warns bool
	}{
		{"mentions", func(o *telegram.Options) { o.Groups = platform.GroupsMention }, false},
		{"everything", func(o *telegram.Options) { o.Groups = platform.GroupsAll }, true},
		{"what goes on", func(o *telegram.Options) { o.FollowUp = time.Minute }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.set)
			b.api.Privacy(true)
			host := platformtest.NewHost()
			b.receive(t, host)
			b.api.Say(group, owner, "among us", nil)
			b.api.Say(group, owner, "@sample_bot a mention", map[string]any{"entities": []any{telegramtest.Entity("mention", 0, 11)}})
			b.api.Say(group, owner, "an answer", map[string]any{"reply_to_message": map[string]any{"message_id": 9, "from": map[string]any{"id": telegramtest.BotID, "is_bot": true}}})
			b.api.Say(group, owner, "/help@sample_bot", nil)
			want := []string{"@sample_bot a mention", "an answer", "/help@sample_bot"}
			stdtest.Diff(t, "", want, texts(host.AwaitAccepted(t, 3)))
			if got := strings.Contains(b.log.String(), "privacy mode is on"); got != c.warns {
				t.Errorf("warned: %v", got)
			}
		})
	}
}

func TestActivationInPrivacyMode(t *testing.T) {
	for _, on := range []bool{true, false} {
		b := newBench(t, func(o *telegram.Options) { o.AccessStore, o.Access = newStore("77"), platform.AccessPaired })
		b.api.Privacy(on)
		host := platformtest.NewHost()
		b.receive(t, host)
		for i, word := range []string{"always", "mention"} {
			b.api.Say(group, owner, "/activation "+word, nil)
			notice := host.AwaitAccepted(t, i+1)[i].Gate.Notice
			if got := strings.Contains(notice, "/setprivacy"); notice == "" || got != (on && word == "always") {
				t.Errorf("privacy mode %v, %s: %q", on, word, notice)
			}
		}
	}
}
