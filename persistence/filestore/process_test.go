package filestore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// childEnv makes the test binary a writing process, and says how it writes.
const childEnv = "SMA_JSONL_TEST_CHILD"

func TestMain(m *testing.M) {
	mode, dir, _ := strings.Cut(os.Getenv(childEnv), ":")
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := child(mode, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(mode, dir string) error {
	ctx := context.Background()
	switch mode {
	case "lock":
		s, err := Open(Options{Dir: dir})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(os.Stdout, "locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent closes it
		return s.Close()
	case "write":
		return childWrite(ctx, dir)
	case "descriptors":
		return childDescriptors(ctx, dir)
	case "huge":
		return childHuge(ctx, dir)
	default:
		return fmt.Errorf("unknown mode %q", mode)
	}
}

const killChats = 8

func killKey(i int) messages.ChatKey { return messages.ChatKey(fmt.Sprint("kill-chat-", i)) }

// childWrite writes to several chats until it is killed and prints what was acknowledged: "<chat>
// <n>" once the n-th turn and record are durable.
func childWrite(ctx context.Context, dir string) error {
	s, err := Open(Options{Dir: dir, LedgerBytes: 20_000})
	if err != nil {
		return err
	}
	var mu sync.Mutex // keeps lines whole
	failed := make(chan error, killChats)
	for i := range killChats {
		go func() {
			failed <- childChat(ctx, s, i, func(n int64) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = fmt.Fprintln(os.Stdout, i, n)
			})
		}()
	}
	return <-failed
}

// childChat continues the chat: n turns, and n records, some of them in checkpoints.
func childChat(ctx context.Context, s *Store, i int, acknowledged func(int64)) error {
	c, err := s.OpenChat(ctx, killKey(i))
	if err != nil {
		return err
	}
	snap, err := c.Load(ctx)
	if err != nil {
		return err
	}
	n, err := checkKilled(c, snap)
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		if err := c.Wake(ctx); err != nil {
			return err
		}
		if len(snap.Journal) > 0 || !first {
			checkpoint := journal.Checkpoint{Ledger: storetest.Entries(n, n), Meta: journal.Meta{Version: 1, IngressIDs: []string{fmt.Sprint(n)}, N: n}}
			checkpoint.History = storetest.Turns(int(n), int(n))
			if err := c.Checkpoint(ctx, checkpoint); err != nil {
				return err
			}
		}
		n++
		if n%7 == 0 && n > 40 {
			// Keep the file short: the last turns stay.
			snap, err := c.Load(ctx)
			if err != nil {
				return err
			}
			r := journal.Rewrite{ArchiveID: fmt.Sprint("a", n), At: time.UnixMilli(n), To: len(snap.History) - 20, Meta: snap.Meta}
			if r.To > 0 {
				if err := c.Rewrite(ctx, r); err != nil {
					return err
				}
			}
		}
		if err := c.Append(ctx, journal.Record{N: n, TS: n, Fact: journal.TurnAccepted{Turn: storetest.Turn(int(n))}}); err != nil {
			return err
		}
		acknowledged(n)
	}
}

// checkKilled checks that a chat has its records from the first to the last, each once and in
// order, and returns the last one's number. The history may start later, if it was archived.
func checkKilled(c persistence.Chat, snap journal.Snapshot) (int64, error) {
	for _, d := range snap.Damage {
		if d.Why != "torn tail" {
			return 0, fmt.Errorf("damage %+v", d)
		}
	}
	last := int64(0)
	for i, m := range snap.History {
		n, err := strconv.ParseInt(strings.TrimPrefix(m.ID, "u"), 10, 64)
		if err != nil {
			return 0, err
		}
		if i > 0 && n != last+1 {
			return 0, fmt.Errorf("turn %d follows turn %d", n, last)
		}
		last = n
	}
	var ledger []journal.LedgerEntry
	for e, err := range c.Ledger(context.Background()) {
		if err != nil {
			return 0, err
		}
		ledger = append(ledger, e)
	}
	checkpointed, entries := int64(0), 0
	for _, e := range slices.Backward(ledger) {
		if entries%2 == 0 && e.N != checkpointed+1 || entries%2 == 1 && e.N != checkpointed {
			return 0, fmt.Errorf("ledger entry %d follows %d", e.N, checkpointed)
		}
		checkpointed = e.N
		entries++
	}
	if len(snap.Journal) > 1 {
		return 0, fmt.Errorf("%d records in the journal", len(snap.Journal))
	}
	if len(snap.Journal) == 1 {
		r := snap.Journal[0]
		if r.N != last && r.N != last+1 || checkpointed != r.N && checkpointed != r.N-1 {
			return 0, fmt.Errorf("journal %d, history up to %d, ledger up to %d", r.N, last, checkpointed)
		}
		return r.N, nil
	}
	if checkpointed != last || entries%2 != 0 {
		return 0, fmt.Errorf("history up to %d, %d entries up to %d", last, entries, checkpointed)
	}
	return last, nil
}

// start runs the test binary as another process.
func start(t *testing.T, mode, dir string, wrap ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	args := append(wrap, exe)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+mode+":"+dir)
	cmd.Stderr = &bytes.Buffer{}
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, in, bufio.NewReader(out)
}

// A writing process is killed at random moments: everything it acknowledged is there, once and in
// order, and the next process continues.
func TestST1KillAnywhere(t *testing.T) {
	kills := 15
	if os.Getenv("SOAK") != "" {
		kills = 500
	}
	dir := filepath.Join(t.TempDir(), "state")
	random := rand.New(rand.NewPCG(1, 2))
	acked := make([]int64, killChats)
	for kill := range kills {
		cmd, _, out := start(t, "write", dir)
		after := 1 + random.IntN(100)
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		for line := 0; ; line++ {
			text, err := out.ReadString('\n')
			if err != nil {
				break // killed
			}
			var chat int
			var n int64
			if _, err := fmt.Sscan(text, &chat, &n); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if n != acked[chat]+1 {
				t.Fatalf("kill %d: chat %d went on with %d after %d", kill, chat, n, acked[chat])
			}
			acked[chat] = n
			if line == after {
				must(t, cmd.Process.Kill())
			}
		}
		timer.Stop()
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.String() != "signal: killed" {
			t.Fatalf("kill %d: the writer ended by itself: %v\n%s", kill, err, cmd.Stderr)
		}
		checkDisk(t, dir, acked, kill)
	}
	t.Logf("%d kills, %d acknowledged", kills, acked)
}

// checkDisk checks what a killed process left: everything acknowledged, and at most one more record
// in each chat.
func checkDisk(t *testing.T, dir string, acked []int64, kill int) {
	t.Helper()
	s, err := Open(Options{Dir: dir})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	waking, err := s.Waking(t.Context())
	must(t, err)
	for i, n := range acked {
		c, err := s.OpenChat(t.Context(), killKey(i))
		must(t, err)
		snap, err := c.Load(t.Context())
		must(t, err)
		last, err := checkKilled(c, snap)
		if err != nil {
			t.Fatalf("kill %d, chat %d: %v", kill, i, err)
		}
		if last < n || last > n+1 {
			t.Fatalf("kill %d, chat %d: %d were acknowledged, %d are there", kill, i, n, last)
		}
		acked[i] = last // the next process continues after it
		if n > 0 && !strings.Contains(fmt.Sprint(waking), string(killKey(i))) {
			t.Fatalf("kill %d: chat %d is not to be woken", kill, i)
		}
	}
}
