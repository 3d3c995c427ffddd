package longtext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Tool output is shown as text, or line by line, but never as JSON.
func TestSaidBy(t *testing.T) {
	for _, tt := range []struct {
		name, output string
		want         Said
	}{
		{"nothing", ``, Said{}},
		{"null", ` null `, Said{}},
		{"a text", `"a\nb {\"c\": 1}"`, Said{Text: "a\nb {\"c\": 1}"}},
		{"what a command printed", `{"exitCode":1,"output":"no such file\n","durationMs":3}`, Said{Text: "no such file\n"}},
		{"a long text", `{"truncated":true,"bytes":900,"head":"a","tail":"z","whole":"results/c/r.txt","note":"n"}`, Said{Text: "a\n… 900 bytes …\nz", Whole: "results/c/r.txt"}},
		{"a long text of a command", `{"exitCode":0,"output":{"truncated":true,"bytes":9,"head":"a","tail":"z","note":"n"}}`, Said{Text: "a\n… 9 bytes …\nz"}},
		{"left out", `{"truncated":true,"bytes":9,"archive":"x-aged","note":"n"}`, Said{Archive: "x-aged"}},
		{"left out, and kept by the tool", `{"truncated":true,"bytes":9,"archive":"x-aged","whole":"w","note":"n"}`, Said{Archive: "x-aged", Whole: "w"}},
		{"a number", `42`, Said{Text: "42\n"}},
		{"members", `{"path":"a.go","lines":2,"text":"x\n  y\n","ok":true,"next":null}`, Said{Text: "path: a.go\nlines: 2\ntext:\nx\n  y\nok: true\nnext: -\n"}},
		{"lists", `{"files":[{"name":"a","size":1},"b",[]]}`, Said{Text: "files:\n  -\n    name: a\n    size: 1\n  - b\n  -\n"}},
		{"a key of two lines", `{"a\nb: c":"d"}`, Said{Text: "a b: c: d\n"}},
		{"a syntax error", `{"a":1,"b":[2,"\ud"],"c":3}`, Said{Text: "a: 1\nb:\n  - 2\n"}},
		{"own members of these names", `{"truncated":false,"head":"h"}`, Said{Text: "truncated: false\nhead: h\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := SaidBy(json.RawMessage(tt.output)); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestFenced(t *testing.T) {
	for _, text := range []string{"x", "```\nx\n```", "a ````` b", ""} {
		lines := strings.Split(Fenced(text), "\n")
		fence := lines[0]
		if last := lines[len(lines)-1]; last != fence || strings.Contains(text, fence) {
			t.Errorf("%q is fenced as %q", text, lines)
		}
	}
}

func FuzzSaidBy(f *testing.F) {
	for _, s := range []string{`{"a":[{"b":"c\nd"}]}`, `{"output":{"output":{"output":"x"}}}`, strings.Repeat(`{"a":`, 80) + "1" + strings.Repeat("}", 80), `"\ud800"`, `{"a"`, `[1,2`, `{"a":["\ud"]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		got := SaidBy(output)
		if !json.Valid(output) {
			return
		}
		if utf8.Valid(output) && !utf8.ValidString(got.Text) {
			t.Errorf("%q is shown as %q", output, got.Text)
		}
		var members map[string]string
		if json.Unmarshal(output, &members) == nil && members["output"] == "" {
			for key, value := range members {
				if value != "" && !strings.Contains(value, "\n") && !strings.Contains(got.Text, value) {
					t.Errorf("%q of %q is not in %q", key, output, got.Text)
				}
			}
		}
	})
}

func TestOutputArgs(t *testing.T) {
	for _, tt := range []struct {
		args       string
		back, page int
		ok         bool
	}{
		{"", 1, 1, true},
		{" 2 ", 2, 1, true},
		{"#3 4", 3, 4, true},
		{"0", 0, 0, false},
		{"-1", 0, 0, false},
		{"last", 0, 0, false},
		{"1 2 3", 0, 0, false},
		{"99999999999999999999", 0, 0, false},
	} {
		back, page, ok := OutputArgs(tt.args)
		if ok != tt.ok || ok && (back != tt.back || page != tt.page) {
			t.Errorf("%q: %d, %d, %v; want %d, %d, %v", tt.args, back, page, ok, tt.back, tt.page, tt.ok)
		}
	}
}
