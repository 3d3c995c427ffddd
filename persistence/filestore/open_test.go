package filestore_test

import (
	"errors"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// A process that was killed while it made the store's folders leaves names without an fsync. The
// next one uses them; then the power is cut.
func TestST2KilledWhileOpening(t *testing.T) {
	ctx := t.Context()
	disk := filestoretest.NewDisk()
	var killed []*filestoretest.Disk
	disk.After(func(filestoretest.Op) { killed = append(killed, disk.Kill()) })
	s, err := filestoretest.Open(disk, filestore.Options{})
	must(t, err)
	disk.After(nil)
	must(t, s.Close())
	for n, d := range append(killed, disk.Kill()) {
		s, err := filestoretest.Open(d, filestore.Options{})
		must(t, err)
		c, err := s.OpenChat(ctx, crashKey)
		must(t, err)
		must(t, c.Wake(ctx))
		must(t, c.AppendHistory(ctx, storetest.Turn(1)))
		s, err = filestoretest.Open(d.Crash(filestoretest.Nothing), filestore.Options{})
		must(t, err)
		waking, err := s.Waking(ctx)
		must(t, err)
		if !slices.Contains(waking, crashKey) {
			t.Errorf("killed behind operation %d of %d: the mark of the chat is gone", n+1, len(killed))
		}
		c, err = s.OpenChat(ctx, crashKey)
		must(t, err)
		snap, err := c.Load(ctx)
		must(t, err)
		if len(snap.History) != 1 {
			t.Errorf("killed behind operation %d of %d: the turn is gone", n+1, len(killed))
		}
	}
}

// What is not the store's own among the marks is no chat to wake, and does not keep the others from being woken. A store
// that is closed says so, even if nothing is marked.
func TestForeignMarks(t *testing.T) {
	ctx := t.Context()
	disk := filestoretest.NewDisk()
	s, err := filestoretest.Open(disk, filestore.Options{})
	must(t, err)
	c, err := s.OpenChat(ctx, crashKey)
	must(t, err)
	must(t, c.Wake(ctx))
	for _, name := range []string{".DS_Store", "300", "x"} {
		at := path.Join(filestoretest.Dir, "open", name)
		if name != ".DS_Store" {
			must(t, disk.Mkdir(at))
			at = path.Join(at, "test-chat-foreign")
		}
		_, err := disk.OpenFile(at, os.O_RDWR|os.O_CREATE)
		must(t, err)
	}
	waking, err := s.Waking(ctx)
	must(t, err)
	if !slices.Equal(waking, []messages.ChatKey{crashKey}) {
		t.Errorf("to wake: %q", waking)
	}
	must(t, c.Rest(ctx))
	must(t, s.Close())
	if _, err := s.Waking(ctx); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("a closed store says %v", err)
	}
}
