package tokens

// Share is the part of a budget that a system text may take, as 1/Share.
const Share = 2

// Budget is how large system text and history may be together before a history is compacted. If the
// system text takes more than its share, the history still gets the rest of the budget: compacting
// cannot shorten a system text, and would be tried in vain forever.
func Budget(budget, system int) int { return max(budget, system+budget-budget/Share) }

// History is how much of the budget the history has if the system text takes more than its share,
// and the whole budget otherwise.
func History(budget, system int) int {
	if system > budget/Share {
		return budget - budget/Share
	}
	return budget
}
