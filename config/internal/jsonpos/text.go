package jsonpos

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// stringNode reads a string; the next byte is its opening quote.
func (p *parser) stringNode() (*Node, *SyntaxError) {
	n := &Node{Kind: String, Pos: p.pos}
	var b strings.Builder
	for p.pos++; ; {
		if p.atEnd() || p.src[p.pos] == '\n' || p.src[p.pos] == '\r' {
			return nil, p.fault(n.Pos, `add the closing " on the same line; a line break is written \n`, "the string that starts here has no end")
		}
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			n.End, n.Text = p.pos, b.String()
			return n, nil
		case c == '\\':
			r, fault := p.escape()
			if fault != nil {
				return nil, fault
			}
			b.WriteRune(r)
		case c < ' ':
			return nil, p.fault(p.pos, `write it as \t or \u00XX`, "a control character stands in a string")
		default:
			b.WriteByte(c)
			p.pos++
		}
	}
}

// escape reads one escape sequence; halves of surrogate pairs that stand alone
// become U+FFFD, as in encoding/json.
func (p *parser) escape() (rune, *SyntaxError) {
	start := p.pos
	p.pos++
	if p.atEnd() {
		return 0, p.fault(start, `add the closing "`, "the text ends inside a string")
	}
	c := p.src[p.pos]
	p.pos++
	if c == 'u' {
		return p.unicodeEscape(start)
	}
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	return 0, p.fault(start, `write a backslash as \\`, `\ starts an escape that JSON does not have`)
}

func (p *parser) unicodeEscape(start int) (rune, *SyntaxError) {
	r, ok := p.hex4()
	if !ok {
		return 0, p.fault(start, `write a backslash as \\`, `\u needs four hexadecimal digits`)
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	rest := p.pos
	if strings.HasPrefix(string(p.src[p.pos:min(p.pos+2, len(p.src))]), `\u`) {
		p.pos += 2
		if low, ok := p.hex4(); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, nil
			}
		}
	}
	p.pos = rest
	return utf8.RuneError, nil
}

func (p *parser) hex4() (rune, bool) {
	if p.pos+4 > len(p.src) {
		return 0, false
	}
	digits := string(p.src[p.pos : p.pos+4])
	if strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, false // Unreachable: four hexadecimal digits always parse.
	}
	p.pos += 4
	return rune(v), true
}

func (p *parser) badKey() *SyntaxError {
	switch c := p.src[p.pos]; {
	case c == '\'':
		return p.fault(p.pos, `use double quotes: "key"`, "a key stands in single quotes")
	case c == ',':
		return p.fault(p.pos, "remove it", "a comma too many")
	case c == ']' || c == ')':
		return p.fault(p.pos, "an object closes with }", "%c closes nothing here", c)
	case isWordByte(c):
		return p.fault(p.pos, `put it into double quotes: "key"`, "a key has no quotes")
	}
	return p.fault(p.pos, `write "key": value`, "%s stands where a key should", p.shown())
}

func (p *parser) badValue(start int) *SyntaxError {
	switch c := p.src[start]; c {
	case '\'', '`':
		return p.fault(start, "use double quotes", "a string stands in the wrong quotes")
	case ',':
		return p.fault(start, "write the value, or remove the comma", "a value is missing before the comma")
	case '}', ']':
		return p.fault(start, "", "a value is missing before %c", c)
	case ':', '=':
		return p.fault(start, `write "key": value`, "%c too many", c)
	}
	return p.fault(start, "", "%s stands where a value should", p.shown())
}

func (p *parser) unclosed(open int, opener, closer byte) *SyntaxError {
	line, col := NewLocator(p.src).At(open)
	return p.fault(p.pos, fmt.Sprintf("add %c", closer), "the text ends, but the %c of line %d, column %d is still open", opener, line, col)
}

func (p *parser) trailing() *SyntaxError {
	if c := p.src[p.pos]; c == '}' || c == ']' {
		return p.fault(p.pos, "remove it", "%c closes nothing here", c)
	}
	return p.fault(p.pos, "keep one { … } in the file", "text follows after the end of the value")
}
