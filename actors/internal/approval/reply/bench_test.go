package reply

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

func BenchmarkParse(b *testing.B) {
	policy := grant.Shipped()
	pending := []string{"ls src", "wc -l a.txt", strings.Repeat("x", 8192), "grep" + strings.Repeat(" a", 4090)}
	for name, text := range map[string]string{
		"phrase":  "都可以，谢谢！",
		"chatter": "could you show me what is in there before we go on with it",
		"timed":   "接下来十五分钟内都允许执行 ls *",
		"long":    strings.Repeat("5分钟内", 75),
		"blanks":  "allow" + strings.Repeat(" ", 280) + "x",
		"8KiB":    strings.Repeat("可以", 1365),
		"rules":   "allow " + strings.Repeat("`ls *`,", 38) + "`ls *` for 5 min",
		"a rule":  "5分钟内允许 " + "grep" + strings.Repeat(" a", 140),
		"reasons": "no, because " + strings.Repeat("the ", 70),
		"numbers": "approve " + strings.Repeat("1,", 140) + "1",
		"quotes":  "allow " + strings.Repeat("`", 280) + " for 5 min",
		"and":     "approve " + strings.Repeat("first and ", 28) + "first",
		"marks":   "ok" + strings.Repeat("!~", 140),
		"thanks":  "ok " + strings.Repeat("thanks ", 40),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ParseWith(text, pending, policy)
			}
		})
	}
}
