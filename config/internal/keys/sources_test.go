package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestParseEnv(t *testing.T) {
	r := Reader{Errors: map[string]string{}}
	r.parseEnv([]byte("\xef\xbb\xbf# comment\r\n\n" + strings.Join([]string{
		`A=plain`, `export B = spaced out  # note`, `C="quoted # \"x\" \n\t\\ \$ \z"  # note`, `D='single \n # "x"'`, `E=`, `F=#note`, `G=a#b=c`, `A=again`,
		`not a line`, `1A=x`, `H="open`, `I="x" y`, "J=\xff", `=x`,
	}, "\n")))
	want := map[string]string{
		"A": "again", "B": "spaced out", "C": "quoted # \"x\" \n\t\\ $ \\z", "D": `single \n # "x"`, "E": "", "F": "", "G": "a#b=c",
	}
	stdtest.Diff(t, "variables", want, r.Variables)
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.String())
	}
	wantFindings := []string{
		".env:11:1: the line is not of the form NAME=value",
		".env:12:1: the line is not of the form NAME=value",
		".env:13:1: the value's quote is not closed on its line",
		".env:14:1: text follows the closing quote of the value",
		".env:15:1: the line is not plain UTF-8 text",
		".env:16:1: the line is not of the form NAME=value",
	}
	stdtest.Diff(t, "findings", wantFindings, got)
}

func TestSE1Expand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"token": "from file\r\n\n", "large": strings.Repeat("x", maxIncludedFile+1)} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	environment := func(vars map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			text, ok := vars[name]
			return text, ok
		}
	}
	lookup := environment(map[string]string{"A": "a", "EMPTY": "", "TRICKY": "${A}"})
	type result struct {
		Text    string
		Missing []string
		Literal bool
		Err     string
	}
	for _, tt := range []struct {
		name, in string
		want     result
	}{
		{"plain", "x $A $ {A}", result{Text: "x $A $ {A}", Literal: true}},
		{"variable", "<${A}>", result{Text: "<a>"}},
		{"two", "${A}${A}", result{Text: "aa"}},
		{"default not needed", "${A:-b}", result{Text: "a"}},
		{"default", "${NO:-b c}", result{Text: "b c", Literal: true}},
		{"default for empty", "${EMPTY:-b}", result{Text: "b", Literal: true}},
		{"empty default", "${NO:-}", result{}},
		{"escaped", "$${A} ${A}", result{Text: "${A} a"}},
		{"not expanded again", "${TRICKY}", result{Text: "${A}"}},
		{"missing", "${NO}", result{Missing: []string{"the environment variable NO is not set, or empty"}}},
		{"empty", "${EMPTY}", result{Missing: []string{"the environment variable EMPTY is not set, or empty"}}},
		{"file", "${file:token}", result{Text: "from file"}},
		{"absolute file", "${file:" + filepath.Join(dir, "token") + "}", result{Text: "from file"}},
		{"no file", "${file:none}", result{Missing: []string{"the file none cannot be read: it does not exist"}}},
		{"folder", "${file:.}", result{Missing: []string{"the file . cannot be read: it is not a regular file"}}},
		{"large file", "${file:large}", result{Missing: []string{"the file large cannot be read: it is too large"}}},
		{"device", "${file:/dev/zero}", result{Missing: []string{"the file /dev/zero cannot be read: it is not a regular file"}}},
		{"nested", "${A:-${B}}", result{Err: "nests one ${…} in another, which is not possible"}},
		{"open", "${A", result{Err: "has a ${ without its }; write $${ for a literal ${"}},
		{"no name", "${A-b}", result{Err: "has a ${…} that is not ${NAME}, ${NAME:-text} or ${file:path}; write $${ for a literal ${"}},
		{"no path", "${file:}", result{Err: "has a ${file:} without a path"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Reader{Spec: Spec{Dir: dir, Env: lookup}}
			x, err := r.expand(tt.in)
			got := result{Text: x.Text, Missing: x.missing, Literal: x.literal}
			if err != nil {
				got = result{Err: err.Error()}
			}
			stdtest.Diff(t, fmt.Sprintf("expand(%q)", tt.in), tt.want, got)
		})
	}
	t.Run("too much", func(t *testing.T) {
		r := Reader{Spec: Spec{Env: environment(map[string]string{"BIG": strings.Repeat("x", maxExpanded/2)})}}
		if _, err := r.expand("${BIG}${BIG}${BIG}"); err == nil {
			t.Error("expanded without limit")
		}
	})
}
