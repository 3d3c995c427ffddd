package recent_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

// However much is stored, at most twice the bound is kept, including the newest values.
func TestMap(t *testing.T) {
	const n = 100
	m := recent.New[int, int](n)
	for i := range 10 * n {
		m.Put(i, -i)
		m.Put(i, i)
		if m.Len() > 2*n {
			t.Fatalf("%d values are remembered", m.Len())
		}
		for _, back := range []int{0, n - 1} {
			if got, ok := m.Get(i - back); i >= back && (!ok || got != i-back) {
				t.Fatalf("after %d, the value before %d others is %d, %v", i, back, got, ok)
			}
		}
	}
	if _, ok := m.Get(0); ok {
		t.Error("nothing is forgotten")
	}
	m.Update(1, func(_ int, known bool) int {
		if known {
			t.Error("the first value is known")
		}
		return 7
	})
	m.Update(1, func(old int, known bool) int {
		if !known || old != 7 {
			t.Errorf("an update sees %d, %v", old, known)
		}
		return old + 1
	})
	if got, _ := m.Get(1); got != 8 {
		t.Errorf("got %d", got)
	}
}
