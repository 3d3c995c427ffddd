package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEnv(t *testing.T) {
	vars, findings := parseEnv([]byte("\xef\xbb\xbf# comment\r\n\n" + strings.Join([]string{
		`A=plain`, `export B = spaced out  # note`, `C="quoted # \"x\" \n\t\\ \$ \z"  # note`, `D='single \n # "x"'`, `E=`, `F=#note`, `G=a#b=c`, `A=again`,
		`not a line`, `1A=x`, `H="open`, `I="x" y`, "J=\xff", `=x`,
	}, "\n")))
	want := map[string]string{
		"A": "again", "B": "spaced out", "C": "quoted # \"x\" \n\t\\ $ \\z", "D": `single \n # "x"`, "E": "", "F": "", "G": "a#b=c",
	}
	if diff := cmp.Diff(want, vars); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%d: %s", f.line, f.message))
	}
	wantFindings := []string{
		"11: the line is not of the form NAME=value",
		"12: the line is not of the form NAME=value",
		"13: the value's quote is not closed on its line",
		"14: text follows the closing quote of the value",
		"15: the line is not plain UTF-8 text",
		"16: the line is not of the form NAME=value",
	}
	if diff := cmp.Diff(wantFindings, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestSE1Expand(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), "from file\r\n\n", 0o600)
	write(t, filepath.Join(dir, "large"), strings.Repeat("x", maxIncludedFile+1), 0o600)
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
		{"no name", "${A-b}", result{Err: "has a ${…} that is none of ${NAME}, ${NAME:-text} and ${file:path}; write $${ for a literal ${"}},
		{"no path", "${file:}", result{Err: "has a ${file:} without a path"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := reader{Options: Options{Dir: dir, Env: lookup}}
			x, err := l.expand(tt.in)
			got := result{Text: x.text, Missing: x.missing, Literal: x.literal}
			if err != nil {
				got = result{Err: err.Error()}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("expand(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
	t.Run("too much", func(t *testing.T) {
		l := reader{Options: Options{Env: environment(map[string]string{"BIG": strings.Repeat("x", maxExpanded/2)})}}
		if _, err := l.expand("${BIG}${BIG}${BIG}"); err == nil {
			t.Error("expanded without limit")
		}
	})
}

// A missing variable stops the start and is named in the error. Values of other variables are not shown.
func TestSE1MissingIsNamed(t *testing.T) {
	const there = "canary-there"
	for _, in := range []string{"${A}${B}", "x${B}${A}", "${A}-${file:b}"} {
		dir := project(t, `{"llm": {"provider": "openai", "model": "m", "apiKey": "`+in+`"}}`, "A="+there+"\n")
		_, err := Load(Options{Dir: dir})
		invalid, ok := errors.AsType[*InvalidError](err)
		if !ok {
			t.Errorf("%s: %v, want the start to fail", in, err)
			continue
		}
		text := fmt.Sprint(err, invalid.Findings)
		if !strings.Contains(text, "variable B is not set") && !strings.Contains(text, "file b cannot be read") || strings.Contains(text, there) {
			t.Errorf("%s: %s", in, text)
		}
	}
}

// Names of keys are not expanded.
func TestSE1OnlyValuesAreExpanded(t *testing.T) {
	dir := project(t, `{"${A}": 1, "llm": {"models": {"${A}": {"contextWindow": 9}}}}`, "A=name\n")
	loaded, err := Load(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := loaded.Settings.LLM.Models["${A}"]; !ok {
		t.Errorf("models = %v, want the key as it is written", loaded.Settings.LLM.Models)
	}
}

func TestSE5FileModes(t *testing.T) {
	const literal = `{"adapters": {"web": {"token": "0123456789abcdef"}}}`
	const reference = `{"adapters": {"web": {"token": "${WEB_TOKEN}"}}}`
	const vars = "WEB_TOKEN=0123456789abcdef\n"
	for _, tt := range []struct {
		name, ship, env   string
		shipMode, envMode os.FileMode
		want              []string
	}{
		{"private", reference, vars, 0o600, 0o600, nil},
		{"open ship.json without secrets", reference, vars, 0o644, 0o600, nil},
		{"open .env", reference, vars, 0o644, 0o640, []string{
			".env: the mode is 0640, so others may get at the secrets; run: chmod 600 .env",
		}},
		{"open ship.json with a secret", literal, vars, 0o644, 0o400, []string{
			`ship.json:1:32: adapters.web.token is spelled out here; write "${WEB_TOKEN}" and set WEB_TOKEN in the environment or in .env`,
			"ship.json: the file holds secrets and its mode is 0644, so others may read them; run: chmod 600 ship.json",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, FileName), tt.ship, tt.shipMode)
			write(t, filepath.Join(dir, envFileName), tt.env, tt.envMode)
			loaded, err := Load(Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range loaded.Findings {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSE5SecretFileOpenToOthers(t *testing.T) {
	dir := project(t, `{"adapters": {"web": {"token": "${file:token}"}}}`, "")
	write(t, filepath.Join(dir, "token"), "0123456789abcdef\n", 0o644)
	loaded, err := Load(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.Settings.Adapters.Web.Token.Reveal(); got != "0123456789abcdef" {
		t.Errorf("token = %q", got)
	}
	if len(loaded.Findings) != 1 || !strings.Contains(loaded.Findings[0].Message, "others can read") {
		t.Errorf("findings = %v, want one on the mode", loaded.Findings)
	}
	want := []string{filepath.Join(dir, envFileName), filepath.Join(dir, FileName), filepath.Join(dir, "token")}
	if diff := cmp.Diff(want, loaded.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
