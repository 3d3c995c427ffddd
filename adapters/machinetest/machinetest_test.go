package machinetest

import "testing"

func TestRequired(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true} {
		t.Setenv("REQUIRE_ALL", value)
		if got := Required(); got != want {
			t.Errorf("REQUIRE_ALL=%q: got %v, want %v", value, got, want)
		}
	}
}
