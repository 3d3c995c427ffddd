package feishu

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
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
	if in.Kind == platform.KindCommand {
		return p.wordsOf(in.ChatKey)
	}
	return p.say
}

// wordsOf are the words for a chat: in the language that people chose there, else in that
// of the service.
func (p *Platform) wordsOf(chat messages.ChatKey) notices.Words {
	if p.opts.Language != nil {
		switch p.opts.Language(chat) {
		case "en":
			return notices.English()
		case "zh":
			return notices.Chinese()
		}
	}
	return p.say
}
