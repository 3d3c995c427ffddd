package longtext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// bySize counts one part for each most UTF-16 units.
func bySize(most int) Splitter {
	return Splitter{most, func(text string) int { return (Units(text, 1<<30) + most - 1) / most }}
}

// pagesOf returns all pages of a text, with the tail where it applies.
func pagesOf(t *testing.T, s Splitter, text, tail string) []string {
	t.Helper()
	var out []string
	for at := 0; at < len(text); {
		body, end := s.Page(text, at, tail)
		if end <= at || end > len(text) {
			t.Fatalf("a page from %d ends at %d of %d", at, end, len(text))
		}
		if end < len(text) {
			body += tail
		}
		out, at = append(out, body), end
	}
	return out
}

func TestPagesHoldTheWholeText(t *testing.T) {
	s := bySize(100)
	for name, text := range map[string]string{
		"paragraphs": strings.Repeat(strings.Repeat("word ", 12)+"\n\n", 40),
		"lines":      strings.Repeat("a line of text\n", 100),
		"one word":   strings.Repeat("x", 3000),
		"chinese":    strings.Repeat("很长的回答。", 400),
		"emoji":      strings.Repeat("🙂", 1500),
		"short":      "short",
	} {
		pages := pagesOf(t, s, text, "")
		if got := strings.Join(pages, ""); got != text {
			t.Errorf("%s: the pages hold %d bytes of %d", name, len(got), len(text))
		}
		for i, p := range pages {
			if s.Parts(p) > MaxParts || !utf8.ValidString(p) {
				t.Errorf("%s: page %d takes %d messages", name, i, s.Parts(p))
			}
		}
	}
}

// A code block that is split between pages is closed on the first and reopened on the second.
func TestPagesKeepCode(t *testing.T) {
	text := "See:\n\n```go\n" + strings.Repeat("x := 1 // a line\n", 60) + "```\n\nDone."
	pages := pagesOf(t, bySize(100), text, " (more)")
	if len(pages) < 3 {
		t.Fatalf("%d pages", len(pages))
	}
	for i, p := range pages {
		if strings.Count(p, "```")%2 != 0 {
			t.Errorf("page %d leaves code open: %q", i, p)
		}
		if i > 0 && !strings.HasPrefix(p, "```go\n") && i < len(pages)-1 {
			t.Errorf("page %d begins with %.20q", i, p)
		}
	}
	if !strings.HasSuffix(pages[len(pages)-1], "Done.") {
		t.Errorf("the last page is %q", pages[len(pages)-1])
	}
}

// A text that fits into four messages is not paged.
func TestLong(t *testing.T) {
	s := bySize(100)
	for n, want := range map[int]bool{0: false, 100: false, 101: false, 400: false, 401: true, 5000: true} {
		if got := s.Long(strings.Repeat("x", n)); got != want {
			t.Errorf("%d characters are long: %v", n, got)
		}
	}
}

func TestWishOf(t *testing.T) {
	for text, want := range map[string]Wish{
		"继续": Next, " 下一页 ": Next, "展开。": Next, "continue": Next, "Next!": Next, "@sample_bot continue": Next,
		"继续 @sample_bot": Next, "发完整输出": All, "Full Output": All, "": None, "继续说": None, "continue please": None,
		"next week": None, "@sample_bot": None, "full  output": None, "what next": None, "/next": None, "next @a b": None,
		strings.Repeat(" ", 200) + "next": Next, strings.Repeat("next ", 40): None,
	} {
		if got := WishOf(text); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}

func FuzzPages(f *testing.F) {
	for _, s := range []string{"", "a", "```\n" + strings.Repeat("code\n", 50), "~~~~ x\n```\n~~~\n" + strings.Repeat("🙂 ", 80), strings.Repeat("\n", 300), "\xff\xfe" + strings.Repeat("x", 200)} {
		f.Add(s, uint8(20))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		s := bySize(int(size)%60 + 20)
		all := pagesOf(t, s, text, "\n\n(more)")
		read := 0
		for i, p := range all {
			read += len(p)
			if i < len(all)-1 && len(p) == 0 {
				t.Errorf("page %d is empty", i)
			}
		}
		if read < len(text) {
			t.Errorf("%d pages hold %d of %d bytes", len(all), read, len(text))
		}
		WishOf(text)
	})
}
