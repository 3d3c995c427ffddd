package host

import "testing"

func TestCrowdIsGoneOnce(t *testing.T) {
	var c crowd
	for i, look := range []struct {
		active int
		want   bool
	}{
		{0, false},
		{200, false},
		{0, false},
		{0, false}, // too few to matter
		{10_000, false},
		{2_600, false},
		{2_400, false}, // more are leaving
		{2_400, true},
		{2_400, false},
		{2_300, false},
		{500, false},
		{510, true}, // of those too
		{300, false},
		{0, false},
		{0, true},
		{0, false},
		{255, false},
		{0, false},
		{0, false},
		{256, false},
		{0, false},
		{0, true}, // the next crowd
	} {
		if got := c.gone(look.active); got != look.want {
			t.Errorf("look %d: gone(%d) = %v, want %v", i, look.active, got, look.want)
		}
	}
}
