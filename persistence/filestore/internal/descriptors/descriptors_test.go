package descriptors

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// short is the machine's file system in a process that has no descriptors left for a while.
type short struct {
	vfs.OS

	fails atomic.Int64
}

func (s *short) OpenFile(name string, flag int) (vfs.File, error) {
	if n := s.fails.Add(-1); n >= 0 && n%2 == 0 {
		return nil, syscall.EMFILE
	}
	return s.OS.OpenFile(name, flag)
}

func nothing(vfs.File) error { return nil }

// Many files are used concurrently: the pool never exceeds its limit, and gets every slot back.
func TestPoolIsBounded(t *testing.T) {
	const limit, files, uses = 4, 30, 20
	fsys := &short{}
	fsys.fails.Store(40)
	pool, dir := New(fsys, limit), t.TempDir()
	handles := make([]*Handle, files)
	var wg sync.WaitGroup
	for i := range handles {
		h := &Handle{Name: filepath.Join(dir, fmt.Sprint(i))}
		handles[i] = h
		wg.Go(func() {
			for range uses {
				err := pool.Use(t.Context(), h, os.O_RDWR|os.O_CREATE, nothing)
				if err == nil {
					err = pool.Temporary(t.Context(), h.Name, os.O_RDONLY, nothing)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(pool.ring); n > limit {
		t.Errorf("%d files are open, at most %d are allowed", n, limit)
	}
	for _, h := range handles {
		pool.Close(h)
	}
	if len(pool.ring) != 0 || len(pool.slots) != limit {
		t.Errorf("%d files are open and %d slots free after all files were closed", len(pool.ring), len(pool.slots))
	}
}

// A panic while a file is in use leaves the file usable.
func TestPanicWithAFileInUse(t *testing.T) {
	pool := New(vfs.OS{}, 2)
	h := &Handle{Name: filepath.Join(t.TempDir(), "file")}
	func() {
		defer func() { _ = recover() }()
		_ = pool.Use(t.Context(), h, os.O_RDWR|os.O_CREATE, func(vfs.File) error { panic("test") })
	}()
	if !h.mu.TryLock() {
		t.Fatal("the file is in use for ever")
	}
	h.mu.Unlock()
	pool.Close(h)
}
