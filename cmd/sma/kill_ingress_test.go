package main

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// TestIO1KillsBetweenFetchAndConfirm kills the process between the platform's
// answer with messages, the append to the history and the confirmation. Every
// message is in the history once, in the order of its chat, and each has a fate.
func TestIO1KillsBetweenFetchAndConfirm(t *testing.T) {
	const chats = 4
	var sum tally
	inWorlds(t, worlds(2, 3), few(6, 300), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newKillWorld(t, path, chats, "direct", modeltest.NewFunc(acknowledge), random)
		for range kills {
			w.talk(1+random.IntN(5), chats)
			w.killAt(t, w.fetchTrap(), func() { w.talk(random.IntN(3), chats) })
		}
		w.checkIngress(t, w.rest(t), &sum)
		sum.add("acknowledged", int(w.tap.confirmed())-firstUpdate)
		sum.add("kills", w.kills)
	})
	sum.report(t, "IO1")
	if sum.counts["lost"]+sum.counts["doubled"] > 0 {
		t.Errorf("%d messages lost, %d twice in a history", sum.counts["lost"], sum.counts["doubled"])
	}
}

// firstUpdate is the id of a fake's first update.
const firstUpdate = 1000

func (w *killWorld) talk(messages, chats int) {
	for range messages {
		chat := 1 + w.random.Int64N(int64(chats))
		w.say(chat, "please "+w.next(chat))
	}
}

// fetchTrap is a moment around a poll that returned messages: mostly the few milliseconds in which they are appended,
// sometimes the confirmation itself.
func (w *killWorld) fetchTrap() trap {
	brought := func(method string, _ map[string]any, answer []byte) bool {
		return method == "getUpdates" && bytes.Contains(answer, []byte("update_id"))
	}
	before := w.tap.confirmed()
	confirms := func(method string, params map[string]any, _ []byte) bool {
		offset, _ := params["offset"].(float64)
		return method == "getUpdates" && int64(offset) > before
	}
	delay := time.Duration(w.random.Int64N(int64(4 * time.Millisecond)))
	switch w.random.IntN(8) {
	case 0:
		return trap{at: effected, wants: brought} // handed out, and nobody got it
	case 1:
		return trap{at: arrived, wants: confirms}
	case 2:
		return trap{at: begun, wants: confirms}
	case 3:
		return trap{at: answered, wants: brought, delay: 15 * delay}
	default:
		return trap{at: answered, wants: brought, delay: delay}
	}
}

// checkIngress holds the histories against what was said.
func (w *killWorld) checkIngress(t *testing.T, books map[int64]book, sum *tally) {
	t.Helper()
	for chat, said := range w.said {
		b := books[chat]
		times := map[string]int{}
		for _, words := range b.users {
			times[words]++
		}
		for _, words := range said {
			switch n := times[words]; {
			case n == 0:
				sum.add("lost", 1)
			case n > 1:
				sum.add("doubled", n-1)
			}
		}
		if diff := cmp.Diff(said, b.users); diff != "" {
			t.Errorf("chat %d: user turns of the history (-said +got):\n%s", chat, diff)
		}
		b.balanced(t, "chat", len(said))
		sum.add("said", len(said))
	}
	if faults := w.model.Faults(); len(faults) > 0 {
		t.Errorf("the model was asked wrongly: %v", faults)
	}
}
