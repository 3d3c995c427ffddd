// Package storetest is the suite that every store of chats passes, and a store
// that fails on purpose for the tests of those who use one.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Fresh makes an empty store. What it holds must go when the test ends.
type Fresh func(t *testing.T) persistence.Store

// Reopen opens the data of a store anew without closing the store first, as
// after the death of its process.
type Reopen func(t *testing.T, old persistence.Store) persistence.Store

// Run checks a store against every sentence of the contract.
func Run(t *testing.T, fresh Fresh, reopen Reopen) {
	t.Helper()
	for _, tc := range []struct {
		name string
		test func(s *suite)
	}{
		{"an empty chat", testEmpty},
		{"journal", testJournal},
		{"record numbers", testNumbers},
		{"history", testHistory},
		{"superseding lines", testSupersede},
		{"metadata", testMetadata},
		{"checkpoint", testCheckpoint},
		{"checkpoint with a rest", testCheckpointRest},
		{"checkpoint replayed", testCheckpointReplayed},
		{"ledger", testLedger},
		{"rewrite", testRewrite},
		{"rewrite refused", testRewriteRefused},
		{"archive", testArchive},
		{"waking", testWaking},
		{"list of chats", testChats},
		{"hostile keys", testKeys},
		{"one handle", testOneHandle},
		{"closed", testClosed},
		{"cancelled", testCancelled},
		{"chats side by side", testParallel},
		{"unknown facts", testUnknownFacts},
		{"archived turns", testArchiveReader},
		{"contexts", testContexts},
		{"contexts refused", testContextsRefused},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.test(&suite{Store: fresh(t), t: t, reopen: reopen})
		})
	}
}

// suite is a store under test.
type suite struct {
	persistence.Store
	t      *testing.T
	reopen Reopen
}

// crash opens the data anew.
func (s *suite) crash() {
	s.t.Helper()
	s.Store = s.reopen(s.t, s.Store)
}

// open opens a chat that is closed when the test ends, and loads it.
func (s *suite) open(key messages.ChatKey) (persistence.Chat, journal.Snapshot) {
	t := s.t
	t.Helper()
	c, err := s.OpenChat(t.Context(), key)
	if err != nil {
		t.Fatalf("open %s: %v", key, err)
	}
	t.Cleanup(func() { _ = c.Close() }) // closed twice by some tests, which is fine
	return c, load(t, c)
}

// again opens the chat that most tests use, after a crash.
func (s *suite) again() (persistence.Chat, journal.Snapshot) {
	s.t.Helper()
	s.crash()
	return s.open(key)
}

func load(t *testing.T, c persistence.Chat) journal.Snapshot {
	t.Helper()
	snap, err := c.Load(t.Context())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if len(snap.Damage) > 0 {
		t.Fatalf("load found damage: %+v", snap.Damage)
	}
	return snap
}

// same compares what is stored; nil and empty are the same.
func same(t *testing.T, what string, want, got any) {
	t.Helper()
	stdtest.Diff(t, what, want, got, cmpopts.EquateEmpty())
}

// wantError checks an error of a store: its cause, and whether it says that
// nothing was changed.
func wantError(t *testing.T, err, cause error, retryable bool) {
	t.Helper()
	if !errors.Is(err, cause) {
		t.Fatalf("got error %v, want %v", err, cause)
	}
	var e *persistence.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *persistence.Error", err)
	}
	if e.Retryable != retryable {
		t.Errorf("%v: retryable is %v, want %v", err, e.Retryable, retryable)
	}
}

// Turn is a user turn for tests, with the n-th arrival number.
func Turn(n int) uimessage.Message { return turnOf(uimessage.RoleUser, "u", n) }

// Reply is an assistant turn for tests.
func Reply(n int) uimessage.Message { return turnOf(uimessage.RoleAssistant, "a", n) }

func turnOf(role uimessage.Role, prefix string, n int) uimessage.Message {
	meta := uimessage.Metadata{TS: 1_700_000_000_000 + int64(n), ChatKey: "test-chat-1", Seq: int64(n)}
	return uimessage.Message{
		ID: fmt.Sprintf("%s%d", prefix, n), Role: role, Metadata: meta.Raw(),
		Parts: []uimessage.Part{uimessage.Text{Text: fmt.Sprintf("text %d <&> 世界 \u2028 \"\\\n", n)}},
	}
}

// Turns are the user turns from first to last.
func Turns(first, last int) []uimessage.Message {
	var out []uimessage.Message
	for n := first; n <= last; n++ {
		out = append(out, Turn(n))
	}
	return out
}

// Facts are records with the numbers from first to last, of several kinds.
func Facts(first, last int64) []journal.Record {
	var out []journal.Record
	for n := first; n <= last; n++ {
		var f journal.Fact
		switch n % 4 {
		case 0:
			f = journal.TurnAccepted{Turn: Turn(int(n))}
		case 1:
			f = journal.StepResponded{RunID: "r", MessageID: "a", Step: int(n), Parts: []uimessage.Part{
				uimessage.Text{Text: "<>"}, uimessage.Tool{ToolCallID: "c", Name: "x", State: uimessage.ToolInputAvailable, Input: json.RawMessage(`{"a":"<"}`)},
			}}
		case 2:
			f = journal.ToolStarted{RunID: "r", CallID: fmt.Sprint("c", n)}
		default:
			f = journal.RunFinished{RunID: "r", Message: Reply(int(n)), Result: journal.ResultDone}
		}
		out = append(out, journal.Record{N: n, TS: 1_700_000_000_000 + n, Fact: f})
	}
	return out
}

// Entries are ledger entries with the numbers from first to last, two each.
func Entries(first, last int64) []journal.LedgerEntry {
	var out []journal.LedgerEntry
	for n := first; n <= last; n++ {
		out = append(out,
			journal.LedgerEntry{N: n, TS: n, Dir: journal.DirIn, MessageID: fmt.Sprint(n), Fate: journal.FateAnswered, Text: "in <&> 世"},
			journal.LedgerEntry{N: n, TS: n, Dir: journal.DirOut, TurnID: fmt.Sprint("a", n), Fate: journal.EgressDelivered, Receipt: []string{"1", "2"}},
		)
	}
	return out
}

// words are the ids and the texts of turns, without what a store adds to their metadata.
func words(turns []uimessage.Message) []string {
	var out []string
	for _, m := range turns {
		out = append(out, m.ID+journal.Text(m))
	}
	return out
}

func metaOf(n int64) journal.Meta {
	return journal.Meta{
		Version: 1, IngressIDs: []string{"x", fmt.Sprint("in", n)}, Pinned: []string{"skill"}, Model: "deep", Effort: "high", N: n, Seq: n,
		Counts: journal.Counts{Accepted: n, Fates: map[journal.Fate]int64{journal.FateAnswered: n}, Egress: map[string]int64{"delivered": n}},
	}
}

// ledger reads the entries of a ledger, oldest first.
func ledger(t *testing.T, c persistence.Chat) []journal.LedgerEntry {
	t.Helper()
	var out []journal.LedgerEntry
	for e, err := range c.Ledger(t.Context()) {
		stdtest.Must(t, err)
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

func chats(t *testing.T, s persistence.Store) []messages.ChatKey {
	t.Helper()
	var out []messages.ChatKey
	for key, err := range s.Chats(t.Context()) {
		stdtest.Must(t, err)
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

const key messages.ChatKey = "test-chat-1"

func at() time.Time { return time.UnixMilli(1_700_000_000_123) }

func background() context.Context { return context.Background() }
