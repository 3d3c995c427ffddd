package filestore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// A copy of the folder, made by cp -r while chats append, checkpoint and rewrite, opens with a
// valid state: no damage except a torn tail, everything in order and once, and it can be used. A
// copy takes one file after the other, so it may lack a checkpoint made meanwhile.
func TestST17CopyOfALiveFolder(t *testing.T) {
	copies := 8
	if os.Getenv("SOAK") != "" {
		copies = 50
	}
	dir := filepath.Join(t.TempDir(), "state")
	s := openStore(t, Options{Dir: dir, LedgerBytes: 20_000})
	ctx, cancel := context.WithCancelCause(t.Context())
	var wg sync.WaitGroup
	enough := make(chan struct{}, killChats)
	for i := range killChats {
		wg.Go(func() {
			err := childChat(ctx, s, i, func(n int64) {
				if n == 30 {
					enough <- struct{}{}
				}
			})
			if !errors.Is(err, errEnough) {
				cancel(err)
				t.Error(err)
			}
		})
	}
	for range killChats {
		select {
		case <-enough:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
	turns := 0
	for n := range copies {
		turns += checkCopy(t, dir, n)
	}
	cancel(errEnough)
	wg.Wait()
	t.Logf("%d copies with %d turns", copies, turns)
}

// errEnough ends the writers of a test.
var errEnough = errors.New("enough")

// checkCopy copies a folder and opens the copy.
func checkCopy(t *testing.T, dir string, n int) (turns int) {
	t.Helper()
	to := filepath.Join(t.TempDir(), fmt.Sprint(n))
	// Temporary files may disappear while they are copied; the rest has to be enough.
	if out, err := exec.CommandContext(t.Context(), "cp", "-r", dir, to).CombinedOutput(); err != nil && !strings.Contains(string(out), "No such file") {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	copied, err := Open(Options{Dir: to, FS: lazyFS()})
	must(t, err)
	defer func() { must(t, copied.Close()) }()
	for i := range killChats {
		c, err := copied.OpenChat(t.Context(), killKey(i))
		must(t, err)
		snap, err := c.Load(t.Context())
		must(t, err)
		if err := inOrder(t.Context(), c, snap); err != nil {
			t.Fatalf("copy %d, chat %d: %v", n, i, err)
		}
		must(t, c.Append(t.Context(), storetest.Facts(1_000_000, 1_000_000)...))
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(1_000_000, 1_000_000), Meta: snap.Meta}))
		must(t, c.AppendHistory(t.Context(), storetest.Turn(1_000_000)))
		again, err := c.Load(t.Context())
		must(t, err)
		if len(again.History) != len(snap.History)+1 || len(again.Journal) != 0 {
			t.Fatalf("copy %d, chat %d: %d turns became %d, %d records are left", n, i, len(snap.History), len(again.History), len(again.Journal))
		}
		turns += len(snap.History)
	}
	return turns
}

// inOrder checks that nothing is damaged, duplicated or out of order.
func inOrder(ctx context.Context, c persistence.Chat, snap journal.Snapshot) error {
	for _, d := range snap.Damage {
		if d.Why != linefile.WhyTorn {
			return fmt.Errorf("damage %+v", d)
		}
	}
	last := 0
	for _, m := range snap.History {
		n := 0
		if _, err := fmt.Sscanf(m.ID, "u%d", &n); err != nil || n <= last {
			return fmt.Errorf("turn %s follows turn %d", m.ID, last)
		}
		last = n
	}
	entries, number := 0, int64(math.MaxInt64)
	for e, err := range c.Ledger(ctx) {
		switch {
		case err != nil:
			return err
		case e.N > number, e.N == number && entries == 2:
			return fmt.Errorf("ledger entry %d precedes %d", e.N, number)
		case e.N < number:
			entries, number = 0, e.N
		}
		entries++
	}
	return nil
}
