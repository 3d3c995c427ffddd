package grant

import (
	"strings"
	"testing"
)

// fill is a text of the longest length that is judged.
func fill(head, unit, tail string) string {
	return head + strings.Repeat(unit, (maxBytes-len(head)-len(tail))/len(unit)) + tail
}

func BenchmarkDecide(b *testing.B) {
	policy := shippedPolicy(b)
	const rule = "grep *"
	for name, text := range map[string]string{
		"short":      "grep -rn 'TODO(me)' src/*.go 2>/dev/null",
		"words":      fill("grep", " a", ""),
		"word":       fill("grep ", "a", ""),
		"options":    fill("grep", " -n", ""),
		"cluster":    fill("grep -", "n", " a"),
		"parts":      fill("grep ", "a/", ""),
		"globs":      fill("grep ", "a*/", ""),
		"chinese":    fill("grep ", "文", ""),
		"rare":       fill("grep a", "\U0001d7d8", ""),
		"quotes":     fill("grep ", "''", "a"),
		"escapes":    fill("grep a", "\\\n", ""),
		"redirects":  fill("grep a", " 2>&1", ""),
		"comments":   fill("grep a", "\n#", ""),
		"parens":     fill("grep ", "(", ""),
		"dollars":    fill("grep a", "$(", ""),
		"brackets":   fill("grep a", "[", ""),
		"backquotes": fill("", "`", ""),
		"noise":      fill("", "\xff\x00(", ""),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Decide(text, rule, policy)
			}
		})
	}
	b.Run("long rule", func(b *testing.B) {
		for b.Loop() {
			Decide("grep a", fill("grep", " a", ""), policy)
		}
	})
}

func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		if _, err := Shipped(); err != nil {
			b.Fatal(err)
		}
	}
}
