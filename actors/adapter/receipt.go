package adapter

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A chat that has not made a receipt durable after keptWait is told again, then
// less and less often.
const (
	keptWait    = time.Second
	longestKept = 30 * time.Second
)

// receipt is what a chat was told and has not confirmed. No other send of the
// chat begins before it has: a crash then hides one send at most.
type receipt struct {
	progressed messages.EgressProgressed
	delivered  messages.EgressDelivered
	whole      bool // delivered counts, not progressed
	parts      int  // as the confirmation will name them
	told       int
	timer      *time.Timer
}

func (r *receipt) row() messages.RowID {
	if r.whole {
		return r.delivered.Row
	}
	return r.progressed.Row
}

// keptDue: a receipt may have got lost.
type keptDue struct {
	key  messages.ChatKey
	row  messages.RowID
	told int
}

// tell tells the chat, now and until it confirms.
func (a *adapter) tell(ac actor.Context, l *lane) {
	r := l.kept
	r.told++
	if r.whole {
		ac.Request(a.Router, r.delivered)
	} else {
		ac.Request(a.Router, r.progressed)
	}
	waits := backoff.Exponential{First: keptWait, Longest: longestKept}
	r.timer = a.home.After(waits.Wait(r.told-1), keptDue{l.key, r.row(), r.told})
}

func (a *adapter) onKeptDue(ac actor.Context, msg keptDue) {
	if l := a.find(msg.key); l != nil && l.kept != nil && l.kept.row() == msg.row && l.kept.told == msg.told && a.ctx.Err() == nil {
		a.tell(ac, l)
	}
}

func (a *adapter) onKept(ac actor.Context, msg messages.EgressKept) {
	l := a.find(msg.ChatKey)
	if l == nil || l.kept == nil || l.kept.row() != msg.Row || l.kept.parts != msg.Parts {
		return
	}
	l.kept.timer.Stop()
	l.kept = nil
	a.pump(ac, l)
}
