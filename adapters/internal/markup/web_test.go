package markup

import (
	"regexp"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"plain", "a > b", "<p>a &gt; b</p>\n"},
		{"emphasis", "**x**", "<p><strong>x</strong></p>\n"},
		{"script", "a <script>alert(1)</script>", "<p>a &lt;script&gt;alert(1)&lt;/script&gt;</p>\n"},
		{"html block", "<div onclick=x>\nhi", "<p>&lt;div onclick=x&gt;\nhi</p>\n"},
		{"link", "[x](https://a.b \"t\")", "<p><a href=\"https://a.b\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">x</a></p>\n"},
		{"script link", "[x](javascript:alert(1))", "<p>x (javascript:alert(1))</p>\n"},
		{"hidden script link", "[x](java&#115;cript:alert(1))", "<p>x (javascript:alert(1))</p>\n"},
		{"data image", "![x](data:text/html,y)", "<p>x (data:text/html,y)</p>\n"},
		{"image", "![x](http://a.b/c.png)", "<p><a href=\"http://a.b/c.png\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">x</a></p>\n"},
		{"mail", "<a@b.example>", "<p><a href=\"mailto:a@b.example\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">a@b.example</a></p>\n"},
		{"ftp", "ftp://a.b/c", "<p>ftp://a.b/c</p>\n"},
		{"table", "|a|\n|-:|\n|b|c|", "<table>\n<thead>\n<tr>\n<th align=\"right\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td align=\"right\">b</td>\n<td>c</td>\n</tr>\n</tbody>\n</table>\n"},
		{"code", "```go\"x\n<\n```", "<pre><code class=\"language-go&quot;x\">&lt;\n</code></pre>\n"},
	}
	r := New()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := r.HTML(c.src)
			if got != c.want {
				t.Errorf("HTML(%q)\n got %q\nwant %q", c.src, got, c.want)
			}
			checkWeb(t, got)
		})
	}
}

// checkWeb checks that a page contains only the intended tags and attributes.
func checkWeb(t *testing.T, page string) {
	t.Helper()
	rest := regexp.MustCompile(`</?(p|em|strong|del|ul|li|h[1-6]|blockquote|pre|thead|tbody|table|tr|a|code)>|<(br|hr)>|<ol( start="\d+")?>|</ol>|`+
		`<t[dh]( align="(left|right|center)")?>|</t[dh]>|<input (checked="" )?disabled="" type="checkbox">|<code class="language-[^"<>]*">|`+
		`<a href="(?i:https?://|mailto:)[^"<>]*" rel="noopener noreferrer nofollow" target="_blank">`).ReplaceAllString(page, "")
	if strings.ContainsAny(rest, "<>") {
		t.Errorf("unexpected tag in %q: left %q", page, rest)
	}
}

func TestANSI(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"plain", "a\nb", "a\nb"},
		{"bold", "**a\nb**", "\x1b[1ma\x1b[0m\n\x1b[1mb\x1b[0m"},
		{"link", "[x](http://y.z)", "\x1b[4mx\x1b[0m\x1b[2m (http://y.z)\x1b[0m"},
		{"code", "```\na\nb\n```", "  \x1b[36ma\x1b[0m\n  \x1b[36mb\x1b[0m"},
		{"quote", "> a", "\x1b[2m│ \x1b[0ma"},
		{"escape sequences go", "a\x1b[2Jb &#27;[2J *c*", "a[2Jb [2J \x1b[3mc\x1b[0m"},
	}
	r := New()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := r.ANSI(c.src); got != c.want {
				t.Errorf("ANSI(%q) = %q, want %q", c.src, got, c.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	got := New().Plain("# T\n\n**a** [b](http://c)\n\n> q")
	if want := "T\n\na b (http://c)\n\n> q"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
