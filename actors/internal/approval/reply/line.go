package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRunes is the length of the longest reply that is read.
const maxRunes = 300

// legible reports whether a reply can mean something at all: one line of bounded length without
// question marks and invisible characters.
func legible(text string) bool {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxRunes || strings.ContainsAny(text, "?？") {
		return false
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) {
			return false
		}
	}
	return true
}

// line is a reply, or a part of one, rune by rune.
type line struct {
	raw  []rune // as written, for commands
	norm []rune // for phrases: half width, lower case, plain apostrophes; same length as raw
}

func newLine(text string) line {
	l := line{raw: []rune(text)}
	l.norm = make([]rune, len(l.raw))
	for i, r := range l.raw {
		l.norm[i] = normal(r)
	}
	return l.trim()
}

// normal is a rune in the spelling of phrases. Letters outside of ASCII keep their case, because
// lower case turns some of them into ASCII letters.
func normal(r rune) rune {
	switch {
	case '！' <= r && r <= '～':
		r -= '！' - '!'
	case r == '\u3000': // the full-width blank
		r = ' '
	case r == '。':
		r = '.'
	case r == '‘' || r == '’':
		r = '\''
	}
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

func (l line) len() int { return len(l.norm) }

func (l line) slice(from, to int) line {
	return line{raw: l.raw[from:to], norm: l.norm[from:to]}
}

func (l line) trim() line {
	from, to := 0, l.len()
	for from < to && l.norm[from] == ' ' {
		from++
	}
	for to > from && l.norm[to-1] == ' ' {
		to--
	}
	return l.slice(from, to)
}

// at is the normal rune at an index, or 0 outside.
func (l line) at(i int) rune {
	if i < 0 || i >= l.len() {
		return 0
	}
	return l.norm[i]
}

// skip is the first index from i on that is not a blank.
func (l line) skip(i int) int {
	for l.at(i) == ' ' {
		i++
	}
	return i
}

// word is the end of a word that starts at i, or -1. A blank in the word matches any number of
// blanks. English words end where letters do.
func (l line) word(i int, word string) int {
	if isLatin(rune(word[0])) && isLatin(l.at(i-1)) {
		return -1
	}
	for _, r := range word {
		if l.at(i) != r {
			return -1
		}
		i++
		if r == ' ' {
			i = l.skip(i)
		}
	}
	if next := l.at(i); isLatin(rune(word[len(word)-1])) && (isLatin(next) || next == '-' || next == '_') {
		return -1
	}
	return i
}

// isLatin reports whether a rune continues an English word.
func isLatin(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// dropHead drops one mention of the bot, by one of its names, and one courtesy word at the start. A
// mention of anyone else stays, so that the line means nothing.
func dropHead(l line, names []string) line {
	for _, name := range names {
		mention := newLine("@" + name).norm
		if end := len(mention); end > 1 && l.at(end) == ' ' && slices.Equal(l.norm[:end], mention) {
			l = l.slice(end, l.len()).trim()
			break
		}
	}
	if l.at(0) == '请' {
		return l.slice(1, l.len()).trim()
	}
	if end := l.word(0, "please"); end > 0 && l.at(end) == ' ' {
		return l.slice(end, l.len()).trim()
	}
	return l
}

// tails returns the line unchanged, and what is left after dropping a mark at its end, a courtesy
// word, and the mark before that. There are several results because an ending that a phrase does
// not need may belong to a command.
func tails(l line) []line {
	out := []line{l}
	add := func(shorter line) {
		if shorter.len() < l.len() {
			l = shorter
			out = append(out, l)
		}
	}
	add(dropMark(l))
	if polite := dropCourtesy(l); polite.len() < l.len() {
		add(polite)
		add(dropMark(l))
	}
	return out
}

// dropMark drops a run of ! and ~, or one dot, at the end.
func dropMark(l line) line {
	end := l.len()
	for l.at(end-1) == '!' || l.at(end-1) == '~' {
		end--
	}
	if end == l.len() && l.at(end-1) == '.' && l.at(end-2) != '.' {
		end--
	}
	return l.slice(0, end).trim()
}

// dropCourtesy drops one courtesy word at the end, and the comma before it.
func dropCourtesy(l line) line {
	for _, word := range []string{"谢谢", "谢谢你", "辛苦了", "thanks", "thank you", "thx", "please"} {
		for start := range l.len() {
			if !l.hasSuffix(start, word) {
				continue
			}
			l = l.slice(0, start).trim()
			if l.at(l.len()-1) == ',' {
				l = l.slice(0, l.len()-1).trim()
			}
			return l
		}
	}
	return l
}

// hasSuffix reports whether a word is all that follows an index, without checking what precedes it.
func (l line) hasSuffix(start int, word string) bool {
	return l.slice(start, l.len()).word(0, word) == l.len()-start
}
