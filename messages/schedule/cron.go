package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// Manual is the schedule of a task that only people start.
const Manual = "@manual"

// ErrSchedule is wrapped by every error of this package. Their texts are for people.
var ErrSchedule = errors.New("bad schedule")

const (
	// everyHour are the bits of a field with all hours.
	everyHour = 1<<24 - 1
	// shift is more than clocks were ever moved at once.
	shift = 26 * time.Hour
	// searchYears is how far a schedule looks for its next time: a leap day in a year
	// that ends a century is eight years from the one before.
	searchYears = 12
	// maxCount is how many missed times are counted.
	maxCount = 10_000
	// maxText is the longest schedule in bytes.
	maxText = 256
)

// Cron is a cron schedule in a time zone. The zero value is never due.
type Cron struct {
	spec    *cron.SpecSchedule // of local times; nil: never due
	zone    *time.Location
	rolling bool // it is due in every hour that passes
}

// ParseCron reads a schedule: five fields, @hourly, @daily, @weekly, @monthly, @yearly
// or [Manual].
func ParseCron(text string, zone *time.Location) (Cron, error) {
	text = strings.TrimSpace(text)
	bad := func(why string, args ...any) (Cron, error) {
		return Cron{}, fmt.Errorf("%w: %s", ErrSchedule, fmt.Sprintf(why, args...))
	}
	switch {
	case text == Manual:
		return Cron{zone: zone}, nil
	case len(text) > maxText:
		return bad("%d bytes, at most %d", len(text), maxText)
	case strings.Contains(text, "="):
		return bad("a time zone does not belong into it; write it into timezone")
	case strings.HasPrefix(text, "@every"), strings.HasPrefix(text, "@reboot"):
		return bad("%s is not known; write five fields, for example */5 * * * *", strings.Fields(text)[0])
	}
	parser, err := cron.TryNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom)
	if err != nil { // Unreachable: the options fit
		return bad("%v", err)
	}
	made, err := parser.WithMaxSearchYears(searchYears).Parse(text)
	if err != nil {
		return bad("%q is not a cron schedule; write minute, hour, day, month and weekday, for example 0 9 * * 1-5", text)
	}
	spec, ok := made.(*cron.SpecSchedule)
	if !ok {
		return bad("%q is not a cron schedule; write five fields, for example 0 9 * * 1-5", text)
	}
	spec.Location = time.UTC // local times are handed to it as if they were UTC
	if spec.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return bad("%q never comes", text)
	}
	return Cron{spec: spec, zone: zone, rolling: spec.Hour&everyHour == everyHour}, nil
}

// Next returns the first time after the given one, and false if there is none.
func (c Cron) Next(after time.Time) (time.Time, bool) {
	switch {
	case c.spec == nil:
		return time.Time{}, false
	case c.rolling:
		return c.nextRolling(after)
	}
	start := naive(after, c.zone)
	if since, _ := after.In(c.zone).ZoneBounds(); !since.IsZero() && after.Sub(since) < shift {
		start = start.Add(-shift)
	}
	for n := c.spec.Next(start.Add(-time.Second)); !n.IsZero(); n = c.spec.Next(n) {
		if t := instant(n, c.zone); t.After(after) {
			return t, true
		}
	}
	return time.Time{}, false
}

// nextRolling searches each span of time between two changes of the clocks.
func (c Cron) nextRolling(after time.Time) (time.Time, bool) {
	from := naive(after, c.zone)
	for {
		_, end := after.In(c.zone).ZoneBounds()
		n := c.spec.Next(from)
		if n.IsZero() {
			return time.Time{}, false
		}
		t := n.Add(-offset(after, c.zone))
		if end.IsZero() || t.Before(end) {
			return t.In(c.zone), true
		}
		after, from = end, naive(end, c.zone).Add(-time.Second)
	}
}

// Upcoming are the next n times after the given one, or fewer.
func (c Cron) Upcoming(after time.Time, n int) []time.Time {
	var out []time.Time
	for range n {
		t, ok := c.Next(after)
		if !ok {
			break
		}
		out, after = append(out, t), t
	}
	return out
}

// Missed returns the newest of the times after one and not after the other, and their
// number, which is counted up to 10,000.
func (c Cron) Missed(after, until time.Time) (newest time.Time, count int) {
	for count < maxCount {
		t, ok := c.Next(after)
		if !ok || t.After(until) {
			return newest, count
		}
		newest, after = t, t
		count++
	}
	for back := time.Minute; ; back *= 2 {
		t, ok := c.Next(until.Add(-back))
		if !ok || t.After(until) {
			continue
		}
		for ; ok && !t.After(until); t, ok = c.Next(t) {
			newest = t
		}
		return newest, count
	}
}

// offset is how far the clocks of a zone are ahead of UTC.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// naive is the time that the clocks of a zone show, as if it were UTC.
func naive(t time.Time, zone *time.Location) time.Time {
	return t.Add(offset(t, zone)).UTC()
}

// instant is when the clocks of a zone first show a time, or the end of the gap that the
// time is in.
func instant(n time.Time, zone *time.Location) time.Time {
	guess := time.Date(n.Year(), n.Month(), n.Day(), n.Hour(), n.Minute(), n.Second(), n.Nanosecond(), zone)
	start, end := guess.ZoneBounds()
	if !naive(guess, zone).Equal(n) {
		if !start.IsZero() && naive(start, zone).After(n) && naive(start.Add(-1), zone).Before(n) {
			return start
		}
		return end
	}
	if start.IsZero() {
		return guess
	}
	if early := n.Add(-offset(start.Add(-1), zone)); early.Before(start) {
		return early.In(zone)
	}
	return guess
}
