package idlemem

import "testing"

func TestMemoryIsReturnedOnceWorkEnds(t *testing.T) {
	const mb = 1 << 20
	var h heap
	for i, look := range []struct {
		more uint64 // allocated since the check before
		want bool
	}{
		{20 * mb, false}, // busy
		{20 * mb, false},
		{100, true}, // the work has ended
		{100, false},
		{3 * mb, false},
		{100, false}, // too little, too soon
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, false},
		{100, true}, // 30 seconds later it is worth it
		{100, false},
		{400 << 10, false}, // slow work
		{400 << 10, false},
		{400 << 10, false},
		{0, false},
	} {
		if got := h.check(h.allocated + look.more); got != look.want {
			t.Errorf("look %d: check(+%d) = %v, want %v", i, look.more, got, look.want)
		}
	}
}
