package botkit

import (
	"fmt"
	"testing"
	"time"
)

func TestHourly(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := newHourly(func() time.Time { return now })
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
		if got := h.pass(c.key); got != c.want {
			t.Errorf("%v later, %s: %t", c.after, c.key, got)
		}
	}
	for i := range 3 * maxHourly {
		h.pass(fmt.Sprint("person ", i))
	}
	if n := h.last.Len(); n > 2*maxHourly {
		t.Fatalf("%d keys are known", n)
	}
}
