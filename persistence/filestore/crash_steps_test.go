package filestore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// long is a turn that fills several pages.
func long(n, bytes int) uimessage.Message {
	m := storetest.Turn(n)
	m.Parts = []uimessage.Part{uimessage.Text{Text: strings.Repeat("0123456789abcdef", bytes/16)}}
	return m
}

func edited(m uimessage.Message) uimessage.Message {
	m.Parts = []uimessage.Part{uimessage.Text{Text: "edited"}}
	return m
}

func record(n int64, f journal.Fact) []journal.Record {
	return []journal.Record{{N: n, TS: n, Fact: f}}
}

func metaOf(ids ...string) journal.Meta {
	return journal.Meta{Version: 1, IngressIDs: ids, Pinned: []string{"skill"}, N: int64(len(ids))}
}

// protocol is every kind of step in the life of a chat, in the order of
// docs/design/0002-journal.md.
func protocol() []step {
	row := journal.Row{Key: journal.RowKey{MessageID: "a1", N: 1}, RunID: "r1", Text: "out"}
	return []step{
		{name: "wake", wake: true},
		{name: "first message", turns: storetest.Turns(1, 1)},
		{name: "run begins", note: record(1, journal.RunStarted{RunID: "r1", MessageID: "a1", Attempt: 1})},
		{name: "step and call", records: []journal.Record{
			{N: 2, TS: 2, Fact: journal.StepResponded{RunID: "r1", MessageID: "a1", Step: 1, Parts: storetest.Reply(1).Parts}},
			{N: 3, TS: 3, Fact: journal.ToolStarted{RunID: "r1", CallID: "c1"}},
		}},
		{name: "outcome", records: record(4, journal.ToolFinished{RunID: "r1", MessageID: "a1", Part: uimessage.Tool{ToolCallID: "c1", Name: "x", State: uimessage.ToolInputAvailable}})},
		{name: "lane", records: record(5, journal.TurnAccepted{Turn: long(2, 9000)})},
		{name: "edit in the lane", records: record(6, journal.TurnReplaced{Turn: storetest.Turn(2)})},
		{name: "merge", records: record(7, journal.TurnsMerged{RunID: "r1", Step: 2, Closed: storetest.Reply(1), Turns: []string{"u2"}, MessageID: "a2"})},
		{name: "egress", records: record(8, journal.EgressQueued{Row: row}), reloaded: true},
		{name: "part sent", records: record(9, journal.EgressSent{Key: row.Key, Part: 0, MessageID: "77"})},
		{name: "finish", records: record(10, journal.RunFinished{RunID: "r1", Message: long(3, 5000), Result: journal.ResultDone, Rows: []journal.Row{row}})},
		{name: "checkpoint with an open row", checkpoint: &journal.Checkpoint{
			History: []uimessage.Message{storetest.Reply(1), storetest.Turn(2), long(3, 5000)}, Ledger: storetest.Entries(10, 10),
			Meta: metaOf("i1", "i2"), Rest: record(11, journal.EgressQueued{Row: row}),
		}},
		{name: "receipt", records: record(12, journal.EgressSettled{Key: row.Key, Outcome: journal.EgressDelivered, Receipts: []string{"77"}})},
		{name: "checkpoint to nothing", checkpoint: &journal.Checkpoint{Ledger: storetest.Entries(12, 12), Meta: metaOf("i1", "i2", "i3")}, reloaded: true},
		{name: "ignored ingress", records: record(13, journal.IngressSettled{Ingress: journal.Ingress{ID: "i4", Seq: 4}, Fate: journal.FateIgnored})},
		{name: "passivation, checkpoint", checkpoint: &journal.Checkpoint{Ledger: storetest.Entries(13, 13), Meta: metaOf("i2", "i3", "i4")}},
		{name: "passivation, rest", rest: true},
		{name: "wake again", wake: true},
		{name: "turn of an idle chat", turns: []uimessage.Message{long(4, 3000)}},
		{name: "turn superseded", turns: []uimessage.Message{edited(long(4, 3000)), storetest.Turn(5)}},
		{name: "two facts after rest", records: storetest.Facts(20, 23)},
		{name: "checkpoint into a new ledger file", checkpoint: &journal.Checkpoint{
			History: []uimessage.Message{storetest.Reply(5)}, Ledger: storetest.Entries(20, 23), Meta: metaOf("other", "ids"),
		}},
		{name: "compaction", rewrite: &journal.Rewrite{ArchiveID: "c1", At: crashAt(), To: 3, Insert: []uimessage.Message{storetest.Reply(50)}, Meta: metaOf("other", "ids", "c")}, reloaded: true},
		{name: "turn behind the compaction", turns: storetest.Turns(6, 7)},
		{name: "lane again", records: storetest.Facts(24, 25)},
		{name: "checkpoint behind it", checkpoint: &journal.Checkpoint{History: []uimessage.Message{storetest.Reply(6)}, Ledger: storetest.Entries(24, 25), Meta: metaOf("ids", "c", "d")}},
		{name: "context switch", rewrite: &journal.Rewrite{ArchiveID: "c2", At: crashAt(), To: 7, Insert: []uimessage.Message{storetest.Turn(60)}, Meta: metaOf("d")}},
		{name: "rewind without an archive", rewrite: &journal.Rewrite{From: 0, To: 1, Insert: []uimessage.Message{long(61, 6000)}, Meta: metaOf("d", "e")}},
		{name: "notes", note: storetest.Facts(30, 31)},
		{name: "more notes", note: storetest.Facts(32, 33)},
		{name: "forced by the next", records: storetest.Facts(34, 34)},
		{name: "last checkpoint", checkpoint: &journal.Checkpoint{History: storetest.Turns(70, 72), Ledger: storetest.Entries(30, 34), Meta: metaOf("d", "e", "f")}},
		{name: "last rest", rest: true},
	}
}

// A power cut after any operation of any step leaves everything acknowledged, once and in order;
// unacknowledged data is there completely, not at all, or as a prefix; a rewritten history is
// either the old or the new one; the chat continues and survives a second cut.
func TestST2PowerCutAfterEveryOperation(t *testing.T) {
	limit := 32
	if soak() {
		limit = 600
	}
	l := newLife(t, limit, 1)
	l.run(protocol())
	t.Logf("%d states at %d points", l.count, l.points)
	if l.count < 800 {
		t.Errorf("only %d states", l.count)
	}
}

// The same for a life in which everything is rewritten at once, so that every page is new: the old
// or the new file, complete.
func TestST11PowerCutInRewrites(t *testing.T) {
	limit := 40
	if soak() {
		limit = 1000
	}
	steps := []step{{name: "wake", wake: true}}
	var turns []uimessage.Message
	for n := range 6 {
		turns = append(turns, long(n+1, 2500))
	}
	steps = append(steps, step{name: "turns", turns: turns})
	for n := range 4 {
		steps = append(steps, step{name: fmt.Sprint("rewrite ", n), rewrite: &journal.Rewrite{
			ArchiveID: fmt.Sprint("x", n), At: crashAt(), From: n % 2, To: n%2 + 2,
			Insert: []uimessage.Message{long(100+n, 1000+3000*n)}, Meta: metaOf(fmt.Sprint("m", n)),
		}})
	}
	l := newLife(t, limit, 2)
	l.run(steps)
	t.Logf("%d states at %d points", l.count, l.points)
}
