package shard

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages"
)

// TestTableMachine compares a table with a plain list of its chats in the order of their use: both
// must agree on the idle chats, the oldest chat, and the total size, whatever is asked to stop,
// down or gone.
func TestTableMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table, now := newTable(), time.UnixMilli(0)
		var used []*entry // the least recently used first
		pick := func(t *rapid.T) *entry {
			if len(used) == 0 {
				t.Skip("empty")
			}
			return rapid.SampledFrom(used).Draw(t, "chat")
		}
		next := 0
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				next++
				key := messages.ChatKey("telegram-chat-" + strconv.Itoa(next))
				e := &entry{key: key, pid: &actor.PID{Id: string(key)}, last: now, bytes: rapid.Int64Range(0, 9).Draw(t, "bytes")}
				table.add(e)
				used = append(used, e)
			},
			"touch": func(t *rapid.T) {
				e := pick(t)
				table.touch(e, now)
				used = append(slices.DeleteFunc(used, func(o *entry) bool { return o == e }), e)
			},
			"size":  func(t *rapid.T) { table.size(pick(t), rapid.Int64Range(0, 99).Draw(t, "bytes")) },
			"ask":   func(t *rapid.T) { pick(t).asked = causeIdle },
			"busy":  func(t *rapid.T) { pick(t).asked = "" },
			"leave": func(t *rapid.T) { pick(t).leaving = true },
			"crash": func(t *rapid.T) { pick(t).crash.next(now) },
			"up":    func(t *rapid.T) { pick(t).crash.revived(now) },
			"gone": func(t *rapid.T) {
				e := pick(t)
				table.remove(e)
				used = slices.DeleteFunc(used, func(o *entry) bool { return o == e })
			},
			"pass": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) { agree(t, table, used, now.Add(-time.Minute)) },
		})
	})
}

func agree(t *rapid.T, table *table, used []*entry, since time.Time) {
	var idle []*entry
	var oldest *entry
	bytes := int64(0)
	for _, e := range used {
		bytes += e.bytes
		if table.byKey[e.key] != e || table.byPID[e.pid.Id] != e {
			t.Fatalf("%s is not found", e.key)
		}
		if e.asked != "" || e.leaving || e.crash.down {
			continue
		}
		if oldest == nil {
			oldest = e
		}
		if !e.last.After(since) {
			idle = append(idle, e)
		}
	}
	switch {
	case len(table.byKey) != len(used) || len(table.byPID) != len(used) || table.used.Len() != len(used):
		t.Fatalf("%d keys, %d actors, %d used; want %d", len(table.byKey), len(table.byPID), table.used.Len(), len(used))
	case table.bytes != bytes:
		t.Fatalf("%d bytes, want %d", table.bytes, bytes)
	case table.oldest() != oldest:
		t.Fatalf("another one is the oldest")
	case !slices.Equal(table.idle(since), idle):
		t.Fatalf("%d are idle, want %d", len(table.idle(since)), len(idle))
	}
}
