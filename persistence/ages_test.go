package persistence

import (
	"testing"
	"time"
)

func TestAges(t *testing.T) {
	var a Ages
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	add := func(age time.Duration, n int32) { a.Add(now.Add(-age).UnixMilli(), n) }
	steps := []struct {
		name string
		do   func()
		want time.Duration
	}{
		{"nothing", func() {}, 0},
		{"one", func() { add(5*time.Minute, 1) }, 5 * time.Minute},
		{"a younger one", func() { add(time.Minute, 2) }, 5 * time.Minute},
		{"the old one goes", func() { add(5*time.Minute, -1) }, time.Minute},
		{"one of two goes", func() { add(time.Minute, -1) }, time.Minute},
		{"a day old", func() { add(LongestAge, 1) }, LongestAge},
		{"it ages", func() { now = now.Add(12 * time.Hour) }, LongestAge + 12*time.Hour},
		{"all go", func() { add(LongestAge+12*time.Hour, -1); add(12*time.Hour+time.Minute, -1) }, 0},
		{"before 1970", func() { a.Add(-5, 1); a.Add(-5, -1) }, 0},
	}
	for _, s := range steps {
		if s.do(); a.Oldest(now) != s.want {
			t.Errorf("%s: oldest %v, want %v", s.name, a.Oldest(now), s.want)
		}
	}
}
