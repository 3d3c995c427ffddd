package schedule

import (
	"fmt"
	"strings"
	"time"
)

// ParseZone finds a time zone by its name, for example Europe/Berlin.
func ParseZone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("%w: a time zone has a name like Europe/Berlin", ErrSchedule)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q is not a time zone; write a name like Europe/Berlin or UTC", ErrSchedule, name)
	}
	return zone, nil
}

// ParseWhen reads a single time: RFC 3339, or the clock of the zone like
// 2026-03-29 09:30. A time that the clocks skip is right after the gap, and of two equal
// ones the first is meant.
func ParseWhen(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.In(zone), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if n, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return instant(n, zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: %q is not a time; write one like 2026-03-29 09:30 or 2026-03-29T09:30:00+02:00", ErrSchedule, shorten(text))
}

// ParseFuture is ParseWhen for a time that comes within [MaxDelay].
func ParseFuture(text string, zone *time.Location, now time.Time) (time.Time, error) {
	when, err := ParseWhen(text, zone)
	if err == nil && (!when.After(now) || when.Sub(now) > MaxDelay) {
		const stamp = "Mon 2006-01-02 15:04 MST"
		err = fmt.Errorf("%w: %s is in the past or more than five years from now; the time is now %s", ErrSchedule, when.Format(stamp), now.In(zone).Format(stamp))
	}
	return when, err
}

func shorten(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
