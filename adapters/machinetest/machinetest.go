// Package machinetest is for tests that need what not every machine has.
package machinetest

import (
	"os"
	"testing"
)

// Required reports whether tests fail that cannot run here: with REQUIRE_ALL=1.
func Required() bool { return os.Getenv("REQUIRE_ALL") == "1" }

// Missing ends a test that cannot run here: it is skipped, or fails with REQUIRE_ALL=1.
func Missing(tb testing.TB, what string) {
	tb.Helper()
	if Required() {
		tb.Fatal("REQUIRE_ALL=1: " + what)
	}
	tb.Skip(what)
}
