package schedule

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// fields is a schedule as the oracle knows it: the values that fit; nil: all do.
type fields struct{ minute, hour, dom, month, dow []int }

func (f fields) text() string {
	word := func(values []int) string {
		if values == nil {
			return "*"
		}
		var out []string
		for _, v := range values {
			out = append(out, strconv.Itoa(v))
		}
		return strings.Join(out, ",")
	}
	return strings.Join([]string{word(f.minute), word(f.hour), word(f.dom), word(f.month), word(f.dow)}, " ")
}

// shown is what a clock shows.
type shown struct{ minute, hour, dom, month, dow int }

func shows(w time.Time) shown {
	return shown{w.Minute(), w.Hour(), w.Day(), int(w.Month()), int(w.Weekday())}
}

// fits says whether what a clock shows is in the schedule. The days of the month and
// of the week are alternatives where both are given.
func (f fields) fits(w shown) bool {
	in := func(values []int, v int) bool { return values == nil || slices.Contains(values, v) }
	if !in(f.minute, w.minute) || !in(f.hour, w.hour) || !in(f.month, w.month) {
		return false
	}
	if f.dom != nil && f.dow != nil {
		return slices.Contains(f.dom, w.dom) || slices.Contains(f.dow, w.dow)
	}
	return in(f.dom, w.dom) && in(f.dow, w.dow)
}

// wall is what the clock on the wall shows at a minute, as if it were UTC.
func wall(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), 0, 0, time.UTC)
}

// walk goes through the minutes one after the other, looking at the clock on the
// wall. A clock that jumps ahead passes all that it skips at once; one that was put
// back shows nothing new until it has caught up.
func walk(schedules []fields, zone *time.Location, from, to time.Time) [][]time.Time {
	out := make([][]time.Time, len(schedules))
	seen := wall(from, zone)
	var passed []shown
	for t := from.Add(time.Minute); !t.After(to); t = t.Add(time.Minute) {
		now := wall(t, zone)
		for passed = passed[:0]; seen.Before(now); {
			seen = seen.Add(time.Minute)
			passed = append(passed, shows(seen))
		}
		clock := shows(now)
		for i, f := range schedules {
			if f.hour == nil && f.fits(clock) || f.hour != nil && slices.ContainsFunc(passed, f.fits) {
				out[i] = append(out[i], t)
			}
		}
	}
	return out
}

// pick chooses some values, in order, or all.
func pick(r *rand.Rand, low, high, all int) []int {
	if r.IntN(10) < all {
		return nil
	}
	var out []int
	for range 1 + r.IntN(3) {
		if v := low + r.IntN(high-low+1); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func zones(t *testing.T) []*time.Location {
	t.Helper()
	var out []*time.Location
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Shanghai"} {
		zone, err := ParseZone(name)
		stdtest.Must(t, err)
		out = append(out, zone)
	}
	return out
}

// Two years in six zones, among them one whose clocks move by half an hour, one where
// midnight is skipped, one that has two changes more for Ramadan: what a walk from
// minute to minute finds, and nothing else. SOAK makes it five years.
func TestCL9SchedulesAgainstAWalkThroughEveryMinute(t *testing.T) {
	t.Parallel()
	years, more := 2, 4
	if os.Getenv("SOAK") != "" {
		years, more = 5, 60
	}
	from := time.Date(2014, 12, 31, 12, 0, 0, 0, time.UTC)
	to := from.AddDate(years, 0, 2)
	for i, zone := range zones(t) {
		t.Run(zone.String(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, uint64(i)))
			// Those around the changes, which chance meets seldom.
			schedules := []fields{
				{minute: []int{30}, hour: []int{2}},
				{minute: []int{0, 15, 45}, hour: []int{0, 1, 2, 3}},
				{minute: []int{0}, hour: []int{0}},
				{minute: []int{30}},
				{minute: []int{15, 59}, dow: []int{0}},
				{minute: []int{5}, hour: []int{1, 2}, dom: []int{1}, dow: []int{0}},
				{minute: []int{10}, hour: []int{2}, dom: []int{29}, month: []int{2}},
			}
			for range more {
				schedules = append(schedules, fields{
					minute: pick(r, 0, 59, 0), hour: pick(r, 0, 23, 3), dom: pick(r, 1, 28, 7), month: pick(r, 1, 12, 8), dow: pick(r, 0, 6, 6),
				})
			}
			for n, want := range walk(schedules, zone, from, to) {
				c, err := ParseCron(schedules[n].text(), zone)
				stdtest.Must(t, err)
				var got []time.Time
				for at, ok := c.Next(from); ok && !at.After(to); at, ok = c.Next(at) {
					got = append(got, at.UTC())
				}
				if !slices.EqualFunc(want, got, time.Time.Equal) { // there are many
					t.Fatalf("%s (-want +got):\n%s", schedules[n].text(), cmp.Diff(want, got))
				}
				if newest, count := c.Missed(from, to); len(want) > 0 && (count != min(len(want), maxCount) || !newest.Equal(want[len(want)-1])) {
					t.Fatalf("%s: missed %d, the newest at %s; want %d, %s", schedules[n].text(), count, newest, len(want), want[len(want)-1])
				}
			}
		})
	}
}

// What people read about the two nights.
func TestCronTheNightsOfTheChange(t *testing.T) {
	t.Parallel()
	berlin := zones(t)[0]
	for _, tt := range []struct {
		name, cron, from string
		want             []string
	}{
		{"spring, a fixed time: right after the gap", "30 2 * * *", "2026-03-28T12:00:00+01:00", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"}},
		{"spring, every hour: no hour is missing", "30 * * * *", "2026-03-29T01:00:00+01:00", []string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"}},
		{"autumn, a fixed time: once", "30 2 * * *", "2026-10-24T12:00:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"autumn, every hour: each", "30 * * * *", "2026-10-25T02:00:00+02:00", []string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"}},
		{"sundays by either number", "0 9 * * 7", "2026-03-28T12:00:00+01:00", []string{"2026-03-29T09:00:00+02:00", "2026-04-05T09:00:00+02:00"}},
		{"a leap day", "0 0 29 2 *", "2096-03-01T00:00:00+01:00", []string{"2104-02-29T00:00:00+01:00"}},
		{"people only", "@manual", "2026-01-01T00:00:00+01:00", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := ParseCron(tt.cron, berlin)
			stdtest.Must(t, err)
			from, err := time.Parse(time.RFC3339, tt.from)
			stdtest.Must(t, err)
			var got []string
			for _, at := range c.Upcoming(from, max(len(tt.want), 1)) {
				got = append(got, at.Format(time.RFC3339))
			}
			stdtest.Diff(t, "", tt.want, got)
		})
	}
}

func TestParseCronRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "* * * *", "* * * * * *", "60 * * * *", "0 24 * * *", "0 0 30 2 *", "@every 5m", "@reboot", "TZ=UTC 0 9 * * *", "9 o'clock", strings.Repeat("1,", 200) + "1 * * * *"} {
		if c, err := ParseCron(text, time.UTC); !errors.Is(err, ErrSchedule) {
			t.Errorf("ParseCron(%q) = %v, %v; want an error", text, c, err)
		}
	}
}

func TestParseWhenAndDelay(t *testing.T) {
	t.Parallel()
	berlin := zones(t)[0]
	for text, want := range map[string]string{
		"2026-03-29 02:30":          "2026-03-29T03:00:00+02:00",
		"2026-10-25T02:30":          "2026-10-25T02:30:00+02:00",
		"2026-06-01 09:00:30":       "2026-06-01T09:00:30+02:00",
		"2026-06-01T09:00:00+00:00": "2026-06-01T11:00:00+02:00",
	} {
		if got, err := ParseWhen(text, berlin); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("ParseWhen(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01 00:00", "09:30", strings.Repeat("9", 200)} {
		if got, err := ParseWhen(text, berlin); !errors.Is(err, ErrSchedule) {
			t.Errorf("ParseWhen(%q) = %v, %v; want an error", text, got, err)
		}
	}
	for _, name := range []string{"", "Local", "Nowhere/Land", "../etc/passwd"} {
		if zone, err := ParseZone(name); !errors.Is(err, ErrSchedule) {
			t.Errorf("ParseZone(%q) = %v, %v; want an error", name, zone, err)
		}
	}
}

func FuzzParseCron(f *testing.F) {
	for _, seed := range []string{"0 9 * * 1-5", "*/5 * * * *", "@daily", "30 2 29 2 7", "0 0 1 1 SUN", "59-1 * * * *"} {
		f.Add(seed)
	}
	berlin, err := ParseZone("Europe/Berlin")
	stdtest.Must(f, err)
	from := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCron(text, berlin)
		if err != nil {
			if !errors.Is(err, ErrSchedule) {
				t.Fatalf("%v is no %v", err, ErrSchedule)
			}
			return
		}
		last := from
		for _, at := range c.Upcoming(from, 5) {
			if !at.After(last) {
				t.Fatalf("%q: %s does not follow %s", text, at, last)
			}
			last = at
		}
	})
}
