package decision

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Languages that people may choose for a chat.
const (
	LanguageEnglish = "en"
	LanguageChinese = "zh"
)

// ChosenLanguage returns the language that people chose for the chat, or empty if none was chosen.
func (b *Base) ChosenLanguage() string {
	if b.Language == nil {
		return ""
	}
	return b.Language(b.Key)
}

// CanSay reports whether an answer of the host reaches the sender of a message.
func (b *Base) CanSay(msg messages.AcceptIngress) bool {
	return b.Via.Outbox || msg.Verdict == messages.VerdictCommand || b.TakesWords()
}

// Directly returns words of the host that go back with the receipt, because the chat has no outbox to deliver them.
func (b *Base) Directly(msg messages.AcceptIngress, say string) string {
	if b.Via.Outbox || !b.CanSay(msg) {
		return ""
	}
	return say
}

// TakesWords reports whether words can decide requests here. This holds wherever people write, even if there are
// buttons, but not for the API and for tasks.
func (b *Base) TakesWords() bool {
	return !slices.Contains([]string{"", "api", "task"}, b.Addr.Platform)
}

// Localized returns a notice in the language of the newest user turn.
func (b *Base) Localized(n notices.Text) string { return b.Text(n, Newest(b.State.History)) }

// Newest returns the newest user turn, or the zero turn.
func Newest(turns []journal.Turn) journal.Turn {
	return newest(turns, func(journal.Turn) bool { return true })
}

func newest(turns []journal.Turn, which func(journal.Turn) bool) journal.Turn {
	for _, t := range slices.Backward(turns) {
		if t.Role == uimessage.RoleUser && which(t) {
			return t
		}
	}
	return journal.Turn{}
}

// NewestBefore returns the newest user turn before a message of the history, which is what that message answers. For
// a message that is not in the history, it returns the newest user turn of all.
func (b *Base) NewestBefore(id string) journal.Turn {
	history := b.State.History
	if i := slices.IndexFunc(history, func(t journal.Turn) bool { return t.ID == id }); i >= 0 {
		history = history[:i]
	}
	return Newest(history)
}

// Text returns a notice in the language for a turn.
func (b *Base) Text(n notices.Text, t journal.Turn) string { return n.In(b.Chinese(t)) }

// InChinese reports whether people of the chat are asked in Chinese.
func (b *Base) InChinese() bool { return b.Chinese(Newest(b.State.History)) }

// Chinese reports whether a turn is answered in Chinese: in the language that people chose for the chat, or else in that
// of the turn. For a command that is the language of the message before it.
func (b *Base) Chinese(t journal.Turn) bool {
	if chosen := b.ChosenLanguage(); chosen == LanguageChinese || chosen == LanguageEnglish {
		return chosen == LanguageChinese
	}
	return b.WrittenInChinese(t)
}

// WrittenInChinese reports whether a turn is in Chinese, or if its sender wrote no words, the newest turn that has some.
// If no turn has, it is the language of the sender's client, or what the host expects.
func (b *Base) WrittenInChinese(t journal.Turn) bool {
	inHan := func(t journal.Turn) bool {
		return strings.ContainsFunc(journal.Text(t.Message), func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	if inHan(t) || worded(t) {
		return inHan(t)
	}
	if last := newest(b.State.History, worded); last.ID != "" {
		return inHan(last)
	}
	from, _ := b.In.Msg.(messages.AcceptIngress)
	return from.Chinese || b.ExpectsChinese != nil && b.ExpectsChinese() || strings.HasPrefix(strings.ToLower(b.Client()), LanguageChinese)
}

// Client returns the language of the client of the person whose private chat it is, or empty if it is not known.
func (b *Base) Client() string {
	if b.ClientLanguage == nil {
		return ""
	}
	return b.ClientLanguage(b.Key)
}

// worded reports whether the sender of a turn wrote words, and not only a command, which starts with a slash. A bracket
// starts the placeholder of a file or of a forwarded message.
func worded(t journal.Turn) bool {
	return t.Meta.Source != uimessage.SourceTask && slices.ContainsFunc(t.Parts, func(p uimessage.Part) bool {
		words, ok := p.(uimessage.Text)
		return ok && words.Text != "" && words.Text[0] != '/' && words.Text[0] != '['
	})
}
