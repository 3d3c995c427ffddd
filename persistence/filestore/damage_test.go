package filestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

const testKey = "test-chat-1"

// bench is a store with one chat whose files a test may damage.
type bench struct {
	*Store
	dir string
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{dir: filepath.Join(t.TempDir(), "state")}
	o.Dir = b.dir
	b.Store = openStore(t, o)
	return b
}

func (b *bench) file(name string) string { return filepath.Join(b.dir, chatsDir, testKey, name) }

// spoil writes a file of the chat as a fault would leave it.
func (b *bench) spoil(t *testing.T, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(b.file(name)), 0o700))
	must(t, os.WriteFile(b.file(name), data, 0o600))
}

func (b *bench) clear(t *testing.T) {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(b.dir, chatsDir, testKey)))
}

// chat opens the chat; the handle must be closed.
func (b *bench) chat(t *testing.T) *chat {
	t.Helper()
	opened, err := b.OpenChat(t.Context(), testKey)
	must(t, err)
	c, ok := opened.(*chat)
	if !ok {
		t.Fatalf("opened a %T", opened)
	}
	return c
}

// load opens the chat, loads it and closes it again.
func (b *bench) load(t *testing.T) journal.Snapshot {
	t.Helper()
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	snap, err := c.Load(t.Context())
	must(t, err)
	return snap
}

// quarantined returns the contents of the quarantine folder, sorted.
func (b *bench) quarantined(t *testing.T) []string {
	t.Helper()
	var out []string
	entries, err := os.ReadDir(b.file(quarantineDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(b.file(quarantineDir), e.Name()))
		must(t, err)
		out = append(out, string(data))
	}
	slices.Sort(out)
	return out
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// lines are the sealed lines of turns 1 to n, each with its newline.
func turnFile(n int) (whole []byte, ends []int) {
	for i := 1; i <= n; i++ {
		whole = linefile.AppendTurn(whole, storetest.Turn(i))
		ends = append(ends, len(whole))
	}
	return whole, ends
}

// lineFile is a kind of file for tests that treat all kinds alike.
type lineFile struct {
	name string
	line func(n int) []byte
	// held returns the numbers of the records that were read.
	held func(journal.Snapshot) []int
}

func lineFiles() []lineFile {
	return []lineFile{
		{
			historyName, func(n int) []byte { return linefile.AppendTurn(nil, storetest.Turn(n)) },
			func(s journal.Snapshot) (out []int) {
				for _, m := range s.History {
					var n int
					_, _ = fmt.Sscanf(m.ID, "u%d", &n)
					if cmp.Equal(m, storetest.Turn(n)) {
						out = append(out, n)
					}
				}
				return out
			},
		},
		{
			journalName, func(n int) []byte { return linefile.AppendRecord(nil, storetest.Facts(int64(n), int64(n))[0]) },
			func(s journal.Snapshot) (out []int) {
				for _, r := range s.Journal {
					if cmp.Equal(r, storetest.Facts(r.N, r.N)[0]) {
						out = append(out, int(r.N))
					}
				}
				return out
			},
		},
		{
			ledgerName, func(n int) []byte { return linefile.AppendEntry(nil, storetest.Entries(int64(n), int64(n))[0]) },
			func(s journal.Snapshot) (out []int) {
				for n := range int(s.LedgerN) {
					out = append(out, n+1)
				}
				return out
			},
		},
		{
			metaLogName, func(n int) []byte {
				return linefile.AppendSealed(nil, func(b []byte) []byte {
					return fmt.Appendf(b, `{"gen":0,"folded":0,"ids":["%d"],"meta":{"v":1,"pinned":["p"],"seq":%d,"counts":{"accepted":%d}}}`, n, n, n)
				})
			},
			func(s journal.Snapshot) (out []int) {
				for _, id := range s.Meta.IngressIDs {
					n, _ := strconv.Atoi(id)
					out = append(out, n)
				}
				return out
			},
		},
	}
}

// soak reports whether full counts are requested.
func soak() bool { return os.Getenv("SOAK") != "" }

// often is how many times a test does something.
func often(plain, full int) int {
	if soak() {
		return full
	}
	return plain
}

func upTo(n int) (out []int) {
	for i := 1; i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// goOn appends to the chat in every way and checks the result.
func (b *bench) goOn(t *testing.T, before journal.Snapshot) {
	t.Helper()
	c := b.chat(t)
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: before.Meta}))
	must(t, c.AppendHistory(t.Context(), storetest.Turn(90)))
	must(t, c.Append(t.Context(), storetest.Facts(91, 92)...))
	must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: storetest.Entries(91, 92), Meta: before.Meta, Rest: storetest.Facts(93, 93)}))
	must(t, c.Close())
	snap := b.load(t)
	equal(t, "history", append(slices.Clone(before.History), storetest.Turn(90)), snap.History)
	equal(t, "journal", storetest.Facts(93, 93), snap.Journal)
	if snap.LedgerN != 92 {
		t.Fatalf("LedgerN %d, want 92", snap.LedgerN)
	}
}
