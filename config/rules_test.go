package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rules that cover nothing are reported where they stand.
func TestVoidRulesAreReported(t *testing.T) {
	dir := t.TempDir()
	text := `{"permissions": {"exec": {"allow": ["git status", "bash *"], "deny": ["sh *"]}}}`
	if err := os.WriteFile(filepath.Join(dir, "ship.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(Options{Dir: dir, VoidRule: func(rule string) bool { return rule == "bash *" || rule == "sh *" }})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range loaded.Findings {
		got = append(got, f.Key)
	}
	if diff := cmp.Diff([]string{"permissions.exec.allow[1]", "permissions.exec.deny[0]"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
