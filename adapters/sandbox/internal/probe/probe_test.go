package probe

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestPassed(t *testing.T) {
	way, open := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(way, "probe"), filepath.Join(open, "probe"), filepath.Join(open, "secret")} {
		stdtest.Must(t, os.WriteFile(file, nil, 0o600))
	}
	got := run(Tries{Passed: []string{way, open, filepath.Join(way, "missing")}}).Broken
	if want := open + " can be read"; !slices.Contains(got, want) {
		t.Errorf("broken = %q, want %q in it", got, want)
	}
	if slices.Contains(got, way+" can be read") {
		t.Errorf("broken = %q, although only the probe is in %s", got, way)
	}
}
