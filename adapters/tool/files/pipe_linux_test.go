package files_test

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A folder that a program replaces by a pipe, which has no end, does not block a call.
func TestFoldersThatBecomePipes(t *testing.T) {
	p := newProject(t, map[string]string{"dir/in.txt": "harmless\n"})
	stdtest.Must(t, syscall.Mkfifo(p.path("pipe"), 0o600))
	called, exchanged := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(called)
		for range 2000 {
			_, _ = p.run(t.Context(), files.ReadName, in{"path": "dir/in.txt"}) // either answer is right
		}
	}()
	late := time.After(20 * time.Second)
	go func() {
		defer close(exchanged)
		for {
			select {
			case <-called:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, p.path("pipe"), unix.AT_FDCWD, p.path("dir"), unix.RENAME_EXCHANGE)
			}
		}
	}()
	select {
	case <-called:
		<-exchanged
	case <-late:
		t.Fatal("a call waits for a pipe")
	}
}
