package reply

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// Any bytes are accepted and give the same meaning twice. A text with invisible characters or several lines decides
// nothing. BenchmarkParse shows the maximum time.
func TestAP4AnyBytes(t *testing.T) {
	replies := 2000
	if os.Getenv("SOAK") != "" {
		replies = 200_000
	}
	policy := grant.Shipped()
	pieces := []string{
		"同意", "不同意", "可以", "全部", "approve", "deny", "yes", "no", "please", "谢谢", "第", "二", "个", "#1", "1", "`", "ls src", "\"", "「", "」", "、", ",", "and", " ",
		"10", "分钟", "内", "for", "minutes", "an hour", "因为", "because", "?", "？", "\n", "\x00", "\u202e", "\u200b", "\xff", "👍", "🏽", "@a ", ".", "。", "!", "…",
	}
	random := rand.New(rand.NewPCG(4, 4)) //nolint:gosec // a test's choice
	for range replies {
		var b strings.Builder
		for n := random.IntN(1 + random.IntN(8192)); b.Len() < n; {
			b.WriteString(strings.Repeat(pieces[random.IntN(len(pieces))], 1+random.IntN(1+random.IntN(20))))
		}
		text, pending := b.String(), []string{"ls src", "wc -l a.txt"}
		got := ParseWith(text, pending, policy, "a")
		if again := ParseWith(text, pending, policy, "a"); got.differs(again) {
			t.Fatalf("%q: %v, then %v", text, got, again)
		}
		if got.Kind != Unclear && (!legible(text) || !mayDecide(text)) {
			t.Errorf("%q decides %v", text, got)
		}
	}
}
