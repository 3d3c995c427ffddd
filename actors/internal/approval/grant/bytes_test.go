package grant

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// soup returns a text, up to the maximum length, of pieces that are difficult for parsers.
func soup(random *rand.Rand) string {
	pieces := []string{
		"(", ")", "$(", "`", "{", "}", "<<E\n", "E\n", "'", "\"", "\\", "\n", ";", "&&", "|", "$'\\", "${", "[[", "]]", "((", "<(", "*", "?", "[", "~", "#", "!",
		" ", "git", "status", "-n", "--", "a/", "..", ":", "=", "文", "\u200b", "\u202e", "\x00", "\xff", "\r", ">/dev/null", "2>&1", "if", "fi", "for", "done",
	}
	var b strings.Builder
	for n := random.IntN(1 + maxBytes); b.Len() < n; {
		piece := pieces[random.IntN(len(pieces))]
		for range 1 + random.IntN(1+random.IntN(400)) {
			b.WriteString(piece)
		}
	}
	return b.String()
}

// Any bytes get a verdict, deterministically, and those that no rule can cover ask. BenchmarkDecide
// shows the maximum time.
func TestAP4AnyBytes(t *testing.T) {
	texts, policy := 1000, shippedPolicy(t)
	if os.Getenv("SOAK") != "" {
		texts = 100_000
	}
	random := rand.New(rand.NewPCG(4, 4)) //nolint:gosec // a test's choice
	for range texts {
		text, rule := soup(random), soup(random)
		for _, r := range []string{rule, "git *", "git status"} {
			got := Decide(text, r, policy)
			if again := Decide(text, r, policy); got != again || got != Auto && got != Ask {
				t.Fatalf("%q under %q: %s, then %s", text, r, got, again)
			}
			if got == Auto {
				checkCovered(t, text, r, policy)
			}
		}
	}
}
