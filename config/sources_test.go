package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

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
	stdtest.Must(t, err)
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
			write(t, filepath.Join(dir, keys.EnvFile), tt.env, tt.envMode)
			loaded, err := Load(Options{Dir: dir})
			stdtest.Must(t, err)
			var got []string
			for _, f := range loaded.Findings {
				got = append(got, f.String())
			}
			stdtest.Diff(t, "findings", tt.want, got)
		})
	}
}

func TestSE5SecretFileOpenToOthers(t *testing.T) {
	dir := project(t, `{"adapters": {"web": {"token": "${file:token}"}}}`, "")
	write(t, filepath.Join(dir, "token"), "0123456789abcdef\n", 0o644)
	loaded, err := Load(Options{Dir: dir})
	stdtest.Must(t, err)
	if got := loaded.Settings.Adapters.Web.Token.Reveal(); got != "0123456789abcdef" {
		t.Errorf("token = %q", got)
	}
	if len(loaded.Findings) != 1 || !strings.Contains(loaded.Findings[0].Message, "others can read") {
		t.Errorf("findings = %v, want one on the mode", loaded.Findings)
	}
}
