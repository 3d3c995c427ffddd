package machine

import "testing"

// Damaged pages are not used.
func TestPagesValid(t *testing.T) {
	for _, p := range []pages{{V: 2, Text: "x"}, {V: 1, Text: "x", At: 2}, {V: 1, Text: "x", At: -1, From: -1}, {V: 1, Text: "xy", At: 1, From: 2}} {
		if p.valid() {
			t.Errorf("%+v is taken as pages", p)
		}
	}
	if p := (pages{V: 1, Text: "xy", At: 1}); !p.valid() {
		t.Errorf("%+v is taken as damaged", p)
	}
}
