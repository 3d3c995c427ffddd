package ruling

import (
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The reason of a denial is kept as it was written, whatever numbers come before it.
func TestOrdersKeepTheReason(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		numbers []int
		reason  string
	}{
		{"/deny 12 2 no thanks", []int{12, 2}, "no thanks"},
		{"/deny 12 no thanks", []int{12}, "no thanks"},
		{"/deny 1, too risky", []int{1}, "too risky"},
		{"/deny #22 #2 2nd thoughts, not now", []int{22, 2}, "2nd thoughts, not now"},
		{"/deny 1、2，太危险", []int{1, 2}, "太危险"},
		{"/deny 1 太危险，1 点也不行", []int{1}, "太危险，1 点也不行"},
		{"/deny 1: too risky", []int{1}, "too risky"},
		{"/deny 1. Too risky.", []int{1}, "Too risky."},
		{"/deny 1：太危险", []int{1}, "太危险"},
		{"/deny 1 12:30 is too late", []int{1}, "12:30 is too late"},
		{"/deny 3", []int{3}, ""},
	} {
		o, ok := ParseOrder(tt.text, "")
		if !ok || o.Approves || !slices.Equal(o.Numbers, tt.numbers) || o.Reason != tt.reason {
			t.Errorf("%s means %v because of %q, want %v because of %q", tt.text, o.Numbers, o.Reason, tt.numbers, tt.reason)
		}
	}
}

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
		if o = o.withReason(open); !ok || !slices.Equal(o.Numbers, tt.numbers) || o.Reason != tt.reason {
			t.Errorf("%s means %v because of %q, want %v because of %q", tt.text, o.Numbers, o.Reason, tt.numbers, tt.reason)
		}
	}
}
