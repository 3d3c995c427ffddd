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
	for text, want := range map[string]PageRequest{
		"继续": Next, " 下一页 ": Next, "展开。": Next, "continue": Next, "Next!": Next, "@sample_bot continue": Next,
		"继续 @sample_bot": Next, "发完整输出": All, "Full Output": All, "": None, "继续说": None, "continue please": None,
		"next week": None, "@sample_bot": None, "full  output": None, "what next": None, "/next": None, "next @a b": None,
		strings.Repeat(" ", 200) + "next": Next, strings.Repeat("next ", 40): None,
	} {
		if got := PageRequestOf(text); got != want {
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
		PageRequestOf(text)
	})
}

// Damaged pages are not used.
func TestReadPages(t *testing.T) {
	for _, p := range []Pages{{V: 2, Text: "x"}, {V: 1, Text: "x", At: 2}, {V: 1, Text: "x", At: -1, From: -1}, {V: 1, Text: "xy", At: 1, From: 2}} {
		if _, err := ReadPages(p.Encode()); err == nil {
			t.Errorf("%+v is taken as pages", p)
		}
	}
	if p, err := ReadPages((&Pages{V: 1, Text: "xy", At: 1}).Encode()); err != nil || *p != (Pages{V: 1, Text: "xy", At: 1}) {
		t.Errorf("%+v is read with %v", p, err)
	}
	if p, err := ReadPages((*Pages)(nil).Encode()); p != nil || err != nil {
		t.Errorf("no pages are read as %+v, %v", p, err)
	}
	if _, err := ReadPages([]byte("{")); err == nil {
		t.Error("half a file is taken as pages")
	}
}

// The same ingress gets the same page again, another one the next.
func TestPagesNext(t *testing.T) {
	p := &Pages{V: 1, Text: "abc", At: 1}
	p = p.Turned("i1", 1, 2)
	for ingress, want := range map[string]int{"i1": 1, "i2": 2} {
		if from, more := p.Next(ingress); from != want || !more {
			t.Errorf("%s begins at %d, %v, want %d", ingress, from, more, want)
		}
	}
	p = p.Turned("i2", 2, 3)
	if _, more := p.Next("i3"); more {
		t.Error("there is a page after the last one")
	}
	if from, more := p.Next("i2"); from != 2 || !more {
		t.Errorf("the last page, asked for again, begins at %d, %v", from, more)
	}
	if rest := (&Pages{Text: "```\nab\ncd\n```"}).Rest(7); rest != "```\ncd\n```" {
		t.Errorf("the rest of a block of code is %q", rest)
	}
}

// The parts of a text are the text.
func TestPart(t *testing.T) {
	text := strings.Repeat("a line of text\n", 20)
	_, pages := Part(text, 40, 0)
	var all []string
	for n := range pages {
		part, _ := Part(text, 40, n+1)
		all = append(all, part)
	}
	if got := strings.Join(all, ""); got != text || pages < 8 {
		t.Errorf("%d parts: %q", pages, got)
	}
	if part, pages := Part("", 40, 1); part != "" || pages != 0 {
		t.Errorf("no text has the part %q of %d", part, pages)
	}
}
