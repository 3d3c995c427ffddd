package reply

import (
	"slices"
	"strings"
)

// numeral reads a number of digits, or of Chinese numerals up to 99, that begins at an index. It reads all its digits;
// end is -1 if there is no number.
func (l line) numeral(i int) (n, end int) {
	if n, end = l.digits(i); end >= 0 {
		return n, end
	}
	end = i
	for strings.ContainsRune("一二三四五六七八九十", l.at(end)) {
		end++
	}
	if n = chinese(l.norm[i:end]); n == 0 {
		return 0, -1
	}
	return n, end
}

// digits reads a number of at most three digits that does not begin with 0. end is -1 if there is no such number.
func (l line) digits(i int) (n, end int) {
	end = i
	for r := l.at(end); '0' <= r && r <= '9'; r = l.at(end) {
		n = min(n*10+int(r-'0'), 1000)
		end++
	}
	if n == 0 || n == 1000 || l.at(i) == '0' {
		return 0, -1
	}
	return n, end
}

// chinese returns a number from 1 to 99, or 0 if the numerals are not a number.
func chinese(numerals []rune) int {
	before, after, tens := strings.Cut(string(numerals), "十")
	n, ok := figure(before)
	if !tens {
		return n
	}
	if before == "" {
		n, ok = 1, true
	}
	units, whole := figure(after)
	if !ok || (after != "" && !whole) {
		return 0
	}
	return n*10 + units
}

// figure returns a number from 1 to 9.
func figure(text string) (int, bool) {
	for i, r := range []rune("一二三四五六七八九") {
		if text == string(r) {
			return i + 1, true
		}
	}
	return 0, false
}

// duration reads a length of time, in minutes, that begins at an index. end is -1 if there is none.
func (l line) duration(i int) (minutes, end int) {
	fixed := []struct {
		word    string
		minutes int
	}{{"半小时", 30}, {"半个小时", 30}, {"half an hour", 30}, {"an hour", 60}, {"one hour", 60}, {"两分钟", 2}}
	for _, f := range fixed {
		if end = l.word(i, f.word); end >= 0 {
			return f.minutes, end
		}
	}
	n, end := l.numeral(i)
	if end < 0 {
		return 0, -1
	}
	end = l.skip(end)
	units := []struct {
		word    string
		minutes int
	}{{"分钟", 1}, {"小时", 60}, {"个小时", 60}, {"minutes", 1}, {"minute", 1}, {"mins", 1}, {"min", 1}, {"hours", 60}, {"hour", 60}}
	for _, unit := range units {
		// The unit is read separately, because it may follow its number without a blank.
		if rest := l.slice(end, l.len()).word(0, unit.word); rest >= 0 {
			return n * unit.minutes, end + rest
		}
	}
	return 0, -1
}

// place returns the index of the command for a number in a reply, or -1.
func (p parser) place(n int, hash bool) int {
	switch {
	case p.numbers != nil && (hash || !p.places):
		return slices.Index(p.numbers, n)
	case n < 1 || n > len(p.pending):
		return -1
	}
	return n - 1
}
