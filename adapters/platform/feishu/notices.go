package feishu

import (
	"cmp"
	"strings"
	"unicode"

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

// wordsOf are the words for a chat: in the language that people chose there, else in that
// of who reads them, else in that of the service.
func (p *Platform) wordsOf(chat messages.ChatKey, language string) notices.Words {
	if p.opts.Language != nil {
		language = cmp.Or(p.opts.Language(chat), language)
	}
	switch language {
	case "en":
		return notices.English()
	case "zh":
		return notices.Chinese()
	}
	return p.say
}

// writtenIn is the language of a message. A command and a code have none.
func writtenIn(in platform.Inbound) string {
	switch {
	case strings.ContainsFunc(in.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) }):
		return "zh"
	case in.Kind == platform.KindMessage && strings.ContainsFunc(in.Text, func(r rune) bool { return 'a' <= r && r <= 'z' }):
		return "en"
	}
	return ""
}
