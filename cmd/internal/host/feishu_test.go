package host

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
)

// feishuFlags switch the Feishu app on, with a fake behind it and Telegram off.
func feishuFlags(api *feishutest.API, receive string) map[string]string {
	return map[string]string{
		"adapters.telegram.enabled": "false", "adapters.feishu.enabled": "true", "adapters.feishu.appId": feishutest.App,
		"adapters.feishu.baseUrl": api.URL(), "adapters.feishu.access": "open",
		"adapters.feishu.receive": receive, "adapters.feishu.webhook.listen": "127.0.0.1:0",
	}
}

// TestFeishu: a question goes in by either way and its answer comes out, once, also
// when the service brings the question again.
func TestFeishu(t *testing.T) {
	for _, receive := range []string{"connection", "webhook"} {
		t.Run(receive, func(t *testing.T) {
			api := feishutest.NewAPI(t)
			api.AddChat("oc_1", "p2p")
			script := modeltest.NewScript()
			answer := modeltest.Say("the **answer**")
			script.Otherwise = &answer
			p := newProject(t)
			env := "SMA_ADAPTERS_FEISHU_APP_SECRET=" + api.Secret() + "\nSMA_ADAPTERS_FEISHU_ENCRYPT_KEY=" + api.EncryptKey() + "\n"
			if err := os.WriteFile(filepath.Join(p.dir, ".env"), []byte(env), 0o600); err != nil {
				t.Fatal(err)
			}
			flags := telegramFlags(p)
			maps.Copy(flags, feishuFlags(api, receive))
			h := p.start(t, Options{Model: script}, flags)
			if receive == "webhook" {
				api.SetWebhook("http://" + h.hookAddr + "/feishu")
			}
			api.Say("oc_1", "ou_1", "the question", nil)
			shown := func() int {
				n := 0
				for _, m := range api.Sent("oc_1") {
					if strings.Contains(m.Text, "answer") && !m.Streaming {
						n++
					}
				}
				return n
			}
			api.Await(t, "the answer", func() bool { return shown() > 0 })
			api.Repeat()
			api.Await(t, "the repetition", api.Idle)
			if n := shown(); n != 1 {
				t.Errorf("the answer is shown %d times", n)
			}
		})
	}
}
