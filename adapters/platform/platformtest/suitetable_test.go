package platformtest

import "testing"

// TestTableSkipsNothing: a line that a platform need not keep says what there is
// instead, and shows it.
func TestTableSkipsNothing(t *testing.T) {
	names := map[string]bool{}
	for _, b := range table() {
		if names[b.name] || b.does == nil {
			t.Errorf("%q is there twice, or shows nothing", b.name)
		}
		names[b.name] = true
		if optional := b.declared != nil; optional != (b.instead != "") || optional != (b.without != nil) {
			t.Errorf("%q may be absent: %t; instead: %q", b.name, optional, b.instead)
		}
	}
	if len(names) < 20 {
		t.Errorf("%d lines", len(names))
	}
}
