package filestore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// liver generates the life of a chat.
type liver struct {
	random  *rand.Rand
	ids     []string // ingresses
	turn    int      // last numbers used
	record  int64
	archive int
	history int // messages
	live    []int64
}

func (l *liver) turns(most int) (out []uimessage.Message) {
	for range 1 + l.random.IntN(most) {
		l.turn++
		m := storetest.Turn(l.turn)
		if l.random.IntN(3) == 0 {
			m = long(l.turn, 16+l.random.IntN(9000))
		}
		out = append(out, m)
	}
	l.history += len(out)
	return out
}

func (l *liver) records() (out []journal.Record) {
	for range 1 + l.random.IntN(3) {
		l.record += 1 + int64(l.random.IntN(2))
		r := storetest.Facts(l.record, l.record)
		if l.random.IntN(4) == 0 {
			r = record(l.record, journal.TurnAccepted{Turn: long(int(l.record), 16+l.random.IntN(9000))})
		}
		out = append(out, r...)
		l.live = append(l.live, l.record)
	}
	return out
}

func (l *liver) meta() journal.Meta {
	l.ids = append(l.ids, fmt.Sprint("i", len(l.ids), l.random.IntN(100)))
	if l.random.IntN(5) == 0 {
		l.ids = []string{"all", "others"}
	}
	return metaOf(l.ids[l.random.IntN(len(l.ids)):]...)
}

func (l *liver) checkpoint() step {
	f := &journal.Checkpoint{Meta: l.meta()}
	for _, n := range l.live {
		f.Ledger = append(f.Ledger, storetest.Entries(n, n)...)
	}
	if l.random.IntN(4) > 0 {
		f.History = l.turns(4)
	}
	l.live = nil
	if l.random.IntN(4) == 0 {
		f.Rest = l.records()
	}
	return step{name: "checkpoint", checkpoint: f, reloaded: l.random.IntN(3) == 0}
}

func (l *liver) rewrite() step {
	from := l.random.IntN(l.history + 1)
	to := from + l.random.IntN(l.history-from+1)
	l.history -= to - from
	r := &journal.Rewrite{At: crashAt(), From: from, To: to, Insert: l.turns(2), Meta: l.meta()}
	if l.random.IntN(3) > 0 {
		l.archive++
		r.ArchiveID = fmt.Sprint("r", l.archive)
	}
	return step{name: "rewrite", rewrite: r}
}

// steps returns n steps, after which the chat rests.
func (l *liver) steps(n int) []step {
	out := []step{{name: "wake", wake: true}}
	for len(out) < n {
		switch k := l.random.IntN(12); {
		case k < 3 && len(l.live) == 0:
			out = append(out, step{name: "turns", turns: l.turns(3), reloaded: k == 0})
		case k < 6:
			out = append(out, step{name: "records", records: l.records()})
		case k < 8:
			out = append(out, step{name: "notes", note: l.records()})
		case k < 10:
			out = append(out, l.checkpoint())
		case k < 11 && l.history > 0:
			out = append(out, l.rewrite())
		case k == 11 && len(l.live) == 0:
			out = append(out, step{name: "rest", rest: true}, step{name: "wake", wake: true})
		}
	}
	return append(out, l.checkpoint(), step{name: "rest", rest: true})
}

// Lives generated from a seed survive a power cut at any operation too.
func TestST2PowerCutInRandomLives(t *testing.T) {
	lives, limit, steps := 2, 3, 12
	if soak() {
		lives, limit, steps = 16, 60, 20
	}
	count, points := 0, 0
	for seed := range uint64(lives) {
		l := newLife(t, limit, seed*1_000_000)
		l.run((&liver{random: rand.New(rand.NewPCG(seed, 9))}).steps(steps))
		count, points = count+l.count, points+l.points
	}
	t.Logf("%d states at %d points of %d lives", count, points, lives)
}
