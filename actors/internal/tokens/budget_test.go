package tokens

import "testing"

func TestBudget(t *testing.T) {
	for _, tt := range []struct{ system, budget, history int }{
		{0, 12000, 12000}, {6000, 12000, 12000}, {6001, 12001, 6000}, {12000, 18000, 6000}, {50000, 56000, 6000},
	} {
		if got := Budget(12000, tt.system); got != tt.budget {
			t.Errorf("system text %d: budget %d, want %d", tt.system, got, tt.budget)
		}
		if got := History(12000, tt.system); got != tt.history {
			t.Errorf("system text %d: history %d, want %d", tt.system, got, tt.history)
		}
	}
}
