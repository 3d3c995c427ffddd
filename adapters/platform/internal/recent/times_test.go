package recent

import (
	"fmt"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	const n = 100
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	times := NewTimes(n, time.Hour, func() time.Time { return now })
	for _, c := range []struct {
		after time.Duration
		key   string
		want  bool
	}{
		{0, "a", true},
		{0, "a", false},
		{0, "b", true},
		{time.Hour - 1, "a", false},
		{1, "a", true},
		{-24 * time.Hour, "a", true}, // the clock was set back
		{0, "a", false},
	} {
		now = now.Add(c.after)
		if within := times.Within(c.key); within == c.want {
			t.Errorf("%v later, %s is within the window: %t", c.after, c.key, within)
		}
		if got := times.Pass(c.key); got != c.want {
			t.Errorf("%v later, %s: %t", c.after, c.key, got)
		}
	}
	for i := range 3 * n {
		times.Note(fmt.Sprint("person ", i))
	}
	if kept := times.last.Len(); kept > 2*n {
		t.Fatalf("%d keys are known", kept)
	}
	off := NewTimes(n, 0, func() time.Time { return now })
	if off.Note("a"); off.Within("a") || off.last.Len() > 0 {
		t.Error("without a window somebody is remembered")
	}
}
