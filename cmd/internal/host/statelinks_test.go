package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestStateFolderHoldsNoLinks(t *testing.T) {
	for _, link := range []string{"files", "schedule", "secrets", "files/results", "schedule/archive"} {
		t.Run(link, func(t *testing.T) {
			state, elsewhere := t.TempDir(), t.TempDir()
			at := filepath.Join(state, link)
			stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(elsewhere, at)))
			err := refuseLinks(state)
			if err == nil || !strings.Contains(err.Error(), at) {
				t.Errorf("got %v, which must name %s", err, at)
			}
		})
	}
	if err := refuseLinks(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Errorf("a state folder that is not there yet: %v", err)
	}
}
