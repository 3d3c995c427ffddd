package hostlog

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/config"
)

// TestDurationsHaveUnits: durations in log lines have units in both formats.
func TestDurationsHaveUnits(t *testing.T) {
	for format, want := range map[string]string{"json": `"pause":"1.5s","took":"2.346ms"`, "text": `pause=1.5s took=2.346ms`} {
		var out bytes.Buffer
		log, _ := New(&out, config.Log{Level: "info", Format: format})
		log.Info("waiting", "pause", 1500*time.Millisecond, "took", 2345678*time.Nanosecond)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: got %s, want %s", format, out.String(), want)
		}
	}
}

// TestLogsFollowTheSettings: loggers that exist write in the new format and from the new level on.
func TestLogsFollowTheSettings(t *testing.T) {
	var out bytes.Buffer
	log, follow := New(&out, config.Log{Level: "info", Format: "text"})
	log = log.With("component", "chat").WithGroup("a")
	for _, x := range []struct {
		now  config.Log
		want string
	}{
		{config.Log{Level: "info", Format: "text"}, "component=chat a.n=1"},
		{config.Log{Level: "debug", Format: "json"}, `"component":"chat","a":{"n":1}`},
		{config.Log{Level: "warn", Format: "json"}, ""},
		{config.Log{Level: "debug", Format: "text"}, "component=chat a.n=1"},
		{config.Log{Level: "debug", Format: "auto"}, `"component":"chat","a":{"n":1}`}, // this is no terminal
	} {
		follow(x.now)
		out.Reset()
		if log.Debug("x", "n", 1); x.now.Level != "debug" {
			log.Info("x", "n", 1)
		}
		if got := out.String(); !strings.Contains(got, x.want) || (got == "") != (x.want == "") {
			t.Errorf("%+v: %q, want %q", x.now, got, x.want)
		}
	}
}
