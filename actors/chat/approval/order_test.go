package approval

import (
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A number that cannot name another request begins the reason.
func TestReasonBeginsWithANumber(t *testing.T) {
	t.Parallel()
	open := []journal.Asked{{Request: journal.Request{N: 1}}, {Request: journal.Request{N: 12}}}
	for _, tt := range []struct {
		text    string
		numbers []int
		reason  string
	}{
		{"/deny 12 2 no thanks", []int{12}, "2 no thanks"},
		{"/deny 1 1 is not enough", []int{1}, "1 is not enough"},
		{"/deny 1 12 not now", []int{1, 12}, "not now"},
		{"/deny 1 1", []int{1, 1}, ""},
	} {
		o, ok := ParseOrder(tt.text, "")
		if o = o.WithReason(open); !ok || !slices.Equal(o.Numbers, tt.numbers) || o.Reason != tt.reason {
			t.Errorf("%s means %v because of %q, want %v because of %q", tt.text, o.Numbers, o.Reason, tt.numbers, tt.reason)
		}
	}
}
