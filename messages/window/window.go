// Package window has the parts of the calendar that spending limits are for, and the names that limits have.
package window

import (
	"strings"
	"time"
)

// Window is a part of the calendar.
type Window int

// The windows, and how many there are.
const (
	Day Window = iota
	Hour
	Month
	Count
)

// String is the name of a window in those of settings.
func (w Window) String() string { return [...]string{"Day", "Hour", "Month"}[w] }

// Of is the window of a limit, by the name of the limit, as in chatTokensPerDay. Limits of a run have none.
func Of(limit string) (w Window, ok bool) {
	for w := range Count {
		if strings.HasSuffix(limit, "Per"+w.String()) {
			return w, true
		}
	}
	return 0, false
}

// Name names the part of the calendar that a time is in. When the clocks go back, an hour follows that has its own name.
func (w Window) Name(t time.Time) string {
	return t.Format([...]string{time.DateOnly, "2006-01-02T15-0700", "2006-01"}[w])
}

// BeginOfHour is when the hour that t is in begins, in the zone of t.
func BeginOfHour(t time.Time) time.Time {
	return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
}

// End is when the window that t is in ends, in the zone of t.
func (w Window) End(t time.Time) (end time.Time) {
	switch w {
	case Hour:
		return BeginOfHour(t).Add(time.Hour)
	case Month:
		end = time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, t.Location())
	case Day, Count:
		end = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
	}
	if w.Name(end) == w.Name(t) { // the clocks skip midnight
		_, end = end.ZoneBounds()
	}
	return end
}
