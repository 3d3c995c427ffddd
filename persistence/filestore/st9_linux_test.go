package filestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// A real disk is full: writes fail without effect; when there is space again the next one succeeds
// and nothing is damaged. The test needs the right to mount.
func TestST9SmallDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no right to mount a small disk: %v; the simulated one is tested anyway", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	s, err := filestore.Open(filestore.Options{Dir: filepath.Join(dir, "state")})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	talker, err := s.OpenChat(t.Context(), crashKey)
	must(t, err)
	must(t, talker.Wake(t.Context()))
	turns, refused := 0, 0
	say := func() error { return talker.AppendHistory(t.Context(), storetest.Turn(turns+1)) }
	ballast := filepath.Join(dir, "ballast")
	for range 3 {
		must(t, say())
		turns++
		fill(t, ballast)
		for { // use up the rest of the talker's last page
			if err = say(); err != nil {
				break
			}
			turns++
		}
		for range 5 {
			e, typed := errors.AsType[*persistence.Error](err)
			if !typed || !e.Retryable || !errors.Is(err, persistence.ErrFull) {
				t.Fatalf("got %v, want ErrFull that is retryable", err)
			}
			refused++
			err = say()
		}
		must(t, os.Remove(ballast))
	}
	must(t, say())
	turns++
	must(t, talker.Close())
	talker, err = s.OpenChat(t.Context(), crashKey)
	must(t, err)
	snap, err := talker.Load(t.Context())
	must(t, err)
	if len(snap.History) != turns || len(snap.Damage) > 0 {
		t.Errorf("%d turns, want %d; damage %+v", len(snap.History), turns, snap.Damage)
	}
	t.Logf("%d turns taken, %d refused", turns, refused)
}

// fill writes a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 1<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, f.Close())
}
