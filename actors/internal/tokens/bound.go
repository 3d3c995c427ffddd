package tokens

const (
	// maxRun is how long a run without a change between space and other may be
	// before it is parted.
	maxRun = 256
	// chunk is how much of a text is counted at once, and maxChunk the most if no
	// place to part it at is found.
	chunk, maxChunk = 8 << 10, 16 << 10
)

// Bound is a number of tokens that no encoding here exceeds, from one look at
// each byte. A token is a byte at least. Both vocabularies know every pair of the
// letters of [paired]; the tokenizer joins neighbours as long as it knows what they
// make together, so that no two single letters of those stay neighbours: n of them are
// (2n+1)/3 tokens at most. The tests prove both against the tables.
func Bound(text string) int {
	n, run := 0, 0
	for i := range len(text) {
		if paired(text[i]) {
			run++
			continue
		}
		n += 1 + pairs(run)
		run = 0
		if text[i] == '\'' {
			n++ // what follows may be parted, as in can't
		}
	}
	// A counter parts a text at these distances, or rarer, for one token each.
	return n + pairs(run) + len(text)/(maxRun-3)
}

func pairs(run int) int { return (2*run + 1) / 3 }

// paired are the small letters whose pairs are all tokens.
func paired(b byte) bool {
	switch b {
	case 'a', 'b', 'c', 'd', 'e', 'h', 'i', 'k', 'l', 'm', 'n', 'o', 'p', 'r', 's', 't', 'u', 'w', 'y':
		return true
	}
	return false
}
