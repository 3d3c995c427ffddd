package actors_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// The wanted parts of a scenario, in the order in which its file holds them.
// Frames are there only if somebody watched.
var wanted = []string{"history", "sent", "counts", "requests", "frames"}

var update = flag.Bool("update", false, "rewrite the wanted parts of the scenarios")

// Every file of testdata/scenarios is a conversation: prose that says what it
// shows, a script, and what must come of it. See scenario_script_test.go for the
// words of a script.
func TestScenario(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			if len(strings.TrimSpace(string(archive.Comment))) < 40 {
				t.Error("the scenario does not say what it shows")
			}
			got := playScenario(t, parts["script"])
			if *update {
				rewrite(t, file, archive, got)
				return
			}
			for _, name := range wanted {
				if diff := cmp.Diff(lines(parts[name]), lines(got[name])); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// playScenario plays a script in a bubble of its own.
func playScenario(t *testing.T, script string) map[string]string {
	t.Helper()
	var got map[string]string
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, newStore(t))
		s.play(script)
		got = s.result()
	})
	return got
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

// rewrite puts what came in the place of what was wanted.
func rewrite(t *testing.T, file string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	out := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if f.Name == "script" {
			out.Files = append(out.Files, f)
		}
	}
	for _, name := range wanted {
		if got[name] != "" || name != "frames" {
			out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(got[name])})
		}
	}
	if err := os.WriteFile(file, txtar.Format(out), 0o600); err != nil {
		t.Fatal(err)
	}
}
