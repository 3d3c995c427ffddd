package jsonpos

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Parse reads one JSON value. A failure is a *SyntaxError for the first fault.
func Parse(src []byte) (*Node, error) {
	p := &parser{src: src}
	if fault := p.checkEncoding(); fault != nil {
		return nil, fault
	}
	if hasBOM(src) {
		p.pos = len(bom)
	}
	n, fault := p.value()
	if fault != nil {
		return nil, fault
	}
	if fault := p.blanks(); fault != nil {
		return nil, fault
	}
	if p.pos < len(p.src) {
		return nil, p.trailing()
	}
	return n, nil
}

// parser walks the text once. Its methods return a *SyntaxError, never an
// error, so that a nil stays nil.
type parser struct {
	src   []byte
	pos   int
	depth int
}

func (p *parser) fault(pos int, hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

func (p *parser) checkEncoding() *SyntaxError {
	if len(p.src) >= 2 && (string(p.src[:2]) == "\xff\xfe" || string(p.src[:2]) == "\xfe\xff") {
		return p.fault(0, "save it as UTF-8", "the file is encoded in UTF-16")
	}
	for i := 0; i < len(p.src); {
		r, size := utf8.DecodeRune(p.src[i:])
		if r == utf8.RuneError && size == 1 {
			return p.fault(i, "save the file as UTF-8", "this byte is not UTF-8 text")
		}
		i += size
	}
	return nil
}

// blanks skips white space and refuses comments by name.
func (p *parser) blanks() *SyntaxError {
	for ; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
		case '/', '#':
			return p.fault(p.pos, `remove it, or keep notes in another file`, "JSON has no comments")
		default:
			return nil
		}
	}
	return nil
}

// peek skips blanks and returns the next byte, 0 at the end of the text.
func (p *parser) peek() (byte, *SyntaxError) {
	if fault := p.blanks(); fault != nil {
		return 0, fault
	}
	if p.pos >= len(p.src) {
		return 0, nil
	}
	return p.src[p.pos], nil
}

func (p *parser) atEnd() bool { return p.pos >= len(p.src) }

func (p *parser) value() (*Node, *SyntaxError) {
	c, fault := p.peek()
	if fault != nil {
		return nil, fault
	}
	switch {
	case p.atEnd():
		return nil, p.fault(p.pos, "", "the text ends where a value should stand")
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '"':
		return p.stringNode()
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number()
	}
	return p.word()
}

func (p *parser) nested(read func() (*Node, *SyntaxError)) (*Node, *SyntaxError) {
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fault(p.pos, "", "values nest more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) object() (*Node, *SyntaxError) {
	n := &Node{Kind: Object, Pos: p.pos}
	p.pos++
	comma := -1
	for {
		c, fault := p.peek()
		switch {
		case fault != nil:
			return nil, fault
		case p.atEnd():
			return nil, p.unclosed(n.Pos, '{', '}')
		case c == '}' && comma >= 0:
			return nil, p.fault(comma, "remove the comma", "trailing comma before }")
		case c == '}':
			p.pos++
			n.End = p.pos
			return n, nil
		}
		m, fault := p.member()
		if fault != nil {
			return nil, fault
		}
		n.Members = append(n.Members, m)
		if comma, fault = p.separator(n.Pos, '{', '}'); fault != nil {
			return nil, fault
		}
	}
}

func (p *parser) member() (Member, *SyntaxError) {
	m := Member{KeyPos: p.pos}
	if p.src[p.pos] != '"' {
		return m, p.badKey()
	}
	key, fault := p.stringNode()
	if fault != nil {
		return m, fault
	}
	m.Key = key.Text
	c, fault := p.peek()
	switch {
	case fault != nil:
		return m, fault
	case p.atEnd():
		return m, p.fault(p.pos, "", "the text ends after a key")
	case c != ':':
		return m, p.fault(p.pos, `write "key": value, and check the quotes`, "a colon is missing after the key")
	}
	p.pos++
	m.Value, fault = p.value()
	return m, fault
}

// separator reads a comma, whose offset it returns, or leaves the closing
// bracket for the caller (and returns -1).
func (p *parser) separator(open int, opener, closer byte) (int, *SyntaxError) {
	end := p.pos
	c, fault := p.peek()
	switch {
	case fault != nil:
		return -1, fault
	case p.atEnd():
		return -1, p.unclosed(open, opener, closer)
	case c == ',':
		p.pos++
		return p.pos - 1, nil
	case c == closer:
		return -1, nil
	case c == '}' || c == ']':
		return -1, p.fault(p.pos, fmt.Sprintf("line %d opened with %c, so it closes with %c", p.line(open), opener, closer), "%c closes nothing here", c)
	}
	return -1, p.fault(end, "put a comma between two values", "a comma is missing here")
}

func (p *parser) array() (*Node, *SyntaxError) {
	n := &Node{Kind: Array, Pos: p.pos}
	p.pos++
	comma := -1
	for {
		c, fault := p.peek()
		switch {
		case fault != nil:
			return nil, fault
		case p.atEnd():
			return nil, p.unclosed(n.Pos, '[', ']')
		case c == ']' && comma >= 0:
			return nil, p.fault(comma, "remove the comma", "trailing comma before ]")
		case c == ']':
			p.pos++
			n.End = p.pos
			return n, nil
		}
		item, fault := p.value()
		if fault != nil {
			return nil, fault
		}
		n.Items = append(n.Items, item)
		if comma, fault = p.separator(n.Pos, '[', ']'); fault != nil {
			return nil, fault
		}
	}
}

func (p *parser) number() (*Node, *SyntaxError) {
	start := p.pos
	for p.pos < len(p.src) && isWordByte(p.src[p.pos]) {
		p.pos++
	}
	text := string(p.src[start:p.pos])
	if !isNumber(text) {
		return nil, p.fault(start, "write it like 12, -3 or 0.5, or put text into double quotes", "this is no number")
	}
	return &Node{Kind: Number, Pos: start, End: p.pos, Text: text}, nil
}

func (p *parser) word() (*Node, *SyntaxError) {
	start := p.pos
	for p.pos < len(p.src) && isWordByte(p.src[p.pos]) {
		p.pos++
	}
	switch word := string(p.src[start:p.pos]); word {
	case "true", "false":
		return &Node{Kind: Bool, Pos: start, End: p.pos, Text: word}, nil
	case "null":
		return &Node{Kind: Null, Pos: start, End: p.pos, Text: word}, nil
	case "":
		return nil, p.badValue(start)
	}
	return nil, p.fault(start, "put text into double quotes; bare words are only true, false and null", "this word is no value")
}

// isNumber follows the grammar of RFC 8259.
func isNumber(s string) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	from := i
	if !digits() || (s[from] == '0' && i > from+1) {
		return false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(s)
}

func isWordByte(c byte) bool {
	return c == '-' || c == '+' || c == '.' || c == '_' || c >= utf8.RuneSelf ||
		(c >= '0' && c <= '9') || (c|0x20 >= 'a' && c|0x20 <= 'z')
}

func (p *parser) line(offset int) int {
	line, _ := NewLocator(p.src).At(offset)
	return line
}

// shown is the character at pos, if it can be shown.
func (p *parser) shown() string {
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	if unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("%U", r)
}
