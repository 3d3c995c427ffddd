package filestore_test

import (
	"slices"
	"testing"

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
