package adapter

import (
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A chat that has not made a receipt durable after keptWait is informed again, then at growing
// intervals.
const (
	keptWait    = time.Second
	longestKept = 30 * time.Second
)

// receipt is what was reported to a chat and is not confirmed yet. No other send of the chat starts
// before that, so that a crash hides at most one send.
type receipt struct {
	progressed messages.EgressProgressed
	delivered  messages.EgressDelivered
	whole      bool // EgressDelivered is to be confirmed, not EgressProgressed
	parts      int  // as the confirmation will name them
	reported   int
	timer      *time.Timer
}

func (r *receipt) row() messages.RowID {
	if r.whole {
		return r.delivered.Row
	}
	return r.progressed.Row
}

// keptDue reports that a receipt may have been lost.
type keptDue struct {
	key      messages.ChatKey
	row      messages.RowID
	reported int
}

// tell reports to the chat, now and until it confirms.
func (a *adapter) tell(ac actor.Context, l *lane) {
	r := l.kept
	r.reported++
	if r.whole {
		ac.Request(a.Router, r.delivered)
	} else {
		ac.Request(a.Router, r.progressed)
	}
	waits := backoff.Exponential{First: keptWait, Longest: longestKept}
	r.timer = a.home.After(waits.Wait(r.reported-1), keptDue{l.key, r.row(), r.reported})
}

func (a *adapter) onKeptDue(ac actor.Context, msg keptDue) {
	if l := a.find(msg.key); l != nil && l.kept != nil && l.kept.row() == msg.row && l.kept.reported == msg.reported && a.ctx.Err() == nil {
		a.tell(ac, l)
	}
}

func (a *adapter) onKept(msg messages.EgressKept) {
	l := a.find(msg.ChatKey)
	if l == nil || l.kept == nil || l.kept.row() != msg.Row || l.kept.parts != msg.Parts {
		return
	}
	l.kept.timer.Stop()
	l.kept = nil
}

// partID is the name of a row's message, the same after a crash.
func partID(row messages.RowID) string { return row.MessageID + "/" + strconv.Itoa(row.N) }

// ended notes that a call of a lane has ended; it returns nil if it was not the current one.
func (a *adapter) ended(key messages.ChatKey, call uint64) *lane {
	l := a.find(key)
	if l == nil || l.call != call {
		return nil
	}
	l.call = 0
	return l
}

// noteWait notes a wait that the service asks for.
func (a *adapter) noteWait(l *lane, e *platform.Error, now time.Time) {
	if e.Reason != platform.SendRate {
		return
	}
	if until := now.Add(e.RetryAfter); until.After(l.after) {
		l.after, l.away = until, false
	}
	if e.Remembered {
		return // the service asked only this chat
	}
	if wait := a.limits.refused(l.key, now, e.RetryAfter); wait > 0 {
		a.Logger.Warn("the service has limited several chats in a row; nothing is sent to any chat during the wait", "component", "adapter", "wait", wait.String())
	}
}

// look sets a timer for a lane, unless an earlier one is set already.
func (a *adapter) look(l *lane, wait time.Duration) {
	at := time.Now().Add(wait)
	if !l.timer.IsZero() && !l.timer.After(at) {
		return
	}
	l.timer = at
	a.home.After(wait, due{l.key, at})
}
