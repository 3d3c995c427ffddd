package feishu

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
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

// wordsIn are the words for a message: those of the service, but for the answer to a
// command in a chat for which people chose a language.
func (p *Platform) wordsIn(in platform.Inbound) notices.Words {
	if in.Kind == platform.KindCommand && p.opts.Language != nil {
		switch p.opts.Language(in.ChatKey) {
		case "en":
			return notices.English()
		case "zh":
			return notices.Chinese()
		}
	}
	return p.say
}
