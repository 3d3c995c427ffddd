package longtext

import (
	"strings"
	"testing"
)

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
