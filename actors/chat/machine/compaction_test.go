package machine

import (
	"testing"
	"time"
)

// A clock that was ahead and goes back does not keep a chat from compacting until it is there again.
func TestTriesOfAClockThatWasAhead(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		tries []time.Duration // from now
		want  int
	}{
		{"recent ones", []time.Duration{-59 * time.Minute, -time.Minute}, 2},
		{"old ones", []time.Duration{-61 * time.Minute, -time.Minute}, 1},
		{"of a day ahead", []time.Duration{24 * time.Hour, 25 * time.Hour}, 0},
		{"of a year ahead, and a new one", []time.Duration{365 * 24 * time.Hour, -time.Minute}, 1},
	} {
		f := compacting{}
		for _, at := range tt.tries {
			f.tries = append(f.tries, now.Add(at).UnixMilli())
		}
		if got := f.open(now); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
