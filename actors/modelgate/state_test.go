package modelgate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLineIsFair(t *testing.T) {
	l := newLine(2, 0)
	for _, run := range []string{"a", "b", "c", "d", "a"} {
		l.ask(run)
	}
	got, _ := l.admit(time.Time{})
	l.release("b")
	l.ask("b") // goes behind those that wait
	next, _ := l.admit(time.Time{})
	l.release("a")
	l.release("d") // changes its mind
	last, _ := l.admit(time.Time{})
	if diff := cmp.Diff([][]string{{"a", "b"}, {"c"}, {"b"}}, [][]string{got, next, last}); diff != "" {
		t.Errorf("admitted (-want +got):\n%s", diff)
	}
}

func TestLineKeepsTheMinutesBudget(t *testing.T) {
	l := newLine(10, 2)
	now := time.Unix(0, 0)
	for _, run := range []string{"a", "b", "c"} {
		l.ask(run)
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

// Whatever is asked and given back: never more than max hold a slot, nobody
// holds one twice, and a free slot never waits for somebody in the line.
func TestLineHoldsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLine(rapid.IntRange(1, 4).Draw(t, "max"), 0)
		run := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		t.Repeat(map[string]func(*rapid.T){
			"ask":     func(t *rapid.T) { l.ask(run.Draw(t, "run")); l.admit(time.Time{}) },
			"release": func(t *rapid.T) { l.release(run.Draw(t, "run")); l.admit(time.Time{}) },
			"": func(t *rapid.T) {
				if len(l.holders) > l.max || l.waiting.Len() != len(l.places) || len(l.holders) < l.max && l.waiting.Len() > 0 {
					t.Fatalf("%d of %d slots held, %d wait in %d places", len(l.holders), l.max, l.waiting.Len(), len(l.places))
				}
			},
		})
	})
}
