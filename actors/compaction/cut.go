package compaction

// minGain is the part of a history that a compaction has to save, as 1/minGain.
const minGain = 5

// turn is what the rules know of a turn.
type turn struct {
	size    int
	ends    bool // the history may be cut behind it
	held    bool // it has to stay, and all behind it
	summary bool
}

// limits of what stays.
type limits struct {
	keep   int // turns, at least
	budget int // tokens, of which half may be kept turns
}

// cut says how many turns from the front to fold; 0: nothing is worth it. All but
// the last keep turns go, and more of them while those that stay are more than half
// of the budget.
func cut(turns []turn, l limits) int {
	left := total(turns)
	least := left / minGain
	best, folded := 0, 0
	for i, t := range turns {
		if t.held {
			break
		}
		left -= t.size
		if !t.ends {
			continue
		}
		if len(turns)-(i+1) < l.keep && kept(turns, best) <= l.budget/2 {
			break
		}
		best, folded = i+1, total(turns)-left
	}
	if folded < least || best == 1 && turns[0].summary {
		return 0
	}
	return best
}

func total(turns []turn) (n int) {
	for _, t := range turns {
		n += t.size
	}
	return n
}

func kept(turns []turn, from int) int { return total(turns[from:]) }

// gains reports whether a summary of this size in the place of the first turns
// saves enough.
func gains(turns []turn, to, summary int) bool {
	all := total(turns)
	return kept(turns, to)+summary <= all-all/minGain
}
