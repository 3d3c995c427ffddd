package markup

import (
	"slices"
	"strings"
)

type style uint8

const (
	bold style = 1 << iota
	italic
	strike
	code
	// Text that replaces markup: shown only where links are not possible.
	aside
)

// named returns the names of the styles that platforms share, given the name of each.
func (s style) named(boldName, italicName, strikeName string) []string {
	var out []string
	for i, name := range []string{boldName, italicName, strikeName} {
		if s&(bold<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// span is a run of text in one style. href is empty or a link that is valid on every platform.
type span struct {
	text  string
	style style
	href  string
}

// leafKind says how a block is shown.
type leafKind uint8

const (
	leafText leafKind = iota
	leafCode
)

type position struct {
	quote  int         // depth of quotes around it
	blank  bool        // an empty line precedes it
	inside []container // the blocks that contain it, outermost first
	lead   int         // bytes at its start that represent its list: a marker, or an indent
	indent int         // spaces before its further lines, for the same reason
}

// container is a block with inner blocks.
type container struct {
	kind containerKind
	n    int // number of an item; 0 if it has none
	id   int // distinguishes adjacent containers
}

type containerKind uint8

const (
	inQuote containerKind = iota
	inBullets
	inNumbers
	inItem
)

// leaf is a block without inner blocks. It is a value: cutting it makes two new leaves.
type leaf struct {
	position
	kind    leafKind
	heading int        // level; 0 if it is not a heading
	rule    bool       // represents a horizontal line
	spans   []span     // of a text
	lang    string     // of code
	code    string     // without the last line break
	rows    []tableRow // of the table that the code shows
	size    int        // UTF-16 units of the plain rendering, without the gap before it
}

const (
	maxQuote  = 4 // deeper quotes look the same
	quoteMark = "> "
	fence     = "```"
)

func newText(spans []span, pos position) leaf {
	l := leaf{position: pos, kind: leafText, spans: spans}
	l.size = l.measure()
	return l
}

func newCode(lang, text string, pos position) leaf {
	l := leaf{position: pos, kind: leafCode, lang: lang, code: text}
	l.size = l.measure()
	return l
}

// lineCost is what each line costs in addition to its text.
func (l leaf) lineCost() int { return min(l.quote, maxQuote) * len(quoteMark) }

// overhead is what the block costs in addition to its text.
func (l leaf) overhead() int {
	if l.kind == leafCode {
		return len(fence) + len(l.lang) + 1 + 1 + len(fence) + 3*l.lineCost()
	}
	return l.lineCost()
}

func (l leaf) measure() int {
	n := l.overhead()
	if l.kind == leafCode {
		return n + cost(l.code, l.lineCost())
	}
	for _, s := range l.spans {
		n += cost(s.text, l.lineCost())
	}
	return n
}

// cost returns the length of a text in which every line break costs perLine more.
func cost(s string, perLine int) int {
	n := Len(s)
	if perLine > 0 {
		n += perLine * strings.Count(s, "\n")
	}
	return n
}

// gap returns the separator between a block and the previous one.
func (l leaf) gap() string {
	if l.blank {
		return "\n\n"
	}
	return "\n"
}

// formatted reports whether the block is more than its bare text.
func (l leaf) formatted() bool {
	if l.kind == leafCode || l.quote > 0 {
		return true
	}
	for _, s := range l.spans {
		if s.style != 0 || s.href != "" {
			return true
		}
	}
	return false
}

func joined(spans []span) string {
	if len(spans) == 1 {
		return spans[0].text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// shown reports whether the block shows anything if asides are left out.
func (l leaf) shown() bool {
	if l.kind == leafCode {
		return visible(l.code)
	}
	return slices.ContainsFunc(l.spans, func(s span) bool { return s.style&aside == 0 && visible(s.text) })
}
