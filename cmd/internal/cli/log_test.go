package cli

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
		log, _ := newLogger(&out, config.Log{Level: "info", Format: format})
		log.Info("waiting", "pause", 1500*time.Millisecond, "took", 2345678*time.Nanosecond)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s: got %s, want %s", format, out.String(), want)
		}
	}
}
