package tokens

const (
	// maxRun is the length at which a run without a change between space and other characters is
	// split.
	maxRun = 256
	// chunk is how much of a text is counted at once, and maxChunk the most if there is no good place
	// to split.
	chunk, maxChunk = 8 << 10, 16 << 10
)

// Bound is an upper bound of the number of tokens from one look at each byte. A token has at
// least one byte. The vocabulary contains every pair of the letters of [paired]; the tokenizer joins neighbours as long as the result is in its vocabulary, so that no
// two single letters of those stay neighbours: n of them are (2n+1)/3 tokens at most. The tests
// prove both against the table.
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
			n++ // what follows may be split, as in can't
		}
	}
	// A counter splits a text at these distances or more rarely; each split costs one token.
	return n + pairs(run) + len(text)/(maxRun-3)
}

func pairs(run int) int { return (2*run + 1) / 3 }

// paired reports whether a letter is one of those of which any two in a row are one token.
func paired(b byte) bool {
	switch b {
	case 'a', 'b', 'c', 'd', 'e', 'h', 'i', 'k', 'l', 'm', 'n', 'o', 'p', 'r', 's', 't', 'u', 'w', 'y':
		return true
	}
	return false
}
