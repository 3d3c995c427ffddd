package shard

import (
	"container/list"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// letter is a message that waits for its chat's next activation.
type letter struct {
	msg    any
	sender *actor.PID
}

// entry is one chat that is active, or on its way out.
type entry struct {
	key     messages.ChatKey
	pid     *actor.PID
	sent    uint64 // messages sent to this activation
	last    time.Time
	asked   bool
	leaving bool // stopped, not gone yet: letters wait
	buf     []letter
	place   *list.Element // in the table's order of use
}

// table holds the bucket's chats, by key, by actor and by last use.
type table struct {
	byKey map[messages.ChatKey]*entry
	byPID map[string]*entry
	used  *list.List // of *entry, the longest unused first
}

func newTable() *table {
	return &table{byKey: map[messages.ChatKey]*entry{}, byPID: map[string]*entry{}, used: list.New()}
}

func (t *table) add(e *entry) {
	t.byKey[e.key], t.byPID[e.pid.Id] = e, e
	e.place = t.used.PushBack(e)
}

func (t *table) remove(e *entry) {
	delete(t.byKey, e.key)
	delete(t.byPID, e.pid.Id)
	t.used.Remove(e.place)
}

// touch notes a use.
func (t *table) touch(e *entry, now time.Time) {
	e.last = now
	t.used.MoveToBack(e.place)
}

// idle are the chats not used since the time, that are not asked yet.
func (t *table) idle(since time.Time) []*entry {
	var out []*entry
	for el := t.used.Front(); el != nil; el = el.Next() {
		e, ok := el.Value.(*entry)
		if !ok || e.last.After(since) {
			break
		}
		if !e.asked && !e.leaving {
			out = append(out, e)
		}
	}
	return out
}
