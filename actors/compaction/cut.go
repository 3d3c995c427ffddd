package compaction

// minGain is the part of a history that a compaction has to save, as 1/minGain.
const minGain = 5

// turn is the part of a turn that the rules depend on.
type turn struct {
	size    int
	ends    bool // the history may be cut after it
	waits   bool // it has to stay, and so have all after it
	summary bool
}

// limits bound what stays.
type limits struct {
	keep   int // turns, at least
	budget int // tokens, of which half may be kept turns
}

// cut returns how many turns from the front to compact; 0 means that none should be. All but the
// last keep turns go, and more of them while those that stay are more than half of the budget.
func cut(turns []turn, l limits) int {
	left := total(turns)
	least := left / minGain
	best, compacted := 0, 0
	for i, t := range turns {
		if t.waits {
			break
		}
		left -= t.size
		if !t.ends {
			continue
		}
		if len(turns)-(i+1) < l.keep && total(turns[best:]) <= l.budget/2 {
			break
		}
		best, compacted = i+1, total(turns)-left
	}
	if compacted < least || best == 1 && turns[0].summary {
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

// gains reports whether replacing the first turns with a summary of this size saves enough.
func gains(turns []turn, to, summary int) bool {
	all := total(turns)
	return total(turns[to:])+summary <= all-all/minGain
}
