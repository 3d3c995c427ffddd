// Package scenariotest plays scenarios: txtar files with prose that says what they show, a script, and
// the wanted results.
package scenariotest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Play plays the files of a pattern, of which there must be at least least, and compares the results of each with its
// wanted parts, in their order. With update it writes them.
func Play(t *testing.T, pattern string, least int, wanted []string, update bool, play func(t *testing.T, script string) map[string]string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			stdtest.Must(t, err)
			if len(strings.TrimSpace(string(archive.Comment))) < 40 {
				t.Error("the scenario does not say what it shows")
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			got := play(t, parts["script"])
			out := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{{Name: "script", Data: []byte(parts["script"])}}}
			for _, name := range wanted {
				if diff := cmp.Diff(lines(parts[name]), lines(got[name])); diff != "" && !update {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
				if old, was := parts[name]; got[name] != "" || was && old == "" {
					out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got[name])})
				}
			}
			if !update {
				return
			}
			stdtest.Must(t, os.WriteFile(file, txtar.Format(out), 0o600))
		})
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }
