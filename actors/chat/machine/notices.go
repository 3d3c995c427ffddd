package machine

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// notice returns what people read when a run ends without a complete answer, or empty. The message m is the run's own
// part of its message.
func (c *Chat) notice(result journal.Result, reason string, m uimessage.Message) string {
	var words notices.Text
	switch result {
	case journal.ResultFailed, journal.ResultInterrupted:
		words = notices.Failure(reason)
	case journal.ResultDone:
		words = notices.NotWhole(reason, c.lastWords(m, result) != "")
	case journal.ResultStopped, journal.ResultWaiting, journal.ResultRewound,
		journal.ResultSwitching, journal.ResultSwitched:
	}
	if words == (notices.Text{}) {
		return ""
	}
	if slices.Contains(notices.Endings(), reason) && notices.LeftCalls(m) {
		words[0] += " What it was about to do has not been done."
		words[1] += "它准备执行的操作没有执行。"
	}
	return c.inTheirWords(words)
}

// inTheirWords returns a notice in the language of the newest user turn.
func (c *Chat) inTheirWords(n notices.Text) string { return c.text(n, newest(c.state.History)) }

// newest returns the newest user turn, or the zero turn.
func newest(turns []journal.Turn) journal.Turn {
	for _, t := range slices.Backward(turns) {
		if t.Role == uimessage.RoleUser {
			return t
		}
	}
	return journal.Turn{}
}

// text returns a notice in the language for a turn.
func (c *Chat) text(n notices.Text, t journal.Turn) string { return n.In(c.chinese(t)) }

// inChinese reports whether people of the chat are asked in Chinese.
func (c *Chat) inChinese() bool { return c.chinese(newest(c.state.History)) }

// chinese reports whether a turn is answered in Chinese: in the language that people chose for the chat, or else in that
// of the turn. For a command that is the language of the message before it.
func (c *Chat) chinese(t journal.Turn) bool {
	if chosen := c.language(); chosen == LanguageChinese || chosen == LanguageEnglish {
		return chosen == LanguageChinese
	}
	return c.writtenInChinese(t)
}

// writtenInChinese reports whether a turn is in Chinese, or for a command, the message before it.
func (c *Chat) writtenInChinese(t journal.Turn) bool {
	words := journal.Text(t.Message)
	if strings.HasPrefix(words, "/") || words == "" {
		words += journal.Text(newest(c.state.History).Message)
	}
	return strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
