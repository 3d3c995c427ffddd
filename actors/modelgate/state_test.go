package modelgate

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestLineIsFair(t *testing.T) {
	l := newLine(2, 0)
	for _, run := range []string{"a", "b", "c", "d", "a"} {
		l.ask(messages.ChatKey(run), run)
	}
	got, _ := l.admit(time.Time{})
	l.release("b")
	l.ask("b", "b") // waits after the others
	next, _ := l.admit(time.Time{})
	l.release("a")
	l.release("d") // withdraws its request
	last, _ := l.admit(time.Time{})
	stdtest.Diff(t, "admitted", [][]string{{"a", "b"}, {"c"}, {"b"}}, [][]string{got, next, last})
}

// A chat with many askers gets one turn a round, like the others.
func TestLineTakesChatsInTurn(t *testing.T) {
	l := newLine(1, 0)
	for _, run := range []string{"a1", "a2", "a3", "b1", "c1", "c2"} {
		l.ask(messages.ChatKey(run[:1]), run)
	}
	var got []string
	for granted, _ := l.admit(time.Time{}); len(granted) > 0; granted, _ = l.admit(time.Time{}) {
		got = append(got, granted...)
		l.release(granted[0])
	}
	stdtest.Diff(t, "admitted", []string{"a1", "b1", "c1", "a2", "c2", "a3"}, got)
}

func TestLineKeepsTheMinutesBudget(t *testing.T) {
	l := newLine(10, 2)
	now := time.Unix(0, 0)
	for _, run := range []string{"a", "b", "c"} {
		l.ask(messages.ChatKey(run), run)
	}
	first, wait := l.admit(now)
	if len(first) != 2 || wait != time.Minute {
		t.Fatalf("admitted %q, the next in %v", first, wait)
	}
	if early, wait := l.admit(now.Add(59 * time.Second)); len(early) != 0 || wait != time.Second {
		t.Errorf("admitted %q after 59 seconds, the next in %v", early, wait)
	}
	if late, _ := l.admit(now.Add(time.Minute)); len(late) != 1 {
		t.Errorf("admitted %q after a minute", late)
	}
}

// Whatever is requested and released: at most max slots are in use, no asker has two, a free slot
// never waits while an asker does, and a waiting asker is overtaken at most once by each asker of
// the other chats.
func TestLineHoldsItsBounds(t *testing.T) {
	askers := []string{"a1", "a2", "b1", "b2", "c1", "d1"}
	rapid.Check(t, func(t *rapid.T) {
		l := newLine(rapid.IntRange(1, 4).Draw(t, "max"), 0)
		run := rapid.SampledFrom(askers)
		passed := map[string]map[string]int{} // for each waiting asker, the turns of other chats since
		admit := func(t *rapid.T) {
			granted, _ := l.admit(time.Time{})
			for _, g := range granted {
				delete(passed, g)
				for who, by := range passed {
					if who[:1] == g[:1] {
						clear(by) // a turn of its own chat
						continue
					}
					if by[g[:1]]++; by[g[:1]] > 1 {
						t.Fatalf("%s waits while chat %s had two turns", who, g[:1])
					}
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				who := run.Draw(t, "run")
				if !l.holders[who] && passed[who] == nil {
					passed[who] = map[string]int{}
				}
				l.ask(messages.ChatKey(who[:1]), who)
				admit(t)
			},
			"release": func(t *rapid.T) {
				who := run.Draw(t, "run")
				delete(passed, who)
				l.release(who)
				admit(t)
			},
			"": func(t *rapid.T) {
				waiting := 0
				for e := l.chats.Front(); e != nil; e = e.Next() {
					q, _ := e.Value.(*queue)
					waiting += len(q.askers)
				}
				if len(l.holders) > l.max || waiting != len(l.waiting) || l.chats.Len() != len(l.places) || len(l.holders) < l.max && waiting > 0 {
					t.Fatalf("%d of %d slots held, %d wait as %d in %d of %d places", len(l.holders), l.max, waiting, len(l.waiting), l.chats.Len(), len(l.places))
				}
			},
		})
	})
}
