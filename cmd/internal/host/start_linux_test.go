package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Where the disk takes nothing, a start says so and how to help it, whichever step notices it first. A folder of chats
// that cannot be written is noticed before messages come. The test needs the right to mount.
func TestStartOnADiskThatTakesNothing(t *testing.T) {
	for _, tt := range []struct {
		name, at      string
		flags         uintptr
		what, helping string
	}{
		{"full", "", 0, " is full", "make room"},
		{"read-only", "", syscall.MS_RDONLY, " cannot be written", "mount its disk for writing"},
		{"chats read-only", "chat", syscall.MS_RDONLY, " cannot be written", "mount its disk for writing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			disk := filepath.Join(p.dir, ".ship", tt.at)
			stdtest.Must(t, os.MkdirAll(disk, 0o700))
			if err := syscall.Mount("tmpfs", disk, "tmpfs", tt.flags, "size=64k"); err != nil {
				t.Skip("no disk can be mounted here:", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			if tt.flags == 0 {
				if err := os.WriteFile(filepath.Join(disk, "rest"), make([]byte, 1<<20), 0o600); err == nil {
					t.Fatal("the disk is not full")
				}
			}
			h := p.prepare(t, Options{}, nil)
			err := h.Start(t.Context())
			if err == nil {
				t.Fatalf("it starts, and stops with %v", h.Stop(t.Context()))
			}
			if failed, ok := errors.AsType[*Failure](err); !ok || failed.Kind != KindFailed || !strings.Contains(failed.What, tt.what) || !strings.Contains(failed.What, filepath.Join(p.dir, ".ship")) || !strings.Contains(failed.Help, tt.helping) {
				t.Errorf("it says %v", err)
			}
		})
	}
}
