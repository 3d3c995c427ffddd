//go:build linux

package box

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/probe"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A program in somebody's home can be the probe: what leads to it is seen, and nothing else there.
func TestHomes(t *testing.T) {
	tests := []struct {
		name, executable string
		want             probe.Tries
	}{
		{"of the system", "/usr/bin/sma", probe.Tries{Read: []string{"/root", "/home"}}},
		{"in a home", "/home/ada/bin/sma", probe.Tries{Read: []string{"/root"}, Passed: []string{"/home/ada/bin", "/home/ada", "/home"}}},
		{"of root", "/root" + "/sma", probe.Tries{Read: []string{"/home"}, Passed: []string{"/root"}}},
		{"in a folder with a similar name", "/homes/sma", probe.Tries{Read: []string{"/root", "/home"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got probe.Tries
			homes(&got, tt.executable)
			stdtest.Diff(t, "tries", tt.want, got)
		})
	}
}
