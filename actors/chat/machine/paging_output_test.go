package machine

import "testing"

func TestOutputArgs(t *testing.T) {
	for _, tt := range []struct {
		args       string
		back, page int
		ok         bool
	}{
		{"", 1, 1, true},
		{" 2 ", 2, 1, true},
		{"#3 4", 3, 4, true},
		{"0", 0, 0, false},
		{"-1", 0, 0, false},
		{"last", 0, 0, false},
		{"1 2 3", 0, 0, false},
		{"99999999999999999999", 0, 0, false},
	} {
		back, page, ok := outputArgs(tt.args)
		if ok != tt.ok || ok && (back != tt.back || page != tt.page) {
			t.Errorf("%q: %d, %d, %v; want %d, %d, %v", tt.args, back, page, ok, tt.back, tt.page, tt.ok)
		}
	}
}
