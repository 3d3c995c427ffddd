package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// hugeFile is a history with a record of hugeText bytes in the middle.
func hugeFile() []byte {
	huge := storetest.Turn(2)
	huge.Parts = []uimessage.Part{uimessage.Text{Text: strings.Repeat("long ", hugeText/5)}}
	file := linefile.AppendTurn(linefile.AppendTurn(nil, storetest.Turn(1)), huge)
	return linefile.AppendTurn(file, storetest.Turn(3))
}

// A record of 64 MiB is read like any other. If damaged, it is quarantined as a whole, and the file
// can be repaired.
func TestST13HugeRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	b := newBench(t, Options{FS: lazyFS()})
	file := hugeFile()
	b.spoil(t, historyName, file)
	snap := b.load(t)
	if len(snap.History) != 3 || len(snap.Damage) != 0 || len(journal.Text(snap.History[1])) < hugeText-5 {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
	file[len(file)/2] = 0x01
	b.spoil(t, historyName, file)
	snap = b.load(t)
	if len(snap.History) != 2 || len(snap.Damage) != 1 || snap.Damage[0].Bytes < hugeText {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
	done := b.repair(t)
	equal(t, "history", []string{"u1", fmt.Sprint(snap.Damage[0].Bytes, " lost"), "u3"}, gaps(b.load(t).History))
	info, err := os.Stat(b.file(quarantineDir + "/" + done.Files[0].Backup))
	must(t, err)
	equal(t, "backup", int64(len(file)), info.Size())
}

// childHuge loads a chat and prints the peak memory use.
func childHuge(ctx context.Context, dir string) error {
	s, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	c, err := s.OpenChat(ctx, testKey)
	if err != nil {
		return err
	}
	snap, err := c.Load(ctx)
	if err != nil {
		return err
	}
	if len(snap.History) != 3 || len(snap.Damage) != 0 {
		return fmt.Errorf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Fprintln(os.Stdout, peak)
	runtime.KeepAlive(snap)
	return s.Close()
}

// The peak memory of a process that loads it is bounded.
func TestST13HugeRecordMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil || testing.Short() {
		t.Skip("needs Linux, writes 64 MiB")
	}
	dir := filepath.Join(t.TempDir(), "state")
	name := filepath.Join(dir, chatsDir, testKey, historyName)
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, hugeFile(), 0o600))
	cmd, _, out := start(t, "huge", dir)
	said, err := io.ReadAll(out)
	if err = errors.Join(err, cmd.Wait()); err != nil {
		t.Fatalf("%v\n%s", err, cmd.Stderr)
	}
	var peak int
	if _, err := fmt.Sscan(string(said), &peak); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	t.Logf("peak %.1f MiB for a record of %d MiB: %.2f times", float64(peak)/1024, hugeText>>20, float64(peak)*1024/hugeText)
	if limit := 3 * hugeText >> 10; soak() && !racing && peak > limit {
		t.Errorf("peak of %d KiB, want at most %d", peak, limit)
	}
}
