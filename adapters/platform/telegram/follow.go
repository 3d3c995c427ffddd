package telegram

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

const (
	// maxFollows is the minimum number of recent speakers that are kept.
	maxFollows = 10_000
	// maxMore is how much of a message is examined, in bytes.
	maxMore = 4 << 10
)

// follows remembers who talked with the bot in which group, and when. It is safe for concurrent
// use.
type follows struct {
	window time.Duration
	now    func() time.Time
	last   *recent.Map[string, time.Time]
}

func newFollows(window time.Duration, now func() time.Time) *follows {
	return &follows{window: window, now: now, last: recent.New[string, time.Time](maxFollows)}
}

func followKey(in platform.Inbound) string { return string(in.ChatKey) + "/" + in.Sender.ID }

// note records that the bot heard the sender.
func (f *follows) note(in platform.Inbound) {
	if f.window > 0 {
		f.last.Put(followKey(in), f.now())
	}
}

// recent reports whether the bot heard the sender within the window.
func (f *follows) recent(in platform.Inbound) bool {
	if f.window <= 0 {
		return false
	}
	at, ok := f.last.Get(followKey(in))
	since := f.now().Sub(at)
	return ok && since >= 0 && since < f.window
}

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
