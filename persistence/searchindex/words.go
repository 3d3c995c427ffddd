package searchindex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is the longest word in bytes; longer ones are truncated.
const maxWord = 64

// word is one word of a text in its indexed form.
type word struct {
	text string
	at   int // its position in the text, in bytes
}

// unspaced are the scripts that are written without spaces between words.
func unspaced(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// eachRun yields the runs of a text: letters and digits of spaced scripts, or characters of
// unspaced ones. whole is set if only signs separate it from the run before.
func eachRun(text string, yield func(run string, at int, dense, whole bool)) {
	start, dense, joined := -1, false, false
	end := func(at int) {
		if start >= 0 {
			yield(text[start:at], start, dense, joined)
			joined = true
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case unspaced(r):
			if start < 0 || !dense {
				end(i)
				start, dense = i, true
			}
		case unicode.IsMark(r) && start >= 0: // belongs to the letter before it
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if start < 0 || dense {
				end(i)
				start, dense = i, false
			}
		default:
			end(i)
			joined = joined && !unicode.IsSpace(r)
		}
	}
	end(len(text))
}

// split returns the words of a text: for spaced scripts, words normalised in case, width and
// accents; for unspaced ones, every pair of neighbours, and the last character alone, so that each
// character starts a word.
func split(text string) []word {
	var out []word
	eachRun(text, func(run string, at int, dense, _ bool) {
		if !dense {
			if w := normalize(run); w != "" {
				out = append(out, word{w, at})
			}
			return
		}
		for i := 0; i < len(run); {
			_, size := utf8.DecodeRuneInString(run[i:])
			_, second := utf8.DecodeRuneInString(run[i+size:])
			if w := narrow(run[i : i+size+second]); w != "" {
				out = append(out, word{w, at + i})
			}
			i += size
		}
	})
	return out
}

// normalize normalises case, width and accents of a word.
func normalize(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if !ascii {
		s = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, norm.NFKD.String(s))
	}
	return shorten(strings.ToLower(s), maxWord)
}

// narrow unifies half-width and full-width letters of unspaced scripts.
func narrow(s string) string {
	return shorten(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return r
		}
		return -1
	}, norm.NFKC.String(s)), maxWord)
}

// term is a part of a query: adjacent words.
type term struct {
	words  []string
	prefix bool    // the last word is a prefix
	dense  bool    // of an unspaced script
	turns  float64 // number of turns with the term, if counted
}

// maxTerms and maxLoose bound the cost of one search.
const maxTerms, maxLoose = 16, 32

// minStem is the shortest word, in bytes, that is searched as a prefix.
const minStem = 4

// loosen makes terms match more. Runs of unspaced scripts are split: they have no word boundaries,
// so a whole question may be one run. Other words become prefixes, so that longer forms match too.
func loosen(terms []term) []term {
	seen := map[string]bool{}
	var out []term
	add := func(t term) {
		if key := t.expression(); !seen[key] && len(out) < maxLoose {
			seen[key] = true
			out = append(out, t)
		}
	}
	for _, t := range terms {
		if !t.dense || t.prefix {
			t.prefix = t.prefix || len(t.words) == 1 && len(t.words[0]) >= minStem && !strings.ContainsFunc(t.words[0], unicode.IsDigit)
			add(t)
			continue
		}
		for _, w := range t.words {
			add(term{words: []string{w}, dense: true})
		}
	}
	return out
}

// parseQuery splits a query into terms. Words separated only by signs form one term, as in a date
// or an order number; so do neighbours in an unspaced script.
func parseQuery(text string) []term {
	var out []term
	open := false // the last term may continue
	eachRun(text, func(run string, _ int, dense, whole bool) {
		if dense {
			if t := denseTerm(run); len(t.words) > 0 {
				out = append(out, t)
			}
			open = false
			return
		}
		w := normalize(run)
		switch {
		case w == "":
		case open && whole:
			last := &out[len(out)-1]
			last.words = append(last.words, w)
		default:
			out, open = append(out, term{words: []string{w}}), true
		}
	})
	return distinct(out)
}

// denseTerm is a run of an unspaced script as a term: its pairs, or the only character.
func denseTerm(run string) term {
	t := term{dense: true}
	for _, w := range split(run) {
		t.words = append(t.words, w.text)
	}
	if len(t.words) < 2 { // signs have no words
		t.prefix = true
		return t
	}
	t.words = t.words[:len(t.words)-1] // the pair before contains the last character
	return t
}

func distinct(terms []term) []term {
	seen := map[string]bool{}
	var out []term
	for _, t := range terms {
		if key := t.expression(); !seen[key] && len(out) < maxTerms {
			seen[key] = true
			out = append(out, t)
		}
	}
	return out
}

// expression is the term in the query language of the index. Words contain letters and digits only,
// so that they cannot be mistaken for that language.
func (t term) expression() string {
	out := `"` + strings.Join(t.words, " ") + `"`
	if t.prefix {
		out += " *"
	}
	return out
}

// count is how often the term occurs in a text of these words.
func (t term) count(words []string) (n int) {
	for i := range words {
		if i+len(t.words) > len(words) {
			break
		}
		if t.at(words[i:]) {
			n++
		}
	}
	return n
}

// at reports whether words start with the term.
func (t term) at(words []string) bool {
	last := len(t.words) - 1
	for i, w := range t.words {
		if words[i] != w && (i != last || !t.prefix || !strings.HasPrefix(words[i], w)) {
			return false
		}
	}
	return true
}
