package cli

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// TestOwnerLink: the link that makes its bearer the owner leads to the right bot and carries the code. Services
// without such links have none.
func TestOwnerLink(t *testing.T) {
	list := []host.PlatformStatus{
		{Name: "feishu", On: true, Up: true, Bot: "Ada", Link: "https://applink.feishu.cn/client/bot/open?appId=cli_1"},
		{Name: "telegram", On: true, Up: true, Bot: "@ada_bot", Link: "https://t.me/ada_bot"},
		{Name: "telegram@new", On: true},
		{Name: "telegram@work", On: true, Up: true, Bot: "@work_bot", Link: "https://t.me/work_bot"},
	}
	for bot, want := range map[string]string{
		"telegram":      "https://t.me/ada_bot?start=ABCD2345",
		"telegram@work": "https://t.me/work_bot?start=ABCD2345",
		"telegram@new":  "",
		"feishu":        "",
		"":              "",
	} {
		if got := ownerLink(list, bot, "ABCD2345"); got != want {
			t.Errorf("link of %q: %q, want %q", bot, got, want)
		}
	}
}
