package shard

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestCrashWaitsGrow(t *testing.T) {
	now := time.Unix(1e9, 0)
	var c crash
	var waits []time.Duration
	for range parkAfter + 1 {
		wait := c.next(now)
		waits = append(waits, wait)
		now = now.Add(wait)
		c.revived(now)
	}
	want := []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, parkFor, parkFor}
	stdtest.Diff(t, "waits", want, waits)
	if now = now.Add(calm + 1); c.next(now) != 0 || c.parked {
		t.Error("a chat that worked for a while is still held as one that loops")
	}
}
