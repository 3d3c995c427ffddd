package machine

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// bySize counts a part for so many UTF-16 units.
func bySize(most int) splitter {
	return splitter{most, func(text string) int { return (units(text, 1<<30) + most - 1) / most }}
}

// pagesOf are all pages of a text, with the tail where there is one.
func pagesOf(t *testing.T, s splitter, text, tail string) []string {
	t.Helper()
	var out []string
	for at := 0; at < len(text); {
		body, end := s.page(text, at, tail)
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
			if s.parts(p) > maxParts || !utf8.ValidString(p) {
				t.Errorf("%s: page %d takes %d messages", name, i, s.parts(p))
			}
		}
	}
}

// A block of code that a page cuts is closed there and opened on the next one.
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

// What fits four messages is no matter for pages.
func TestLong(t *testing.T) {
	s := bySize(100)
	for n, want := range map[int]bool{0: false, 100: false, 101: false, 400: false, 401: true, 5000: true} {
		if got := s.long(strings.Repeat("x", n)); got != want {
			t.Errorf("%d characters are long: %v", n, got)
		}
	}
}

func TestWishOf(t *testing.T) {
	for text, want := range map[string]wish{
		"继续": wishNext, " 下一页 ": wishNext, "展开。": wishNext, "continue": wishNext, "Next!": wishNext, "@sample_bot continue": wishNext,
		"继续 @sample_bot": wishNext, "发完整输出": wishAll, "Full Output": wishAll, "": wishNone, "继续说": wishNone, "continue please": wishNone,
		"next week": wishNone, "@sample_bot": wishNone, "full  output": wishNone, "what next": wishNone, "/next": wishNone, "next @a b": wishNone,
		strings.Repeat(" ", 200) + "next": wishNext, strings.Repeat("next ", 40): wishNone,
	} {
		if got := wishOf(text); got != want {
			t.Errorf("%q means %q, want %q", text, got, want)
		}
	}
}

// Pages that are damaged are none.
func TestPagesValid(t *testing.T) {
	for _, p := range []pages{{V: 2, Text: "x"}, {V: 1, Text: "x", At: 2}, {V: 1, Text: "x", At: -1, From: -1}, {V: 1, Text: "xy", At: 1, From: 2}} {
		if p.valid() {
			t.Errorf("%+v is taken as pages", p)
		}
	}
	if p := (pages{V: 1, Text: "xy", At: 1}); !p.valid() {
		t.Errorf("%+v is taken as damaged", p)
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
		wishOf(text)
	})
}
