package host

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/shipmyagent/shipmyagent/config"
)

// Looks that find the same fault warn once: the log may be in a folder that is watched.
func TestReloadWarnsOnce(t *testing.T) {
	var log bytes.Buffer
	fault := errors.New("a fault")
	h := &Host{log: slog.New(slog.NewTextHandler(&log, nil)), opts: Options{Reload: func() (*config.Loaded, error) { return nil, fault }}}
	warned := func(want int) {
		t.Helper()
		for range 3 {
			h.reloadSettings()
		}
		if n := bytes.Count(log.Bytes(), []byte("level=WARN")); n != want {
			t.Errorf("%d warnings, want %d: %s", n, want, &log)
		}
	}
	warned(1)
	fault = errors.New("another fault")
	warned(2)
}
