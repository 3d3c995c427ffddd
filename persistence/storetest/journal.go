package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func testEmpty(s *suite) {
	t := s.t
	c, snap := s.open(key)
	same(t, "snapshot of a chat that is not there", journal.Snapshot{}, snap)
	if n := len(ledger(t, c)); n != 0 {
		t.Errorf("%d ledger entries", n)
	}
	stdtest.Must(t, c.Append(t.Context()))
	stdtest.Must(t, c.Note(t.Context()))
	stdtest.Must(t, c.AppendHistory(t.Context()))
	if got := chats(t, s); len(got) != 0 {
		t.Errorf("a chat that was never written to is listed: %q", got)
	}
}

func testJournal(s *suite) {
	t := s.t
	want := Facts(1, 9)
	c, _ := s.open(key)
	stdtest.Must(t, c.Append(t.Context(), want[:2]...))
	stdtest.Must(t, c.Note(t.Context(), want[2]))
	stdtest.Must(t, c.Append(t.Context(), want[3:7]...))
	same(t, "journal", want[:7], load(t, c).Journal)
	c, snap := s.again()
	same(t, "journal after a crash", want[:7], snap.Journal)
	stdtest.Must(t, c.Note(t.Context(), want[7:]...))
	_, snap = s.again()
	same(t, "journal with notes after the end of the process", want, snap.Journal)
}

// A number is used once. A later record with the same number would look like a
// copy after a crash, so it is refused.
func testNumbers(s *suite) {
	t := s.t
	c, _ := s.open(key)
	refused := func(records ...journal.Record) {
		t.Helper()
		var e *persistence.Error
		for _, err := range []error{c.Append(t.Context(), records...), c.Note(t.Context(), records...)} {
			if !errors.As(err, &e) || !e.Retryable {
				t.Fatalf("got %v, want a refusal that changes nothing", err)
			}
		}
	}
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 3)...))
	refused(Facts(3, 4)...)
	refused(Facts(4, 4)[0], Facts(4, 4)[0])
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: metaOf(3)}))
	refused(Facts(2, 2)...)
	c, _ = s.again()
	refused(Facts(3, 3)...)
	stdtest.Must(t, c.Append(t.Context(), Facts(4, 4)...))
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: metaOf(7), Rest: Facts(6, 7)}))
	refused(Facts(7, 8)...)
	stdtest.Must(t, c.Append(t.Context(), Facts(8, 8)...))
	_, snap := s.again()
	same(t, "journal", Facts(6, 8), snap.Journal)
}

func testHistory(s *suite) {
	t := s.t
	want := Turns(1, 5)
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), want[:2]...))
	stdtest.Must(t, c.AppendHistory(t.Context(), want[2]))
	same(t, "history", want[:3], load(t, c).History)
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 1)...))
	err := c.AppendHistory(t.Context(), want[3])
	wantError(t, err, persistence.ErrNotCut, true)
	stdtest.Must(t, c.Append(t.Context(), Facts(2, 2)...))
	c, snap := s.again()
	same(t, "history after a crash", want[:3], snap.History)
	same(t, "journal after a crash", Facts(1, 2), snap.Journal)
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: metaOf(2)}))
	stdtest.Must(t, c.AppendHistory(t.Context(), want[3:]...))
	_, snap = s.again()
	same(t, "history after checkpoint and append", want, snap.History)
	for _, m := range []uimessage.Message{{ID: "", Role: uimessage.RoleUser}, {ID: "x", Role: uimessage.RoleSystem}, {ID: "x"}} {
		c, _ := s.OpenChat(t.Context(), "refused")
		if err := c.AppendHistory(t.Context(), m); err == nil {
			t.Errorf("a message with id %q and role %q was taken", m.ID, m.Role)
		}
		stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1)))
		stdtest.Must(t, c.Close())
	}
}

func testSupersede(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 4)...))
	edited := Turn(2)
	edited.Parts = []uimessage.Part{uimessage.Text{Text: "edited"}}
	want := []uimessage.Message{Turn(1), edited, Turn(3), Turn(4), Turn(5)}
	stdtest.Must(t, c.AppendHistory(t.Context(), edited, Turn(5)))
	same(t, "history", want, load(t, c).History)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(4))) // unchanged
	_, snap := s.again()
	same(t, "history after a crash", want, snap.History)
}

func testMetadata(s *suite) {
	t := s.t
	with := func(id, raw string) uimessage.Message {
		m := uimessage.Message{ID: id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: id}}}
		if raw != "" {
			m.Metadata = json.RawMessage(raw)
		}
		return m
	}
	want := []uimessage.Message{
		with("none", ""), with("null", "null"), with("string", `"x"`), with("array", `[1]`), with("foreign", `{"a":1,"b":{"seq":3}}`),
		with("numbered", `{"a":1,"seq":7}`), with("only", `{"seq":12}`), with("nested", `{"a":{"seq":7}}`), with("tricky", `{"a":"\"seq\":7"}`),
		with("sum", `{"sum":"0","seq":8}`), with("odd", `{"seq":"x"}`),
	}
	noParts := with("no parts", `{"seq":1}`)
	noParts.Parts = nil
	want = append(want, noParts)
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), want...))
	_, snap := s.again()
	same(t, "history", want, snap.History)
}

func testUnknownFacts(s *suite) {
	t := s.t
	want := []journal.Record{
		{N: 1, TS: 1, Fact: journal.UnknownFact{Kind: "teleport", Raw: json.RawMessage(`{"to":[1,{"z":"<"}]}`)}},
		{N: 2, TS: 1, Fact: journal.UnknownFact{Kind: "call", Raw: json.RawMessage(`{"runId":"r","callId":"c","newer":1}`)}},
	}
	c, _ := s.open(key)
	stdtest.Must(t, c.Append(t.Context(), want...))
	_, snap := s.again()
	same(t, "journal", want, snap.Journal)
}

func testCheckpoint(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1)))
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 5)...))
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: []uimessage.Message{Reply(2), Turn(3)}, Ledger: Entries(4, 5), Meta: metaOf(5)}))
	want := journal.Snapshot{History: []uimessage.Message{Turn(1), Reply(2), Turn(3)}, Meta: metaOf(5), LedgerN: 5}
	same(t, "snapshot", want, load(t, c))
	c, snap := s.again()
	same(t, "snapshot after a crash", want, snap)
	same(t, "ledger", Entries(4, 5), ledger(t, c))
	stdtest.Must(t, c.Append(t.Context(), Facts(6, 7)...))
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: Entries(7, 7), Meta: metaOf(7)}))
	want.Meta, want.LedgerN = metaOf(7), 7
	c, snap = s.again()
	same(t, "snapshot after the second checkpoint", want, snap)
	same(t, "ledger after the second checkpoint", slices.Concat(Entries(4, 5), Entries(7, 7)), ledger(t, c))
}

func testCheckpointRest(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 3)...))
	rest := Facts(4, 6)
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: Turns(1, 1), Ledger: Entries(2, 3), Meta: metaOf(6), Rest: rest}))
	want := journal.Snapshot{History: Turns(1, 1), Journal: rest, Meta: metaOf(6), LedgerN: 3}
	same(t, "snapshot", want, load(t, c))
	stdtest.Must(t, c.Append(t.Context(), Facts(7, 7)...))
	want.Journal = Facts(4, 7)
	c, snap := s.again()
	same(t, "snapshot after a crash", want, snap)
	wantError(t, c.AppendHistory(t.Context(), Turn(9)), persistence.ErrNotCut, true)
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: metaOf(7)}))
	_, snap = s.again()
	want.Journal, want.Meta = nil, metaOf(7)
	same(t, "snapshot after the rest went", want, snap)
}

func testCheckpointReplayed(s *suite) {
	t := s.t
	checkpoint := journal.Checkpoint{History: []uimessage.Message{Turn(1), Reply(2)}, Ledger: Entries(1, 3), Meta: metaOf(3)}
	want := journal.Snapshot{History: checkpoint.History, Meta: metaOf(3), LedgerN: 3}
	c, _ := s.open(key)
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 3)...))
	for i := range 3 {
		stdtest.Must(t, c.Checkpoint(t.Context(), checkpoint))
		var snap journal.Snapshot
		c, snap = s.again()
		same(t, fmt.Sprintf("snapshot after checkpoint %d", i+1), want, snap)
		same(t, fmt.Sprintf("ledger after checkpoint %d", i+1), Entries(1, 3), ledger(t, c))
	}
	// A record whose entries are there in part is completed.
	checkpoint.Ledger = append(Entries(1, 3), journal.LedgerEntry{N: 3, Dir: journal.DirIn, MessageID: "late"})
	stdtest.Must(t, c.Checkpoint(t.Context(), checkpoint))
	c, _ = s.again()
	same(t, "ledger after its last record was completed", checkpoint.Ledger, ledger(t, c))
}

func testLedger(s *suite) {
	t := s.t
	c, _ := s.open(key)
	entries := Entries(1, 400)
	for i := 0; i < len(entries); i += 100 {
		stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Ledger: entries[i : i+100], Meta: metaOf(entries[i+99].N)}))
	}
	same(t, "ledger", entries, ledger(t, c))
	// The chat may be used while its ledger is read, and reading may stop.
	n := 0
	for e, err := range c.Ledger(t.Context()) {
		stdtest.Must(t, err)
		stdtest.Must(t, c.Wake(t.Context()))
		if n++; e.N == 398 {
			break
		}
	}
	if n != 5 {
		t.Errorf("read %d entries down to the third record from the end, want 5", n)
	}
	_, snap := s.again()
	if snap.LedgerN != 400 {
		t.Errorf("LedgerN %d, want 400", snap.LedgerN)
	}
}

func testCancelled(s *suite) {
	t := s.t
	c, _ := s.open(key)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, c.Append(ctx, Facts(1, 1)...), context.Canceled, true)
	wantError(t, c.AppendHistory(ctx, Turn(1)), context.Canceled, true)
	wantError(t, c.Checkpoint(ctx, journal.Checkpoint{}), context.Canceled, true)
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 1)...))
	_, snap := s.again()
	same(t, "journal", Facts(1, 1), snap.Journal)
}
