package window_test

import (
	"cmp"
	"testing"
	"time"
	_ "time/tzdata" // as the program has it

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/window"
)

// Windows are those of the zone, also where the clocks change.
func TestWindowsOfTheZone(t *testing.T) {
	for _, tt := range []struct {
		w    window.Window
		at   string
		want string
		zone string
	}{
		{window.Hour, "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", ""}, // 02:30, and 02:30 again an hour later
		{window.Hour, "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z", ""},
		{window.Day, "2026-10-25T00:30:00Z", "2026-10-25T23:00:00Z", ""},
		{window.Month, "2026-12-31T22:59:59Z", "2026-12-31T23:00:00Z", ""},
		{window.Month, "2026-01-31T12:00:00Z", "2026-01-31T23:00:00Z", ""},
		{window.Day, "2026-09-06T03:30:00Z", "2026-09-06T04:00:00Z", "America/Santiago"}, // 23:30; the clocks skip midnight
		{window.Day, "2026-09-06T04:30:00Z", "2026-09-07T03:00:00Z", "America/Santiago"}, // 01:30, on the day without midnight
		{window.Hour, "2026-09-06T03:30:00Z", "2026-09-06T04:00:00Z", "America/Santiago"},
	} {
		zone, err := time.LoadLocation(cmp.Or(tt.zone, "Europe/Berlin"))
		stdtest.Must(t, err)
		at, err := time.Parse(time.RFC3339, tt.at)
		stdtest.Must(t, err)
		if got := tt.w.End(at.In(zone)).UTC().Format(time.RFC3339); got != tt.want {
			t.Errorf("the %s of %s ends at %s, want %s", tt.w, tt.at, got, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		limit string
		want  window.Window
		ok    bool
	}{
		{"chatTokensPerDay", window.Day, true},
		{"usdPerPersonPerHour", window.Hour, true},
		{"hostTokensPerMonth", window.Month, true},
		{"runTokens", 0, false},
		{"usdPerRun", 0, false},
		{"", 0, false},
	} {
		if got, ok := window.Of(tt.limit); got != tt.want || ok != tt.ok {
			t.Errorf("Of(%q) = %v, %v, want %v, %v", tt.limit, got, ok, tt.want, tt.ok)
		}
	}
}
