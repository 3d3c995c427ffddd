package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/quoting"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// longLedger is a ledger of any number of entries that counts those that were read.
type longLedger struct {
	decision.Archive

	n    int64
	at   func(n int64) journal.LedgerEntry
	read int
}

func (l *longLedger) Ledger(context.Context) iter.Seq2[journal.LedgerEntry, error] {
	return func(yield func(journal.LedgerEntry, error) bool) {
		for n := l.n; n > 0; n-- {
			l.read++
			if !yield(l.at(n), nil) {
				return
			}
		}
	}
}

// What a command says of the ledger costs the same in a chat that is years old.
func TestWhyReadsLittle(t *testing.T) {
	const all = 1_000_000
	for _, tt := range []struct {
		name, id string
		ignored  int64 // the only message without an answer
		want     int64
		read     int
	}{
		{"a message that was answered", fmt.Sprint(all - 100), all - 50, all - 100, 101},
		{"the newest without an answer", "", all - 50, all - 50, 51},
		{"a message that is not there", "x", all - 50, all - 50, explained},
		{"all were answered", "", 1, 0, explained},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &longLedger{n: all, at: func(n int64) journal.LedgerEntry {
				e := journal.LedgerEntry{N: n, TS: n, Dir: journal.DirIn, MessageID: fmt.Sprint(n), Fate: journal.FateAnswered}
				if n == tt.ignored {
					e.Fate = journal.FateIgnored
				}
				return e
			}}
			c := &Chat{Base: decision.Base{Store: l, State: &journal.State{}}}
			got := int64(0)
			if e := c.why(tt.id); e != nil {
				got = e.N
			}
			if got != tt.want || l.read != tt.read {
				t.Errorf("entry %d after %d entries, want %d after %d", got, l.read, tt.want, tt.read)
			}
		})
	}
}

// The messages that a group's turn quotes are looked for only since the turn before, and no more of them than are quoted.
func TestQuotesReadLittle(t *testing.T) {
	const all = 1_000_000
	for _, tt := range []struct {
		name  string
		turn  int64 // number of the last turn
		taken int64 // recalls the message in front of it
		words int64 // the first message of people
		want  []string
		read  int
	}{
		{"many", 10, 0, 0, []string{"999998", "999999", "1000000"}, 4},
		{"few", all - 2, 0, 0, []string{"999999", "1000000"}, 3},
		{"recalled", all - 3, all, 0, []string{"999998"}, 4},
		{"few and no turn", 0, 0, all - 1, []string{"999999", "1000000"}, 10_001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &longLedger{n: all, at: func(n int64) journal.LedgerEntry {
				e := journal.LedgerEntry{N: n, TS: n, Dir: journal.DirIn, MessageID: fmt.Sprint(n), Fate: journal.FateIgnored, Text: fmt.Sprint(n)}
				if n == tt.taken {
					e.MessageID, e.Text, e.Reason = fmt.Sprint(n-1), "", decision.ReasonRecalled
				}
				if n < tt.words {
					e.Dir = journal.DirOut
				}
				return e
			}}
			base := decision.Base{Options: &decision.Options{GroupContext: func(messages.ChatKey) int { return 3 }}, Store: l, State: &journal.State{History: []journal.Turn{{Message: uimessage.Message{Role: uimessage.RoleUser}, Meta: uimessage.Metadata{TS: tt.turn}}}}}
			q := quoting.Quoting{Base: &base}
			meta := q.WithQuotes(uimessage.Metadata{})
			var quotes []uimessage.Quoted
			for _, m := range meta.Extra {
				stdtest.Must(t, json.Unmarshal(m.Value, &quotes))
			}
			var got []string
			for _, m := range quotes {
				got = append(got, m.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || l.read != tt.read {
				t.Errorf("after %d entries, want %d (-want +got):\n%s", l.read, tt.read, diff)
			}
		})
	}
}
