//go:build linux

package bubblewrap_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestSB8BrokenBwrapRunsNothing(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"none", "", "bwrap"},
		{"one that cannot make namespaces", "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", "No permissions"},
		{"one that ends without a word", "#!/bin/sh\nexit 0\n", "did not start"},
		{
			"one that contains nothing",
			"#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\necho \"{\\\"child-pid\\\": $$}\" >&3\nexec \"$@\"\n", "it does not contain",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bwrap")
			if tt.script != "" {
				stdtest.Must(t, os.WriteFile(path, []byte(tt.script), 0o700)) //nolint:gosec // it has to run
			}
			err := bubblewrap.New(bubblewrap.Options{Path: path}).Check(t.Context())
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("check = %v, want ErrUnavailable and %q", err, tt.want)
			}
		})
	}
}
