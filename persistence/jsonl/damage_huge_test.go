package jsonl

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// A line of 64 MiB is read like any other.
func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	b := newBench(t, Options{FS: lazyFS()})
	huge := storetest.Turn(2)
	huge.Parts = []uimessage.Part{uimessage.Text{Text: strings.Repeat("long ", 64<<20/5)}}
	file := appendTurn(nil, storetest.Turn(1))
	file = appendTurn(file, huge)
	b.spoil(t, historyName, appendTurn(file, storetest.Turn(3)))
	snap := b.load(t)
	if len(snap.History) != 3 || len(snap.Damage) != 0 || persistence.Text(snap.History[1]) != persistence.Text(huge) {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
	// Damaged, it is set aside as a whole, in time that grows with its length only.
	file[len(file)/2] = 0x01
	b.spoil(t, historyName, appendTurn(file, storetest.Turn(3)))
	snap = b.load(t)
	if len(snap.History) != 2 || len(snap.Damage) != 1 || snap.Damage[0].Bytes < 64<<20 {
		t.Fatalf("%d turns, damage %+v", len(snap.History), snap.Damage)
	}
}
