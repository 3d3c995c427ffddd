package feishu

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
)

// wordsFor picks the language of a service: events do not tell a person's. Feishu is
// used in China, Lark elsewhere.
func wordsFor(host string) notices.Words {
	if strings.Contains(host, "larksuite") {
		return notices.English()
	}
	return notices.Chinese()
}
