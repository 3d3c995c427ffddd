package modelgate

import (
	"container/list"
	"time"
)

// line is the pure part: who waits, who holds a slot, and the minute's budget.
// No operation takes longer when more wait.
type line struct {
	max       int // calls at once
	perMinute int // 0: no limit
	holders   map[string]bool
	waiting   *list.List // of run ids, the longest waiting first
	places    map[string]*list.Element
	spent     []time.Time // of the calls of the last minute, oldest first
}

func newLine(maxCalls, perMinute int) *line {
	return &line{
		max: maxCalls, perMinute: perMinute,
		holders: map[string]bool{}, waiting: list.New(), places: map[string]*list.Element{},
	}
}

// ask puts a run in the line, once.
func (l *line) ask(run string) {
	if !l.holders[run] && l.places[run] == nil {
		l.places[run] = l.waiting.PushBack(run)
	}
}

// release takes a run out of the line or gives its slot back.
func (l *line) release(run string) {
	delete(l.holders, run)
	if place := l.places[run]; place != nil {
		l.waiting.Remove(place)
		delete(l.places, run)
	}
}

// admit returns who may call now, and, when the minute's budget is what holds
// the others back, how long it is until the next may.
func (l *line) admit(now time.Time) (granted []string, wait time.Duration) {
	for l.waiting.Len() > 0 && len(l.holders) < l.max {
		if wait := l.spend(now); wait > 0 {
			return granted, wait
		}
		run, _ := l.waiting.Remove(l.waiting.Front()).(string) // nothing else is in it
		delete(l.places, run)
		l.holders[run] = true
		granted = append(granted, run)
	}
	return granted, 0
}

// spend takes one call of the minute's budget, or says how long there is none.
func (l *line) spend(now time.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	for len(l.spent) > 0 && now.Sub(l.spent[0]) >= time.Minute {
		l.spent = l.spent[1:]
	}
	if len(l.spent) >= l.perMinute {
		return time.Minute - now.Sub(l.spent[0])
	}
	l.spent = append(l.spent, now)
	return 0
}
