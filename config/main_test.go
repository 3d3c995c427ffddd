package config

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite golden files")
	flag.Parse()
	os.Exit(m.Run())
}

// updating reports whether golden files are to be rewritten.
func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// project makes a project folder with the given ship.json and .env, readable by the owner only.
// An empty text means no file.
func project(tb testing.TB, shipJSON, dotEnv string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range map[string]string{FileName: shipJSON, keys.EnvFile: dotEnv} {
		if text != "" {
			write(tb, filepath.Join(dir, name), text, 0o600)
		}
	}
	return dir
}

func write(tb testing.TB, path, text string, mode os.FileMode) {
	tb.Helper()
	stdtest.Must(tb, os.WriteFile(path, []byte(text), mode))
	stdtest.Must(tb, os.Chmod(path, mode)) // The umask may have taken bits away.
}

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := vars[name]
		return text, ok
	}
}
