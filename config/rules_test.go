package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A rule that covers nothing is reported at its place in the file.
func TestVoidRulesAreReported(t *testing.T) {
	dir := t.TempDir()
	text := `{"permissions": {"exec": {"allow": ["git status", "bash *"], "deny": ["sh *", "a; b"]}}}`
	stdtest.Must(t, os.WriteFile(filepath.Join(dir, "ship.json"), []byte(text), 0o600))
	options := Options{Dir: dir, VoidRule: func(rule string) bool { return rule == "bash *" || rule == "sh *" }}
	loaded, err := Load(options)
	stdtest.Must(t, err)
	var got []string
	for _, f := range loaded.Findings {
		got = append(got, f.Key)
	}
	stdtest.Diff(t, "findings", []string{"permissions.exec.allow[1]"}, got)
	blank := filepath.Join(t.TempDir(), "ship.json")
	stdtest.Must(t, os.WriteFile(blank, []byte(`{"permissions": {"exec": {"allow": [" "]}}}`), 0o600))
	_, err = Load(Options{Dir: filepath.Dir(blank), VoidRule: func(string) bool { return true }})
	if invalid, ok := errors.AsType[*InvalidError](err); !ok || len(invalid.Findings) != 1 {
		t.Errorf("a rule without words: %v, want one finding", err)
	}
	options.DenyFault = func(rule string) error {
		if rule == "a; b" {
			return errors.New("it is not a command")
		}
		return nil
	}
	const want = "ship.json:1:79: permissions.exec.deny[1] can never match: it is not a command"
	if _, err := Load(options); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a prohibition that can never match: %v, want %q", err, want)
	}
}
