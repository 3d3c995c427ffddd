package host

import (
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
)

// feishuFlags enable the Feishu app with a fake service, and disable Telegram.
func feishuFlags(api *feishutest.API, receive string) map[string]string {
	return map[string]string{
		"adapters.telegram.enabled": "false", "adapters.feishu.enabled": "true", "adapters.feishu.appId": feishutest.App,
		"adapters.feishu.baseUrl": api.URL(), "adapters.feishu.access": "open",
		"adapters.feishu.receive": receive, "adapters.feishu.webhook.listen": "127.0.0.1:0",
	}
}
