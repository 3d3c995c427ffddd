package grant

import (
	"strconv"
	"strings"
	"testing"
)

// fill returns a text of the maximum length.
func fill(head, unit, tail string) string {
	return head + strings.Repeat(unit, (maxBytes-len(head)-len(tail))/len(unit)) + tail
}

// shapes are commands of the maximum length that may be slow to parse.
func shapes() map[string]string {
	return map[string]string{
		"short":         "grep -rn 'TODO(me)' src/*.go 2>/dev/null",
		"words":         fill("grep", " a", ""),
		"words of two":  fill("grep", " ab", ""),
		"word":          fill("grep ", "a", ""),
		"assignments":   fill("grep", " a=", ""),
		"options":       fill("grep", " -n", ""),
		"values":        fill("grep", " -A 1", ""),
		"long options":  fill("grep", " --include='*.go'", ""),
		"cluster":       fill("grep -", "n", " a"),
		"parts":         fill("grep ", "a/", ""),
		"hidden parts":  fill("grep ", ".e/", ""),
		"names":         fill("grep ", ".gi\u0131/", ""),
		"dots":          fill("grep ", "../", ""),
		"globs":         fill("grep ", "a*/", ""),
		"words of glob": fill("grep", " a*", ""),
		"globs alone":   fill("grep a", "*", ""),
		"chinese":       fill("grep ", "文", ""),
		"accents":       fill("grep", " é", ""),
		"rare":          fill("grep a", "\U0001d7d8", ""),
		"marks":         fill("grep a", "\u0301", ""),
		"quotes":        fill("grep ", "''", "a"),
		"quotes inside": fill("grep ", `a"'"'"'`, ""),
		"quoted words":  fill("grep", " 'a'", ""),
		"odd words":     fill("grep"+strings.Repeat(` a'b'`, 120), " a", ""),
		"too odd":       fill("grep", ` a"b"`, ""),
		"long quote":    fill("grep \"", "a ", "\""),
		"dollar quotes": fill("grep ", `$'a'`, ""),
		"backslashes":   fill("grep a", `\a`, ""),
		"backslashed":   fill("grep \"", `\\`, "\""),
		"spaced":        fill("grep", ` \a`, ""),
		"escapes":       fill("grep a", "\\\n", ""),
		"split words":   fill("grep", " a\\\n", ""),
		"redirects":     fill("grep a", " 2>&1", ""),
		"most":          fill("grep"+strings.Repeat(" 2>/dev/null", 250), " a", ""),
		"comments":      fill("grep a", "\n#", ""),
		"comment":       fill("grep a #", "(", ""),
		"newlines":      fill("grep a", "\n", ""),
		"blanks":        fill("grep", " ", "a"),
		"tabs":          fill("grep", "\t", "a"),
		"parens":        fill("grep ", "(", ""),
		"dollars":       fill("grep a", "$(", ""),
		"dollars quote": fill("grep ", `"$(`, ""),
		"plain dollars": fill("grep a", "$.", ""),
		"arithmetic":    fill("grep a", "$((", ""),
		"parameters":    fill("grep a", "${a:-", ""),
		"heredocs":      fill("grep a", " <<E", "\nE"),
		"herestrings":   fill("grep a", "<<<a ", ""),
		"processes":     fill("grep a", " <(", ""),
		"braces":        fill("grep a", "{a,", ""),
		"brackets":      fill("grep a", "[", ""),
		"tildes":        fill("grep a", ":~", ""),
		"later tildes":  fill("grep /=", ":~", ""),
		"chain":         fill("grep a", ";a", ""),
		"pipes":         fill("grep a", "|a", ""),
		"groups":        fill("", "{ ", ""),
		"negations":     fill("", "! ", ""),
		"cases":         fill("", "case a in a) ", ""),
		"backquotes":    fill("", "`", ""),
		"noise":         fill("", "\xff\x00(", ""),
	}
}

func BenchmarkDecide(b *testing.B) {
	policy := shippedPolicy(b)
	for name, text := range shapes() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Decide(text, "grep *", policy)
			}
		})
	}
	words := fill("grep", " a", "")
	odd := fill("grep"+strings.Repeat(` a'b'`, 120), " a", "")
	for name, rule := range map[string]string{"rule": words, "rule of quotes": odd, "rule of parens": fill("grep ", "(", "")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Decide("grep a", rule, policy)
			}
		})
		b.Run(name+" and the same command", func(b *testing.B) {
			for b.Loop() {
				Decide(rule, rule, policy)
			}
		})
	}
	many := shippedLists(b)
	for i := range 10_000 {
		many.ProtectedNames = append(many.ProtectedNames, ".e"+strconv.Itoa(i), "a"+strconv.Itoa(i))
		many.Runners = append(many.Runners, "runner"+strconv.Itoa(i))
	}
	extended := newPolicy(many)
	for name, text := range map[string]string{"parts": fill("grep ", "a/.e/", ""), "globs": fill("grep ", "a*/", "")} {
		b.Run("long lists, "+name, func(b *testing.B) {
			for b.Loop() {
				Decide(text, "grep *", extended)
			}
		})
	}
}

func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		Shipped()
	}
}
