package adapter

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// due reports that a lane may continue.
type due struct {
	key messages.ChatKey
	at  time.Time
}

// lineDue reports that the account may send again.
type lineDue struct{}

// reachable reports that the platform works again.
type reachable struct{}

// pump starts the lane's next call, unless something delays it.
func (a *adapter) pump(ac actor.Context, l *lane) {
	if l == nil || !l.free() || a.closing {
		return
	}
	now := time.Now()
	if len(l.queue) == 0 {
		a.pumpDraft(l, now)
		a.forget(l, now)
		return
	}
	j := l.queue[0]
	if j.parts == nil {
		a.plan(l, j)
		return
	}
	if made := l.shown(j); made.ID != "" {
		a.arrived(ac, l, j, made) // a call that changes nothing is not made
		return
	}
	if wait := l.wait(now); wait > 0 {
		a.look(l, wait)
		return
	}
	if len(a.line) > 0 || a.limits.wait(now) > 0 {
		l.inLine = true
		a.line = append(a.line, l)
		a.armLine(now)
		return
	}
	a.send(l, j, now)
}

func (a *adapter) onDue(msg due) {
	l := a.find(msg.key)
	if l == nil || !l.timer.Equal(msg.at) {
		return
	}
	l.timer = time.Time{}
}

// armLine sets a timer for when the account's limits allow the next send.
func (a *adapter) armLine(now time.Time) {
	if a.lined || len(a.line) == 0 || a.closing {
		return
	}
	a.lined = true
	a.home.After(a.limits.wait(now), lineDue{})
}

// onLineDue lets the lanes at the front of the line make one send each.
func (a *adapter) onLineDue(ac actor.Context) {
	a.lined = false
	now := time.Now()
	for len(a.line) > 0 && a.limits.wait(now) == 0 && !a.closing {
		l := a.line[0]
		a.line[0] = nil
		a.line, l.inLine, a.at = a.line[1:], false, l
		switch {
		case !l.free() || len(l.queue) == 0 || l.queue[0].parts == nil || l.wait(now) > 0:
			a.pump(ac, l)
		default:
			a.send(l, l.queue[0], now)
		}
	}
	a.armLine(now)
}

// hurry continues lanes that wait only because the platform was unreachable.
func (a *adapter) hurry(ac actor.Context) {
	a.back = time.Now()
	for _, key := range a.keys() {
		if l := a.find(key); l.away {
			l.after, l.away = time.Time{}, false
			a.pump(ac, l)
		}
	}
}

// forget drops an empty lane, once its windows no longer count.
func (a *adapter) forget(l *lane, now time.Time) {
	if len(l.queue) > 0 || !l.free() || l.draft != nil {
		return
	}
	if rest := max(l.after.Sub(now), l.chat.rest(now), l.group.rest(now)); rest > 0 {
		a.look(l, rest)
		return
	}
	delete(a.lanes, l.key)
}
