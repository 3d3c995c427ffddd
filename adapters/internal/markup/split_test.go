package markup

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func usual() Limits { return Limits{Aim: 3900, Max: 4096} }

func TestSplitRenders(t *testing.T) {
	cases := []struct{ name, src, text, html string }{
		{"plain", "Hello, well-known world.\nSecond: line", "Hello, well-known world.\nSecond: line", ""},
		{"escaped plain", "1 > 0 # yes", "1 > 0 # yes", ""},
		{"less than", "a < b && c", "a < b && c", ""},
		{"emphasis", "**bold** _it_ ~~gone~~ ***both***", "bold it gone both", "<b>bold</b> <i>it</i> <s>gone</s> <b><i>both</i></b>"},
		{"escapes in markup", "**a<b>&c**", "a<b>&c", "<b>a&lt;b&gt;&amp;c</b>"},
		{"references", "&copy; \\*x\\* &amp;lt;", "© *x* &lt;", ""},
		{"heading", "# One\ntext", "One\ntext", "<b>One</b>\ntext"},
		{"heading with code", "## Use `go`", "Use go", "<b>Use </b><code>go</code>"},
		{"paragraphs", "a\n\n\n\nb", "a\n\nb", ""},
		{"hard break", "a  \nb\\\nc", "a\nb\nc", ""},
		{"code span", "run `a < b`", "run a < b", "run <code>a &lt; b</code>"},
		{"fence", "See:\n```go\nx := \"<\"\n```\nend", "See:\n```go\nx := \"<\"\n```\n\nend", "See:\n<pre><code class=\"language-go\">x := &quot;&lt;&quot;</code></pre>\n\nend"},
		{"open fence", "```\nhalf", "```\nhalf\n```", "<pre>half</pre>"},
		{"odd info", "```js title=\"x y\"\n1\n```", "js title=\"x y\"\n```\n1\n```", "<i>js title=&quot;x y&quot;</i>\n<pre>1</pre>"},
		{"indented code", "    a\n      b", "```\na\n  b\n```", "<pre>a\n  b</pre>"},
		{"bullets", "- one\n- two\n  more\n    - deep", "• one\n• two\n  more\n  • deep", ""},
		{"loose numbers", "3. x\n\n4. y\n\n   z", "3. x\n\n4. y\n\n   z", ""},
		{"empty item", "- \n- b", "•\n• b", ""},
		{"tasks", "- [x] done\n- [ ] open", "• ☑ done\n• ☐ open", ""},
		{"item with code", "1. do\n   ```sh\n   ls\n   ```", "1. do\n```sh\nls\n```", "1. do\n<pre><code class=\"language-sh\">ls</code></pre>"},
		{"quote", "> a\n> b\n\nc", "> a\n> b\n\nc", "<blockquote>a\nb</blockquote>\n\nc"},
		{"deep quote", "> a\n> > b", "> a\n> > b", "<blockquote>a\n&gt; b</blockquote>"},
		{"quote of two", "> a\n>\n> b", "> a\n>\n> b", "<blockquote>a\n\nb</blockquote>"},
		{"link", "[Go](https://go.dev/?a=1&b=2)", "Go (https://go.dev/?a=1&b=2)", "<a href=\"https://go.dev/?a=1&amp;b=2\">Go</a>"},
		{"bold in link", "[a **b**](http://x.y)", "a b (http://x.y)", "<a href=\"http://x.y\">a </a><a href=\"http://x.y\"><b>b</b></a>"},
		{"script link", "[x](javascript:alert(1))", "x (javascript:alert(1))", ""},
		{"local link", "[read](docs/a.md)", "read (docs/a.md)", ""},
		{"bare link", "see https://go.dev now", "see https://go.dev now", "see <a href=\"https://go.dev\">https://go.dev</a> now"},
		{"link to this machine", "[the page](http://localhost:3000/x)", "the page (http://localhost:3000/x)", ""},
		{"link to an address", "[x](http://127.0.0.1:3000/) [y](http://[::1]/)", "x (http://127.0.0.1:3000/) y (http://[::1]/)", "<a href=\"http://127.0.0.1:3000/\">x</a> y (http://[::1]/)"},
		{"link with a port that is none", "[x](http://a.b:99999/)", "x (http://a.b:99999/)", ""},
		{"link to an odd host", "[x](http://a\".b/) [y](http://./)", "x (http://a\".b/) y (http://./)", ""},
		{"link that misleads", "[x](http://bank.example@evil.example/)", "x (http://bank.example@evil.example/)", ""},
		{"link in another script", "[x](http://пример.рф)", "x (http://пример.рф)", "<a href=\"http://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84\">x</a>"},
		{"mail", "mail a@b.example", "mail a@b.example", ""},
		{"image", "![a cat](https://x.y/c.png)", "a cat (https://x.y/c.png)", "<a href=\"https://x.y/c.png\">a cat</a>"},
		{"image without text", "![](https://x.y/c.png)", "image (https://x.y/c.png)", "<a href=\"https://x.y/c.png\">image</a>"},
		{"reference definition stays", "[a]\n\n[a]: https://x.y", "[a]\n\n[a]: https://x.y", "[a]\n\n[a]: <a href=\"https://x.y\">https://x.y</a>"},
		{"raw html", "a <b>x</b><br>c <!-- n -->", "a <b>x</b>\nc <!-- n -->", ""},
		{"html block", "<div>\nhi\n</div>", "<div>\nhi\n</div>", ""},
		{"rule", "a\n\n---\n\nb", "a\n\n——————\n\nb", ""},
		{"control", "a\x1b[31mb\x00\r\nc&#27;d **e**", "a[31mb\ncd e", "a[31mb\ncd <b>e</b>"},
		{"nothing", " \n\t\u200b", "", ""},
		{"nothing but empty cells", "\u2800\u2800\n\ufffc", "", ""},
	}
	r := New()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var want []Part
			if c.text != "" {
				want = []Part{{Text: c.text, Markup: c.html}}
			}
			stdtest.Diff(t, fmt.Sprintf("Split(%q)", c.src), want, r.Split(c.src, usual()))
			check(t, r, c.src, usual())
		})
	}
}

// Telegram formats a hundred ranges of a message: links beyond them show their URL.
func TestLinksBeyondWhatIsFormatted(t *testing.T) {
	src := "> **a** [x **y**](https://x.y/1)\n\n```\ncode\n```\n" + strings.Repeat("`z` ", 93) + "[in](https://x.y/2) [*out*](https://x.y/3) **b** [out](https://x.y/4)\n\n[https://x.y/5](https://x.y/5)"
	parts := New().Split(src, usual())
	if len(parts) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	want := `<a href="https://x.y/2">in</a> out (https://x.y/3) b out (https://x.y/4)` + "\n\nhttps://x.y/5"
	if _, end, _ := strings.Cut(parts[0].Markup, "<code>z</code> <a "); "<a "+end != want {
		t.Errorf("got %s\nwant %s", "<a "+end, want)
	}
	check(t, New(), src, usual())
	check(t, New(), strings.Repeat("- **a** `b` [c](https://x.y/d)\n", 150), usual())
}

func TestTable(t *testing.T) {
	src := "| a | num |\n|:--|--:|\n| **x** | 1 |\n| 中文 `a\\|b` | 22 | extra |\n\nafter"
	want := `a        | num
---------+-----+------
x        |   1
中文 a|b |  22 | extra`
	got := New().Split(src, usual())
	wantParts := []Part{{Text: "```\n" + want + "\n```\n\nafter", Markup: "<pre>" + want + "</pre>\n\nafter"}}
	stdtest.Diff(t, "", wantParts, got)
}

func TestSplitCutsOnBorders(t *testing.T) {
	lim := Limits{Aim: 128, Max: 140}
	para := strings.Repeat("word ", 20) + "end."
	long := strings.Repeat("One short sentence. ", 20)
	code := "```go\n" + strings.Repeat("fmt.Println(1)\n", 30) + "```"
	cases := []struct {
		name, src string
		ok        func([]Part) bool
	}{
		{"paragraphs stay whole", para + "\n\n" + para, func(p []Part) bool { return len(p) == 2 && p[0].Text == para && p[1].Text == para }},
		{"heading goes with its text", strings.Repeat("intro ", 6) + "\n\n# Head\n\n" + para, func(p []Part) bool {
			return len(p) == 2 && strings.HasSuffix(p[0].Text, "intro") && strings.HasPrefix(p[1].Text, "Head\n\nword")
		}},
		{"sentences", long, func(p []Part) bool {
			return strings.HasSuffix(p[0].Text, "sentence.") && strings.HasPrefix(p[1].Text, "One")
		}},
		{"fence reopened with its language", code, func(p []Part) bool {
			for _, x := range p {
				if !strings.HasPrefix(x.Markup, `<pre><code class="language-go">fmt.`) || !strings.HasSuffix(x.Markup, "(1)</code></pre>") {
					return false
				}
			}
			return len(p) > 2
		}},
		{"bold reopened", "**" + strings.Repeat("word ", 60) + "end**", func(p []Part) bool {
			for _, x := range p {
				if !strings.HasPrefix(x.Markup, "<b>") || !strings.HasSuffix(x.Markup, "</b>") {
					return false
				}
			}
			return len(p) > 2
		}},
		{"one block up to the limit", strings.Repeat("x", 140), func(p []Part) bool { return len(p) == 1 }},
		{"surrogate pairs", strings.Repeat("😀", 200), func(p []Part) bool { return len(p) == 4 && Len(p[0].Text) == 128 }},
		{"joined emoji", strings.Repeat("👩‍👩‍👧", 60), func(p []Part) bool {
			for _, x := range p {
				if strings.HasSuffix(x.Text, "\u200d") || strings.HasPrefix(x.Text, "\u200d") {
					return false
				}
			}
			return len(p) > 1
		}},
		{"address of a cut link", "[" + strings.Repeat("label ", 19) + "](https://example.org/" + strings.Repeat("p", 40) + ")", func(p []Part) bool {
			return len(p) == 2 && strings.Contains(p[0].Text+p[1].Text, "https://example.org/p")
		}},
	}
	r := New()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := r.Split(c.src, lim)
			if !c.ok(got) {
				t.Errorf("parts: %q", got)
			}
			check(t, r, c.src, lim)
		})
	}
}

// check checks what every split promises.
func check(t *testing.T, r *Renderer, src string, lim Limits) {
	t.Helper()
	parts := r.Split(src, lim)
	if diff := cmp.Diff(parts, New().Split(src, lim)); diff != "" {
		t.Errorf("not deterministic:\n%s", diff)
	}
	var all strings.Builder
	for i, p := range parts {
		all.WriteString(p.Text + "\n")
		if n := Len(p.Text); n > lim.Max || !utf8.ValidString(p.Text) || !visible(p.Text) {
			t.Errorf("part %d of %q: %d units, text %q", i, src, n, p.Text)
		}
		if p.Markup == "" {
			continue
		}
		shown, err := telegramtest.ParseHTML(p.Markup)
		if err != nil {
			t.Errorf("part %d of %q: %v\n%s", i, src, err, p.Markup)
		}
		if n := Len(shown); n > lim.Max || !visible(shown) {
			t.Errorf("part %d of %q shows %d units: %q", i, src, n, shown)
		}
	}
	kept(t, src, all.String())
}

// kept checks that the words of a text are in another, in order. Words are runs of at least three
// letters; a text with syntax that contains words that are not text (references, titles, escapes)
// is not checked.
func kept(t *testing.T, src, out string) {
	t.Helper()
	if strings.ContainsAny(src, "&\\\"'(<") || !visible(src) {
		return
	}
	rest := out
	for w := range strings.FieldsFuncSeq(clean(src), func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) {
		if len(w) < 3 {
			continue
		}
		var ok bool
		if rest, ok = after(rest, w); !ok {
			t.Errorf("%q lost the word %q, or its place: %q", src, w, out)
			return
		}
	}
}

// after skips the letters of a word, which cuts may have distributed over several parts. Looking for the whole word
// first would find it in a later one.
func after(s, w string) (string, bool) {
	i := 0
	for j := range len(s) {
		if s[j] == w[i] {
			if i++; i == len(w) {
				return s[j+1:], true
			}
		}
	}
	return "", false
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"# A\n\n- x **y** `z`\n\n> q\n\n```go\nf()\n```", "| a | b |\n|--|--|\n| one | two | three |", "[x](http://y) ![](z)", "[x](HTTP://a.b:080/?q#f) [y](https://a.b:0/) [z](http://a_b.c%41/) [0](https://0.0: )",
		"> - 1. `a`\n>   > b", strings.Repeat("- ", 70) + "deep", "**a _b ~~c** d_ e~~", strings.Repeat("é😀", 100), "<b>x</b>\n<div>\n\nfoo",
	} {
		f.Add(s, 128)
		f.Add(s, 4096)
	}
	r := New()
	f.Fuzz(func(t *testing.T, src string, limit int) {
		limit = min(max(limit, minLimit), 4096)
		check(t, r, src, Limits{Aim: limit * 9 / 10, Max: limit})
		if a := r.ANSI(src); strings.Contains(strings.ReplaceAll(a, "\x1b[", ""), "\x1b") {
			t.Errorf("escape in %q", a)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	r := New()
	short := "ACK id=c1m1; some words of a usual answer END id=c1m1;"
	rich := "# Answer\n\nUse **this**:\n\n```go\nfmt.Println(\"hi\")\n```\n\n- one\n- two [x](https://y.z)\n"
	for name, src := range map[string]string{"short": short, "rich": rich, "long": strings.Repeat(rich, 100)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Split(src, usual())
			}
		})
	}
}

func TestHostileInputIsCheap(t *testing.T) {
	r := New()
	for name, s := range map[string]string{
		"quotes": strings.Repeat(">", 100_000), "brackets": strings.Repeat("[", 50_000), "stars": strings.Repeat("**a ", 20_000),
		"lists": strings.Repeat("- ", 50_000), "ticks": strings.Repeat("`a``b", 10_000), "huge": strings.Repeat("a b\n", 100_000),
		"links": strings.Repeat("[a](", 20_000), "table": "|a|b|\n|-|-|\n" + strings.Repeat("|"+strings.Repeat("x", 30)+"|y|\n", 2000),
		"closers": strings.Repeat("a_", 30_000), "both": strings.Repeat("*a_ ", 60_000), "lines": strings.Repeat("a|b\n", 60_000),
		"wide table": strings.Repeat("|a", 2000) + "\n" + strings.Repeat("|-", 2000) + "\n" + strings.Repeat("a\n", 2000),
		"wide quote": "> " + strings.Repeat("a|", 2000) + "\n> " + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("> a\n", 2000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			defer func() {
				if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 256<<20 {
					t.Errorf("it takes %d MiB", (after.TotalAlloc-before.TotalAlloc)>>20)
				}
			}()
			for i, p := range r.Split(s, usual()) {
				if Len(p.Text) > 4096 {
					t.Fatalf("part %d has %d units", i, Len(p.Text))
				}
			}
		})
	}
}
