package frontmatter

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func form() Form { return Form{Max: 64, Begin: "begin", Member: "member", Quote: "quote"} }

func TestRead(t *testing.T) {
	t.Parallel()
	dots := form()
	dots.Dots = true
	for _, tt := range []struct {
		name    string
		form    Form
		file    string
		members string // key@line, one behind the other
		text    string
		line    int
	}{
		{"plain", form(), "---\na: 1\nb: [x]\n---\n\nDo it.\n", "a@2 b@3", "Do it.", 4},
		{"as on Windows", form(), "\ufeff---\r\na: 1\r\n---\r\nx\r\ny\r\n", "a@2", "x\ny", 3},
		{"blanks behind the lines", form(), "--- \na: 1\n---\t\nx", "a@2", "x", 3},
		{"dots end it", dots, "---\na: 1\n...\nx\n---\ny", "a@2", "x\n---\ny", 3},
		{"a rule in the text", form(), "---\na: 1\n---\nx\n---\ny", "a@2", "x\n---\ny", 3},
		{"no text", form(), "---\na: 1\n---", "a@2", "", 3},
		{"an empty line in it", form(), "---\na: 1\nb: 2\n\n---\nx", "a@2 b@3", "x", 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := tt.form.Read([]byte(tt.file))
			stdtest.Must(t, err)
			var got []string
			for _, m := range d.Members {
				got = append(got, m.Key.Value+"@"+string(rune('0'+m.Line())))
			}
			if s := strings.Join(got, " "); s != tt.members || d.Text != tt.text || d.Line != tt.line {
				t.Errorf("members %q, text %q at line %d; want %q, %q at %d", s, d.Text, d.Line, tt.members, tt.text, tt.line)
			}
		})
	}
}

func TestReadFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		line       int
		what, hint string
	}{
		{"empty", "", 1, "there is no front matter", "begin"},
		{"no block", "# Hello\n", 1, "there is no front matter", "begin"},
		{"no end", "---\na: 1\n", 1, "the front matter does not end", "begin"},
		{"dots are no end", "---\na: 1\n...\nx", 1, "the front matter does not end", "begin"},
		{"too long", "---\na: " + strings.Repeat("x", 80) + "\n---\n", 1, "the front matter has 84 bytes, at most 64", "move it into the text"},
		{"no YAML", "---\na: 1\nb: [x\n---\n", 3, "the front matter is no YAML", "quote"},
		{"no members", "---\n- a\n---\n", 2, "the front matter has no members", "member"},
		{"nothing", "---\n---\nx", 2, "the front matter has no members", "member"},
		{"no UTF-8", "---\na: 1\n---\n\xff", 4, "bytes that are no UTF-8", "save the file as UTF-8"},
		{"turned text", "---\na: 1\n---\nx\ny\u202e", 5, "an invisible character U+202E", "remove it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := form().Read([]byte(tt.file))
			if f, ok := errors.AsType[Fault](err); !ok || f != (Fault{tt.line, tt.what, tt.hint}) {
				t.Errorf("got %+v and fault %#v, want line %d, %q, %q", d, err, tt.line, tt.what, tt.hint)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"---\na: 1\n---\nx", "---\n&a [*a]\n---\n", "---\n? [a]\n: b\n---\n", "---\n<<: {a: 1}\n...\n", "\ufeff---\r\n---\r\n"} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, dots bool) {
		lines := strings.Count(string(raw), "\n") + 1
		d, err := Form{Max: 1 << 10, Dots: dots, Begin: "b", Member: "m", Quote: "q"}.Read(raw)
		if err != nil {
			if f, ok := errors.AsType[Fault](err); !ok || f.What == "" || f.Hint == "" || f.Line < 1 || f.Line > lines+1 {
				t.Fatalf("error %#v of a file of %d lines", err, lines)
			}
			return
		}
		if !utf8.ValidString(d.Text) || d.Line < 3 || d.Line > lines+1 {
			t.Fatalf("text %q at line %d of %d", d.Text, d.Line, lines)
		}
		for _, m := range d.Members {
			if m.Key == nil || m.Value == nil || m.Line() < 1 {
				t.Fatalf("member %+v", m)
			}
		}
	})
}
