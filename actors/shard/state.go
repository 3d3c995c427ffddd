package shard

import (
	"container/list"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
)

// letter is a message that waits for its chat.
type letter struct {
	msg    any
	sender *actor.PID
}

// cause is why a chat is removed from memory. It is a metric label.
type cause string

// The causes.
const (
	causeIdle   cause = "idle"
	causeChats  cause = "chats"  // the host has too many chats in memory
	causeMemory cause = "memory" // the host's chats use too much memory
	causeOrder  cause = "order"  // an operator ordered it
	causeStop   cause = "stop"   // the host stops, or the chat ended by itself
)

// entry is one chat that is active or stopping.
type entry struct {
	key     messages.ChatKey
	pid     *actor.PID
	sent    uint64 // number of the last message sent to it
	last    time.Time
	asked   cause // why it was asked to stop; empty if it was not
	leaving bool  // stopped but not terminated: letters wait
	bytes   int64 // its own estimate
	buf     []letter
	orderer *actor.PID    // the operator waiting for it to stop; nil if it was not ordered to
	place   *list.Element // in the table's order of use

	crash crash
}

// waits reports whether letters to the chat wait here.
func (e *entry) waits() bool { return e.leaving || e.crash.down }

// largeTable is how many chats at once make the tables large enough to be replaced.
const largeTable = 8

// table holds the bucket's chats, by key, by actor and by last use.
type table struct {
	byKey map[messages.ChatKey]*entry
	byPID map[string]*entry
	used  *list.List // of *entry, the least recently used first
	bytes int64
	most  int // most chats at once since the table was last empty
}

func newTable() *table {
	return &table{byKey: map[messages.ChatKey]*entry{}, byPID: map[string]*entry{}, used: list.New()}
}

func (t *table) add(e *entry) {
	t.byKey[e.key], t.byPID[e.pid.Id] = e, e
	e.place = t.used.PushBack(e)
	t.bytes += e.bytes
	t.most = max(t.most, len(t.byKey))
}

func (t *table) remove(e *entry) {
	delete(t.byKey, e.key)
	delete(t.byPID, e.pid.Id)
	t.used.Remove(e.place)
	t.bytes -= e.bytes
	if len(t.byKey) > 0 {
		return
	}
	if t.most > largeTable { // maps never shrink
		t.byKey, t.byPID = map[messages.ChatKey]*entry{}, map[string]*entry{}
	}
	t.most = 0
}

// size notes the size of a chat and returns the change.
func (t *table) size(e *entry, bytes int64) (by int64) {
	by = bytes - e.bytes
	e.bytes = bytes
	t.bytes += by
	return by
}

// touch notes a use.
func (t *table) touch(e *entry, now time.Time) {
	e.last = now
	t.used.MoveToBack(e.place)
}

// idle returns the chats not used since the time and not asked yet.
func (t *table) idle(since time.Time) []*entry {
	var out []*entry
	for el := t.used.Front(); el != nil; el = el.Next() {
		e, ok := el.Value.(*entry)
		if !ok || e.last.After(since) {
			break
		}
		if e.free() {
			out = append(out, e)
		}
	}
	return out
}

// oldest returns the least recently used chat that may be asked to stop, or nil.
func (t *table) oldest() *entry {
	for el := t.used.Front(); el != nil; el = el.Next() {
		if e, ok := el.Value.(*entry); ok && e.free() {
			return e
		}
	}
	return nil
}

// free reports whether the chat is neither asked to stop, nor stopping, nor down.
func (e *entry) free() bool { return e.asked == "" && !e.waits() }

// active describes the chats, the least recently used first.
func (t *table) active() []messages.ActiveChat {
	out := make([]messages.ActiveChat, 0, len(t.byKey))
	for el := t.used.Front(); el != nil; el = el.Next() {
		if e, ok := el.Value.(*entry); ok {
			out = append(out, messages.ActiveChat{
				ChatKey: e.key, Last: e.last, Bytes: e.bytes, Waiting: len(e.buf), Panics: e.crash.count, Ending: e.leaving, Down: e.crash.down, Parked: e.crash.parked,
			})
		}
	}
	return out
}
