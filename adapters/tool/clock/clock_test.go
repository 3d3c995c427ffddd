package clock_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/clock"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestNow(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	stdtest.Must(t, err)
	c := clock.New(zone)
	set, err := tool.NewSet(c)
	stdtest.Must(t, err)
	tests := []struct {
		name, input, want string
		wantErr           error
	}{
		{"the project's zone", `{}`, `{"time":"2026-07-02T00:30:00+02:00","weekday":"Thursday","zone":"Europe/Berlin","abbreviation":"CEST"}`, nil},
		{"another zone", `{"zone":"Asia/Shanghai"}`, `{"time":"2026-07-02T06:30:00+08:00","weekday":"Thursday","zone":"Asia/Shanghai","abbreviation":"CST"}`, nil},
		{"UTC", `{"zone":"UTC"}`, `{"time":"2026-07-01T22:30:00Z","weekday":"Wednesday","zone":"UTC","abbreviation":"UTC"}`, nil},
		{"no zone", `{"zone":"Mars/Base"}`, "", tool.ErrInput},
		{"a path", `{"zone":"../../etc/passwd"}`, "", tool.ErrInput},
		{"the host's own", `{"zone":"Local"}`, "", tool.ErrInput},
		{"another member", `{"tz":"UTC"}`, "", tool.ErrInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := set.Validate(clock.Name, json.RawMessage(tt.input))
			var r tool.Result
			if err == nil {
				tooltest.At(t, time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC), func(t *testing.T) {
					t.Helper()
					r, err = c.Invoke(t.Context(), tool.Call{Input: json.RawMessage(tt.input)})
				})
			}
			if !errors.Is(err, tt.wantErr) || string(r.Output) != tt.want {
				t.Errorf("got %s, %v; want %s, %v", r.Output, err, tt.want, tt.wantErr)
			}
		})
	}
	if s := c.Spec(); !s.ReadOnly || !s.Repeatable || s.Asks {
		t.Errorf("spec = %+v, want a read-only, repeatable tool", s)
	}
}

func TestNowOfTheHost(t *testing.T) {
	r, err := clock.New(time.Local).Invoke(t.Context(), tool.Call{Input: json.RawMessage(`{}`)})
	stdtest.Must(t, err)
	var out struct{ Time time.Time }
	if err := json.Unmarshal(r.Output, &out); err != nil || time.Since(out.Time) > time.Minute {
		t.Errorf("time = %s, %v; want the current time", r.Output, err)
	}
}
