package telegram

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

const (
	// maxFollows is the minimum number of recent speakers that are kept.
	maxFollows = 10_000
	// maxMore is how much of a message is examined, in bytes.
	maxMore = 4 << 10
)

// followKey identifies who talked with the bot in which group.
func followKey(in platform.Inbound) string { return string(in.ChatKey) + "/" + in.Sender.ID }

// looksLikeMore reports whether a text is a question, or begins like a continuation.
func looksLikeMore(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text[:min(len(text), maxMore)]))
	if strings.ContainsAny(text, "?？") {
		return true
	}
	for _, begin := range []string{"继续", "然后", "那", "再", "还有", "另外", "你", "请", "谢谢"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if len(words) == 0 {
		return false
	}
	return slices.Contains([]string{"and", "also", "then", "continue", "next", "more", "please", "thanks", "ok", "okay", "so", "but", "you", "again"}, words[0])
}
