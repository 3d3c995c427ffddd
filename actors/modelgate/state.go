package modelgate

import (
	"container/list"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// line is the pure part: who waits, who has a slot, and the minute's budget. Askers are runs, named
// by their actors. The cost of an operation does not depend on how many wait.
type line struct {
	max       int // calls at once; 0 means no limit
	perMinute int // 0 means no limit
	holders   map[string]bool
	chats     *list.List // of *queue, the chat whose turn is next first
	places    map[messages.ChatKey]*list.Element
	waiting   map[string]*queue // by asker
	spent     []time.Time       // of the calls of the last minute, oldest first
}

// queue is the askers of one chat, the longest waiting first. Usually there is one; while a run
// replaces another there may be two.
type queue struct {
	chat   messages.ChatKey
	askers []string
}

func newLine(maxCalls, perMinute int) *line {
	return &line{
		max: maxCalls, perMinute: perMinute,
		holders: map[string]bool{}, chats: list.New(), places: map[messages.ChatKey]*list.Element{}, waiting: map[string]*queue{},
	}
}

// emptied returns a line without askers and slots that keeps this one's minute budget.
func (l *line) emptied() *line {
	fresh := newLine(l.max, l.perMinute)
	fresh.spent = l.spent
	return fresh
}

// ask adds an asker to the queue of its chat, once.
func (l *line) ask(chat messages.ChatKey, asker string) {
	if l.holders[asker] || l.waiting[asker] != nil {
		return
	}
	q := &queue{chat: chat}
	if place := l.places[chat]; place != nil {
		q, _ = place.Value.(*queue) // the list contains nothing else
	} else {
		l.places[chat] = l.chats.PushBack(q)
	}
	q.askers = append(q.askers, asker)
	l.waiting[asker] = q
}

// release removes an asker from the line or returns its slot.
func (l *line) release(asker string) {
	delete(l.holders, asker)
	q := l.waiting[asker]
	if q == nil {
		return
	}
	delete(l.waiting, asker)
	for i, a := range q.askers {
		if a == asker {
			q.askers = append(q.askers[:i], q.askers[i+1:]...)
			break
		}
	}
	if len(q.askers) == 0 {
		l.leave(q)
	}
}

func (l *line) leave(q *queue) {
	l.chats.Remove(l.places[q.chat])
	delete(l.places, q.chat)
}

// admit returns who may call now. If only the minute's budget delays the others, it also returns
// the wait until the next call.
func (l *line) admit(now time.Time) (granted []string, wait time.Duration) {
	for l.chats.Len() > 0 && (l.max == 0 || len(l.holders) < l.max) {
		if wait := l.spend(now); wait > 0 {
			return granted, wait
		}
		granted = append(granted, l.next())
	}
	return granted, 0
}

// next gives a slot to the chat whose turn it is. If that chat has more askers, it goes to the end
// of the line.
func (l *line) next() string {
	place := l.chats.Front()
	q, _ := place.Value.(*queue) // the list contains nothing else
	asker := q.askers[0]
	q.askers = q.askers[1:]
	delete(l.waiting, asker)
	l.holders[asker] = true
	if len(q.askers) == 0 {
		l.leave(q)
	} else {
		l.chats.MoveToBack(place)
	}
	return asker
}

// spend takes one call from the minute's budget, or returns how long it is exhausted.
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
