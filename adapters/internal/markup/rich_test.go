package markup

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

func TestSplitRich(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"plain stays plain", "Hello, world.\n\nMore @ann /help", ""},
		{"emphasis", "**b** _i_ ~~s~~ `c < d`", "<p><b>b</b> <i>i</i> <s>s</s> <code>c &lt; d</code></p>"},
		{"headings", "# One\n### **Two** `x`\ntext", "<h1>One</h1><h3>Two <code>x</code></h3><p>text</p>"},
		{"breaks", "**a**\nb\\\nc", "<p><b>a</b><br>b<br>c</p>"},
		{"bullets", "- one\n- two\n  more\n    - deep\n\nafter", "<ul><li>one</li><li>two<br>more<ul><li>deep</li></ul></li></ul><p>after</p>"},
		{"numbers", "3. x\n\n4. y\n\n   z", `<ol><li value="3">x</li><li value="4">y<p>z</p></li></ol>`},
		{"two lists", "- a\n\n1. b", `<ul><li>a</li></ul><ol><li value="1">b</li></ol>`},
		{"list at once in a list", "- - a\n  - b", "<ul><li><ul><li>a</li><li>b</li></ul></li></ul>"},
		{"empty item", "- \n- b", "<ul><li></li><li>b</li></ul>"},
		{"tasks", "- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"},
		{"code in an item", "1. do\n   ```sh\n   ls <x>\n   ```", `<ol><li value="1">do<pre><code class="language-sh">ls &lt;x&gt;</code></pre></li></ol>`},
		{"quotes", "> a\n> > b\n>\n> c\n\nd", "<blockquote>a<blockquote>b</blockquote><p>c</p></blockquote><p>d</p>"},
		{"quote in an item", "- > a", "<ul><li><blockquote>a</blockquote></li></ul>"},
		{"rule", "a\n\n---\n\nb", "<p>a</p><hr/><p>b</p>"},
		{
			"table", "| a | n |\n|:--|--:|\n| **x**<br>y | [l](https://x.y) |",
			`<table bordered><tr><th>a</th><th>n</th></tr><tr><td><b>x</b> y</td><td align="right"><a href="https://x.y">l</a></td></tr></table>`,
		},
		{"link", "[Go](https://go.dev/?a=1&b=2)", `<p><a href="https://go.dev/?a=1&amp;b=2">Go</a></p>`},
		{"image is a link", "![a cat](https://x.y/c.png)", `<p><a href="https://x.y/c.png">a cat</a></p>`},
		{"image within code", "`![x](https://x.y/c.png)`", "<p><code>![x](https://x.y/c.png)</code></p>"},
		{"image by tag", "**a** <img src=\"https://x.y/c.png\"/>", "<p><b>a</b> &lt;img src=&quot;https://x.y/c.png&quot;/&gt;</p>"},
		{"mention by link", "**a** [ann](tg://user?id=7)", "<p><b>a</b> ann (tg://user?id=7)</p>"},
		{"button by tag", "**a** <tg-button type=\"callback_data\" data=\"x\">ok</tg-button>", "<p><b>a</b> &lt;tg-button type=&quot;callback_data&quot; data=&quot;x&quot;&gt;ok&lt;/tg-button&gt;</p>"},
		{"not of this dialect", "**a** $x$ ==m== ||s|| [^1]", "<p><b>a</b> $x$ ==m== ||s|| [^1]</p>"},
		{"reference", "**a** &lt;img&gt;", "<p><b>a</b> &lt;img&gt;</p>"},
		{"too deep", strings.Repeat("> ", maxRichDepth+1) + "a", ""},
		{"too many", strings.Repeat("- a\n", maxRichBlocks), ""},
	}
	r := New()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			parts := r.SplitRich(c.src, usual())
			if len(parts) != 1 || parts[0].Rich != c.want {
				t.Fatalf("SplitRich(%q) = %+v, want %q", c.src, parts, c.want)
			}
			checkRich(t, r, c.src, usual())
		})
	}
}

func TestSplitRichTooWide(t *testing.T) {
	row := strings.Repeat("| a ", maxRichColumns+1) + "|\n"
	parts := New().SplitRich(row+strings.ReplaceAll(row, " a ", "---")+row, usual())
	if len(parts) != 1 || !strings.HasPrefix(parts[0].Rich, "<pre>") {
		t.Errorf("got %+v", parts)
	}
}

// TestSplitRichCuts checks that a part is complete in itself, and its numbers continue.
func TestSplitRichCuts(t *testing.T) {
	lim := Limits{Aim: 128, Max: 128}
	var src strings.Builder
	for i := range 12 {
		fmt.Fprintf(&src, "%d. a step that takes some words to tell\n", i+1)
	}
	src.WriteString("\n```go\n" + strings.Repeat("fmt.Println(1)\n", 30) + "```\n\n> " + strings.Repeat("quoted ", 40))
	parts := New().SplitRich(src.String(), lim)
	fences := 0
	for i, p := range parts {
		if strings.HasPrefix(p.Rich, `<pre><code class="language-go">fmt.`) && strings.HasSuffix(p.Rich, "</code></pre>") {
			fences++
		}
		if want := fmt.Sprintf(`<ol><li value="%d">a step`, 3*i+1); i < 4 && !strings.HasPrefix(p.Rich, want) {
			t.Errorf("part %d is %q", i, p.Rich)
		}
	}
	if fences < 3 {
		t.Errorf("%d fences in %+v", fences, parts)
	}
	checkRich(t, New(), src.String(), lim)
}

// checkRich checks what holds for all texts: the parts are those of Split, and a rich form is valid
// for the service, with no picture, mention or button in it.
func checkRich(tb testing.TB, r *Renderer, src string, lim Limits) {
	tb.Helper()
	plain, rich := r.Split(src, lim), r.SplitRich(src, lim)
	if len(plain) != len(rich) {
		tb.Fatalf("%q: %d parts, rich %d", src, len(plain), len(rich))
	}
	for i, p := range rich {
		if p.Text != plain[i].Text || p.Markup != plain[i].Markup {
			tb.Fatalf("%q: part %d differs: %+v and %+v", src, i, plain[i], p)
		}
		if p.Rich == "" {
			continue
		}
		if _, err := telegramtest.ParseRich(p.Rich); err != nil {
			tb.Fatalf("%q: %v in %q", src, err, p.Rich)
		}
		for _, piece := range strings.Split(p.Rich, "<")[1:] {
			tag, _, _ := strings.Cut(piece, ">")
			_, address, ok := strings.Cut(tag, `="`)
			if strings.HasPrefix(tag, "a ") && (!ok || !strings.HasPrefix(strings.ToLower(address), "http")) {
				tb.Fatalf("%q: link to %q", src, tag)
			}
		}
	}
}

func FuzzRich(f *testing.F) {
	for _, s := range []string{
		"# a\n- b\n  1. c\n> d\n\n| a | b |\n|--|--|\n| ![x](https://y) | <img src=https://y> |", "- - - a\n\n  ```\n  x\n", "<tg-button data=\"x\">", "> - ---\n> - a<br>b",
		"1) a\n   ![](tg://user?id=1)", "**a\n**b<b>", "||x|| $$y$$ [^1]: ![z](http://w \"t\")",
	} {
		f.Add(s)
	}
	r := New()
	f.Fuzz(func(t *testing.T, src string) {
		checkRich(t, r, src, Limits{Aim: 128, Max: 160})
		checkRich(t, r, src, usual())
	})
}
