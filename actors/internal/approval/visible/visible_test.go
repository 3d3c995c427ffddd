package visible

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// read converts what people see back to what runs.
func read(t interface{ Fatalf(string, ...any) }, shown string) string {
	var b strings.Builder
	for shown != "" {
		before, rest, found := strings.Cut(shown, string(opening))
		b.WriteString(before)
		if !found {
			break
		}
		mark, after, ok := strings.Cut(rest, string(closing))
		if !ok {
			t.Fatalf("a mark without an end: %q", shown)
		}
		shown = after
		if code, isRune := strings.CutPrefix(mark, "U+"); isRune {
			n, err := strconv.ParseUint(code, 16, 32)
			if err != nil {
				t.Fatalf("mark %q: %v", mark, err)
			}
			b.WriteRune(rune(n))
			continue
		}
		n, err := strconv.ParseUint(mark, 0, 8)
		if err != nil {
			t.Fatalf("mark %q: %v", mark, err)
		}
		b.WriteByte(byte(n))
	}
	return b.String()
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"git status":            "git status",
		"a  b":                  "a  b",
		"\na\n\nb\n\n":          "\na\n\nb⟦U+000A⟧⟦U+000A⟧",
		"ls \nrm":               "ls⟦U+0020⟧\nrm",
		"ls  ":                  "ls⟦U+0020⟧⟦U+0020⟧",
		"a\tb\r\x1b[31m":        "a⟦U+0009⟧b⟦U+000D⟧⟦U+001B⟧[31m",
		"rm\u202e txt.a":        "rm⟦U+202E⟧ txt.a",
		"a\u200bb\u00a0c\ufeff": "a⟦U+200B⟧b⟦U+00A0⟧c⟦U+FEFF⟧",
		"\xff\xfe":              "⟦0xFF⟧⟦0xFE⟧",
		"⟦U+202E⟧":              "⟦U+27E6⟧U+202E⟦U+27E7⟧",
		"中文 é 👍\ufe0f":          "中文 é 👍⟦U+FE0F⟧",
		"\u3164\u2800\u115f":    "⟦U+3164⟧⟦U+2800⟧⟦U+115F⟧",
	} {
		if got := Text(in); got != want || read(t, got) != in {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// Two texts never look the same.
func TestExact(t *testing.T) {
	for in, want := range map[string]string{
		"a\n":   "a",
		"a\n\n": "a⟦U+000A⟧",
		"a \n":  "a⟦U+0020⟧",
		"a":     "a",
		"\n":    "",
		"":      "",
	} {
		if got := Exact(in); got != want {
			t.Errorf("Exact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTextIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "runes") {
			in = rapid.String().Draw(t, "text")
		}
		got := Text(in)
		if !utf8.ValidString(got) || read(t, got) != in {
			t.Fatalf("Text(%q) = %q", in, got)
		}
	})
}

func TestBlockAndSentence(t *testing.T) {
	if got := Block("", "a ``` b"); got != "````\na ``` b\n````" {
		t.Errorf("block %q", got)
	}
	if got := Sentence(" *Run*\n# it `now` \u202e"); got != "\\*Run\\* \\# it \\`now\\` ⟦U\\+202E⟧" {
		t.Errorf("sentence %q", got)
	}
}
