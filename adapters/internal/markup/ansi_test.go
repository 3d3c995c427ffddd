package markup

import "testing"

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
