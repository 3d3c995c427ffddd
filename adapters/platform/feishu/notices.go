package feishu

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

// wordsFor picks the language by the service, because events do not contain a person's language.
// Feishu is used in China, Lark elsewhere.
func wordsFor(host string) notices.Words {
	return notices.For(!strings.Contains(host, "larksuite"))
}

// wordsOf returns the texts for a chat: in the language chosen there, or else in that of the
// reader, or else in that of the service.
func (p *Platform) wordsOf(chat messages.ChatKey, language string) notices.Words {
	return wordsIn(cmp.Or(p.opts.Language(chat), language), p.say)
}

// wordsIn returns the texts in a language, or else otherwise.
func wordsIn(language string, otherwise notices.Words) notices.Words {
	if language == langChinese || language == langEnglish {
		return notices.For(language == langChinese)
	}
	return otherwise
}

// writtenIn returns the language of a message. Commands and codes have none.
func writtenIn(in platform.Inbound) string {
	switch {
	case strings.ContainsFunc(in.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) }):
		return "zh"
	case in.Kind == platform.KindMessage && strings.ContainsFunc(in.Text, func(r rune) bool { return 'a' <= r && r <= 'z' }):
		return "en"
	}
	return ""
}
