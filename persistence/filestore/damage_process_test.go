package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// While a process has the folder, others are refused at once; when it ends, in any way, its lock is
// free.
func TestST12SecondProcessIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	rounds, slowest := often(10, 100), time.Duration(0)
	for round := range rounds {
		cmd, in, out := start(t, "lock", dir)
		if line, err := out.ReadString('\n'); err != nil || line != "locked\n" {
			t.Fatalf("the other process says %q, %v: %s", line, err, cmd.Stderr)
		}
		begin := time.Now()
		_, err := Open(Options{Dir: dir})
		slowest = max(slowest, time.Since(begin))
		if !errors.Is(err, persistence.ErrLocked) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("got %v, want ErrLocked with the folder", err)
		}
		if round == 0 {
			must(t, in.Close()) // it ends normally
			must(t, cmd.Wait())
		} else {
			must(t, cmd.Process.Kill())
			_ = cmd.Wait()
		}
		s, err := Open(Options{Dir: dir})
		must(t, err)
		if _, err := Open(Options{Dir: dir}); !errors.Is(err, persistence.ErrLocked) {
			t.Fatalf("a second store in one process: %v, want ErrLocked", err)
		}
		must(t, s.Close())
	}
	t.Logf("%d takeovers; refused within %v", rounds, slowest)
	if soak() && slowest > time.Second {
		t.Errorf("refused after %v", slowest)
	}
}

const descriptorChats, descriptorTurns = 200, 3

// childDescriptors writes to many chats with few descriptors.
func childDescriptors(ctx context.Context, dir string) error {
	const chats, each = descriptorChats, descriptorTurns
	s, err := Open(Options{Dir: dir})
	if err != nil {
		return err
	}
	failed := make(chan error, chats)
	for i := range chats {
		go func() {
			failed <- func() error {
				c, err := s.OpenChat(ctx, killKey(i))
				if err != nil {
					return err
				}
				for n := 1; n <= each; n++ {
					checkpoint := journal.Checkpoint{History: storetest.Turns(n, n), Ledger: storetest.Entries(int64(n), int64(n)), Rest: storetest.Facts(int64(n), int64(n))}
					if err := errors.Join(c.Wake(ctx), c.Append(ctx, storetest.Facts(int64(n), int64(n))...), c.Checkpoint(ctx, checkpoint)); err != nil {
						return err
					}
				}
				snap, err := c.Load(ctx)
				if err == nil && len(snap.History) != each {
					err = fmt.Errorf("%d turns, want %d", len(snap.History), each)
				}
				return err
			}()
		}()
	}
	for range chats {
		if err := <-failed; err != nil {
			return err
		}
	}
	return s.Close()
}

// A process with 64 descriptors writes to 200 chats concurrently: it succeeds, and everything it
// wrote is there.
func TestST10FewDescriptors(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no ulimit")
	}
	dir := filepath.Join(t.TempDir(), "state")
	cmd, _, _ := start(t, "descriptors", dir, "/bin/sh", "-c", `ulimit -n 64 && exec "$0"`)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, cmd.Stderr)
	}
	s := openStore(t, Options{Dir: dir})
	for i := range descriptorChats {
		c, err := s.OpenChat(t.Context(), killKey(i))
		must(t, err)
		snap, err := c.Load(t.Context())
		must(t, err)
		equal(t, "history", storetest.Turns(1, descriptorTurns), snap.History)
		equal(t, "journal", storetest.Facts(descriptorTurns, descriptorTurns), snap.Journal)
		equal(t, "damage", 0, len(snap.Damage))
		must(t, c.Close())
	}
}

// Regardless of the umask, only the owner has access to any file: from normal use, from damage and
// from a repair.
func TestST14Modes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, umask := range []int{0, 0o777} {
		dir := filepath.Join(t.TempDir(), "state")
		syscall.Umask(umask)
		s := openStore(t, Options{Dir: dir, LedgerBytes: 1})
		key := messages.ChatKey(strings.Repeat("Long", 100))
		c, err := s.OpenChat(t.Context(), key)
		must(t, err)
		must(t, c.Wake(t.Context()))
		must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 3)...))
		must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "x", To: 1}))
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(1, 1), Rest: storetest.Facts(1, 1)}))
		must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(2, 2)}))
		must(t, c.Close())
		folder, err := s.ChatDir(key)
		must(t, err)
		f, err := os.OpenFile(filepath.Join(folder, historyName), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteString("torn")
		must(t, errors.Join(err, f.Close()))
		c, err = s.OpenChat(t.Context(), key)
		must(t, err)
		_, err = c.Load(t.Context())
		must(t, err)
		must(t, c.Close())
		must(t, os.WriteFile(filepath.Join(folder, metaName), nil, 0))
		must(t, os.WriteFile(filepath.Join(folder, ledgerName), []byte("x\n"), 0))
		_, err = s.Repair(t.Context(), key, RepairOptions{})
		must(t, err)
		names := 0
		must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = fs.ModeDir | 0o700
			}
			if names++; err == nil && info.Mode() != want {
				t.Errorf("umask %03o: %s has mode %v, want %v", umask, name, info.Mode(), want)
			}
			return err
		}))
		if names < 22 {
			t.Errorf("only %d files and folders", names)
		}
		t.Logf("umask %03o: %d files and folders", umask, names)
	}
}

func TestST14SymbolicLinksAreRefused(t *testing.T) {
	elsewhere := t.TempDir()
	key := messages.ChatKey(testKey)
	for _, link := range []string{
		".", "chat", "open", "chat/" + testKey, "chat/" + testKey + "/messages", "chat/" + testKey + "/messages/journal.jsonl", "lock",
		"chat/" + testKey + "/messages/archive", "chat/" + testKey + "/messages/quarantine", "chat/" + testKey + "/conversations",
		"chat/" + testKey + "/contexts", "chat/" + testKey + "/contexts/archive", "chat/" + testKey + "/memory", "chat/" + testKey + "/memory/backup",
	} {
		t.Run(link, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			name := filepath.Join(dir, link)
			must(t, os.MkdirAll(filepath.Dir(name), 0o700))
			must(t, os.Symlink(elsewhere, name))
			s, err := Open(Options{Dir: dir})
			if err == nil {
				c, openErr := s.OpenChat(t.Context(), key)
				must(t, openErr)
				_, loadErr := c.Load(t.Context())
				err = errors.Join(loadErr, c.Append(t.Context(), storetest.Facts(1, 1)...))
				must(t, s.Close())
			}
			if err == nil {
				t.Error("a symbolic link was followed")
			}
			i, err := Inspect(Options{Dir: dir})
			if err == nil && strings.HasPrefix(link, "chat/") {
				_, err = i.Verify(t.Context(), key)
			}
			if err == nil && link != "open" && link != "lock" { // verifying does not use these
				t.Error("verify followed a symbolic link")
			}
		})
	}
	left, err := os.ReadDir(elsewhere)
	must(t, err)
	if len(left) > 0 {
		t.Errorf("written elsewhere: %v", left)
	}
	if _, err := Open(Options{}); err == nil {
		t.Error("a store without a folder was opened")
	}
}

// A command that briefly reads the folder does not prevent a host from starting.
func TestLockIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	reader, err := Open(Options{Dir: dir})
	must(t, err)
	opened := make(chan error, 1)
	go func() {
		s, err := Open(Options{Dir: dir, LockWait: 20 * time.Second})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("opened beside another: %v", err)
	case <-time.After(3 * lockLook):
	}
	must(t, reader.Close())
	if err := <-opened; err != nil {
		t.Errorf("after the other had gone: %v", err)
	}
}
