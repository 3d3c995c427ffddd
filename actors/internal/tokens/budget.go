package tokens

// Share is the part of a budget that a system text may take, as 1/Share.
const Share = 2

// Budget is how much system text and history may be together before a history is
// compacted. A system text that takes more than its share leaves the rest of the budget
// to the history all the same: compacting cannot make a system text shorter, and would
// be tried in vain for ever.
func Budget(budget, system int) int { return max(budget, system+budget-budget/Share) }

// History is how much of the budget the history has by itself when the system text takes
// more than its share, and the whole budget otherwise.
func History(budget, system int) int {
	if system > budget/Share {
		return budget - budget/Share
	}
	return budget
}
