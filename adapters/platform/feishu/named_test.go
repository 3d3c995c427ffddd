package feishu

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

func TestBotLink(t *testing.T) {
	for base, want := range map[string]string{
		"https://open.feishu.cn":     "https://applink.feishu.cn/client/bot/open?appId=cli_1",
		"https://open.larksuite.com": "https://applink.larksuite.com/client/bot/open?appId=cli_1",
		"https://open.example":       "",
		"http://127.0.0.1:1":         "",
	} {
		p := &Platform{opts: Options{AppID: "cli_1", BotOptions: platform.BotOptions{BaseURL: base}}}
		if name, link := p.Bot(); name != "" || link != "" {
			t.Errorf("%s: %q and %q before the service answered", base, name, link)
		}
		p.me.Store(&identity{Name: "Sample"})
		if name, link := p.Bot(); name != "Sample" || link != want {
			t.Errorf("%s: %q and %q, want %q", base, name, link, want)
		}
	}
}
