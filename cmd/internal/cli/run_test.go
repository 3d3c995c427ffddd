package cli

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// The start message lists each bot with a link that opens it. The owner's link also contains the
// code for that bot.
func TestReadyBlockNamesBots(t *testing.T) {
	telegram := host.PlatformStatus{Name: "telegram", On: true, Bot: "@sample_bot", Link: "https://t.me/sample_bot"}
	second := host.PlatformStatus{Name: "telegram@work", On: true, Bot: "@work_bot", Link: "https://t.me/work_bot"}
	feishu := host.PlatformStatus{Name: "feishu", On: true, Bot: "Sample", Link: "https://applink.feishu.cn/client/bot/open?appId=cli_1"}
	for _, tt := range []struct {
		name  string
		lang  string
		s     host.Summary
		wants []string
	}{
		{
			"an owner is missing", "en_US.UTF-8",
			host.Summary{Status: host.Status{Platforms: []host.PlatformStatus{telegram, second}}, OwnerCode: "ABCD1234", OwnerBot: "telegram"},
			[]string{
				"  telegram   on, @sample_bot, https://t.me/sample_bot\n", "  telegram@work on, @work_bot, https://t.me/work_bot\n",
				"Next: open https://t.me/sample_bot?start=ABCD1234 to become the owner of the bot (good for one hour), or send it /start ABCD1234",
			},
		},
		{
			"of the other platform's bot", "",
			host.Summary{Status: host.Status{Platforms: []host.PlatformStatus{telegram, feishu}}, OwnerCode: "ABCD1234", OwnerBot: "feishu"},
			[]string{"  feishu     on, Sample, https://applink.feishu.cn/client/bot/open?appId=cli_1\n", "Next: send /start ABCD1234 to the bot"},
		},
		{
			"not known yet", "",
			host.Summary{Status: host.Status{Platforms: []host.PlatformStatus{{Name: "telegram", On: true, Note: "starting"}}}},
			[]string{"  telegram   on, starting\n", "Next: write to the bot"},
		},
		{
			"in Chinese", "zh_CN.UTF-8",
			host.Summary{
				Status: host.Status{Project: "Ada", Demo: true, Platforms: []host.PlatformStatus{telegram, {Name: "feishu", Note: "x"}}}, OwnerCode: "ABCD1234", OwnerBot: "telegram",
			},
			[]string{
				"Ada 已就绪\n", "  模型       演示模型", "  telegram   已启用, @sample_bot", "  feishu     未启用：x\n",
				"下一步：打开 https://t.me/sample_bot?start=ABCD1234 成为机器人的主人（一小时内有效），或向它发送 /start ABCD1234",
			},
		},
	} {
		a := &app{Console: &console.Console{Env: func(name string) (string, bool) { return tt.lang, name == "LANG" }}}
		got := a.readyBlock(tt.s, "", false)
		for _, want := range tt.wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the block lacks %q:\n%s", tt.name, want, got)
			}
		}
	}
}
