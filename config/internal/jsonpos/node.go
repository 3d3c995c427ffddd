// Package jsonpos reads JSON and keeps where everything stood.
//
// It exists because people write settings by hand: a fault must be shown at its
// line and column, with a hint what to type instead, and a key that appears
// twice must not vanish unseen. Parse accepts exactly the texts that RFC 8259
// calls JSON, encoded in UTF-8 and nested at most MaxDepth deep; a byte order
// mark at the start is skipped. It is pure and safe for concurrent use.
package jsonpos

import "unicode/utf8"

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

// Kind says what a Node is.
type Kind int

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as it is shown to people.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "a list"
	case Object:
		return "an object"
	}
	return "nothing"
}

// Node is one value of the text. Pos and End are byte offsets, End exclusive.
type Node struct {
	Kind     Kind
	Pos, End int
	// Text is the decoded string, the number as written, or true, false, null.
	Text string
	// Members are the keys of an object in the order written, duplicates too.
	Members []Member
	// Items are the elements of an array.
	Items []*Node
}

// Member is one key of an object with its value.
type Member struct {
	Key    string
	KeyPos int
	Value  *Node
}

// SyntaxError says why a text is not JSON.
type SyntaxError struct {
	// Pos is the byte offset at which a person should look.
	Pos int
	// Msg is what is wrong there, Hint how to mend it (may be empty). Neither
	// quotes more of the text than a single character or a bare word.
	Msg, Hint string
}

// Error joins the message and the hint.
func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + "; " + e.Hint
}

// Locator turns byte offsets of one text into lines and columns, both from 1.
// Columns count characters, not bytes. It is safe for concurrent use.
type Locator struct {
	src []byte
	// marks[i] is the position of the offset i*markEvery.
	marks []mark
}

type mark struct{ line, col int }

// markEvery keeps a look-up short in files of any size and line length.
const markEvery = 256

// NewLocator indexes a text, which must not change afterwards.
func NewLocator(src []byte) *Locator {
	l := &Locator{src: src, marks: make([]mark, 0, len(src)/markEvery+1)}
	at := mark{line: 1, col: 1}
	for i := range src {
		if i%markEvery == 0 {
			l.marks = append(l.marks, at)
		}
		at = at.after(src, i)
	}
	return l
}

// At locates an offset; those outside the text are moved to its ends.
func (l *Locator) At(offset int) (line, col int) {
	offset = min(max(offset, 0), len(l.src))
	if len(l.marks) == 0 {
		return 1, 1
	}
	nearest := min(offset/markEvery, len(l.marks)-1)
	at := l.marks[nearest]
	for i := nearest * markEvery; i < offset; i++ {
		at = at.after(l.src, i)
	}
	return at.line, at.col
}

// after is the position behind the byte at i.
func (m mark) after(src []byte, i int) mark {
	switch {
	case src[i] == '\n':
		return mark{line: m.line + 1, col: 1}
	case !utf8.RuneStart(src[i]), i < len(bom) && hasBOM(src):
		return m
	}
	return mark{line: m.line, col: m.col + 1}
}

const bom = "\xef\xbb\xbf"

func hasBOM(src []byte) bool {
	return len(src) >= len(bom) && string(src[:len(bom)]) == bom
}
