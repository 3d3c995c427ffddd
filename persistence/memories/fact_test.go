package memories_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

func TestWords(t *testing.T) {
	tests := []struct{ line, want string }{
		{"- 2026-07-01 likes tea [u:a:1]\n", "likes tea"},
		{"- 2026-07-01 likes tea [u:a:1 a:a:2]", "likes tea"},
		{"- likes tea", "likes tea"},
		{"- 2026-07-01 reads [quietly]", "reads [quietly]"},
		{"# Ana", "# Ana"},
		{"", ""},
	}
	for _, tt := range tests {
		if got := memories.Words(tt.line); got != tt.want {
			t.Errorf("Words(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestFrontMatter(t *testing.T) {
	tests := []struct{ name, text, front string }{
		{"some", "---\na: 1\n---\nbody\n", "---\na: 1\n---\n"},
		{"of Windows", "---\r\na: 1\r\n---\r\nbody", "---\r\na: 1\r\n---\r\n"},
		{"none", "body\n---\n", ""},
		{"never closed", "---\na: 1\nbody", ""},
		{"nothing", "", ""},
		{"only", "---\n---", "---\n---"},
	}
	for _, tt := range tests {
		front, body := memories.FrontMatter(tt.text)
		if front != tt.front || front+body != tt.text {
			t.Errorf("%s: %q + %q, want %q first", tt.name, front, body, tt.front)
		}
	}
}

// FuzzFact: any fact becomes one line, and is recognised when it is added again.
func FuzzFact(f *testing.F) {
	for _, s := range []string{"likes tea", "a\n# b\r\n- c", "x [u:1]", "\u2028y\u0085", "- 2026-01-01 z", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fact := memories.Fact{At: time.Unix(0, 0).UTC(), Text: text, Sources: []string{"u:a:1"}}
		once, n := memories.Append("# Title", fact)
		if n > 1 || strings.Count(once, "\n") > 2*n {
			t.Fatalf("%q became %d facts: %q", text, n, once)
		}
		if again, n := memories.Append(once, fact); n != 0 || again != once {
			t.Fatalf("%q was added twice: %q", text, again)
		}
	})
}
