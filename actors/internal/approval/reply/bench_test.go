package reply

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

func BenchmarkParse(b *testing.B) {
	policy, err := grant.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	pending := []string{"ls src", "wc -l a.txt", strings.Repeat("x", 8192)}
	for name, text := range map[string]string{
		"phrase":  "都可以，谢谢！",
		"chatter": "could you show me what is in there before we go on with it",
		"timed":   "接下来十五分钟内都允许执行 ls *",
		"long":    strings.Repeat("5分钟内", 75),
		"blanks":  "allow" + strings.Repeat(" ", 280) + "x",
		"8KiB":    strings.Repeat("可以", 1365),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ParseWith(text, pending, policy)
			}
		})
	}
}
