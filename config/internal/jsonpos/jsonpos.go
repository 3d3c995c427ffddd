// Package jsonpos parses JSON and keeps the place of every value.
//
// People write settings by hand, so a fault is reported with its line and column and a hint on how to fix it, and
// duplicate keys are kept. Parse accepts exactly the JSON texts of RFC 8259, encoded in UTF-8 and nested at most
// MaxDepth deep; it skips a byte order mark at the start. It has no side effects and is safe for concurrent use.
package jsonpos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 64

// Kind is the type of a Node's value.
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
	return [...]string{Null: "null", Bool: "true or false", Number: "a number", String: "a string", Array: "a list", Object: "an object"}[k]
}

// Position is a line and a column of a text, both counted from 1, or 0 for a value that does not come from a file.
// Columns count characters, not bytes.
type Position struct{ Line, Col int }

// after is the place at the end of a text that starts at p.
func (p Position) after(text []byte) Position {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return Position{p.Line + bytes.Count(text, []byte("\n")), 1 + utf8.RuneCount(text[i+1:])}
	}
	return Position{p.Line, p.Col + utf8.RuneCount(text)}
}

// Node is one value of the text.
type Node struct {
	Position
	Kind Kind
	// Text is the decoded string, the number as written, or true, false, null.
	Text string
	// Members are the keys of an object in the order written, including duplicates.
	Members []Member
	// Items are the elements of an array.
	Items []*Node
}

// Member is one key of an object, at the place of the key, with its value.
type Member struct {
	Position
	Key   string
	Value *Node
}

// SyntaxError says why a text is not JSON. Its place is where a person should look.
type SyntaxError struct {
	Position
	// Msg says what is wrong there, and Hint how to fix it, if known. Neither quotes more of the text than a single
	// character or a bare word.
	Msg, Hint string
}

// Error joins the message and the hint.
func (e *SyntaxError) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + "; " + e.Hint
}

const bom = "\xef\xbb\xbf"

// Parse reads one JSON value. A failure is a [*SyntaxError] for the first fault.
func Parse(src []byte) (n *Node, err error) {
	p := &parser{src: bytes.TrimPrefix(src, []byte(bom)), at: Position{1, 1}}
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case *SyntaxError:
			n, err = nil, fault
		default:
			panic(fault)
		}
	}()
	p.checkEncoding()
	n = p.value()
	switch c, ok := p.peek(); {
	case c == '}' || c == ']':
		p.fail(p.pos, "remove it", "%c closes nothing here", c)
	case ok:
		p.fail(p.pos, "keep one { … } in the file", "text follows after the end of the value")
	}
	return n, nil
}

// parser parses the text in one pass. It panics with a *SyntaxError, which Parse recovers. Strings and numbers are
// decoded by encoding/json.
type parser struct {
	src        []byte
	pos, depth int
	at         Position // the place of the offset atPos, where the next count starts
	atPos      int
}

func (p *parser) fail(offset int, hint, format string, args ...any) {
	panic(&SyntaxError{Position: Position{1, 1}.after(p.src[:offset]), Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// position is the place of the current offset.
func (p *parser) position() Position {
	p.at = p.at.after(p.src[p.atPos:p.pos])
	p.atPos = p.pos
	return p.at
}

func (p *parser) checkEncoding() {
	if bytes.HasPrefix(p.src, []byte("\xff\xfe")) || bytes.HasPrefix(p.src, []byte("\xfe\xff")) {
		p.fail(0, "save it as UTF-8", "the file is encoded in UTF-16")
	}
	for i := 0; i < len(p.src); {
		r, size := utf8.DecodeRune(p.src[i:])
		if r == utf8.RuneError && size == 1 {
			p.fail(i, "save the file as UTF-8", "this byte is not UTF-8 text")
		}
		i += size
	}
}

// peek skips whitespace and returns the next byte. It returns false at the end of the text.
func (p *parser) peek() (byte, bool) {
	for ; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\r', '\n':
		case '/', '#':
			p.fail(p.pos, "remove it, or keep notes in another file", "JSON has no comments")
		default:
			return c, true
		}
	}
	return 0, false
}

func (p *parser) value() *Node {
	c, ok := p.peek()
	n := &Node{Position: p.position()}
	switch {
	case !ok:
		p.fail(p.pos, "", "the text ends where a value is expected")
	case c == '{':
		n.Kind = Object
		p.group(n, '{', '}')
	case c == '[':
		n.Kind = Array
		p.group(n, '[', ']')
	case c == '"':
		n.Kind, n.Text = String, p.text()
	default:
		n.Kind, n.Text = p.word()
	}
	return n
}

// group reads the members of an object or the items of a list.
func (p *parser) group(n *Node, opener, closer byte) {
	open, comma := p.pos, -1
	if p.depth++; p.depth > MaxDepth {
		p.fail(open, "", "values nest more than %d deep", MaxDepth)
	}
	for p.pos++; ; {
		switch c, ok := p.peek(); {
		case !ok:
			p.unclosed(open, closer)
		case c == closer && comma >= 0:
			p.fail(comma, "remove the comma", "trailing comma before %c", c)
		case c == closer:
		case n.Kind == Object:
			n.Members = append(n.Members, p.member(c))
		default:
			n.Items = append(n.Items, p.value())
		}
		end := p.pos
		switch c, ok := p.peek(); {
		case !ok:
			p.unclosed(open, closer)
		case c == closer:
			p.pos++
			p.depth--
			return
		case c == '}' || c == ']':
			p.fail(p.pos, fmt.Sprintf("line %d opened with %c, so it closes with %c", Position{1, 1}.after(p.src[:open]).Line, opener, closer), "%c closes nothing here", c)
		case c != ',':
			p.fail(end, "put a comma between two values", "a comma is missing here")
		}
		comma = p.pos
		p.pos++
	}
}

func (p *parser) unclosed(open int, closer byte) {
	at := Position{1, 1}.after(p.src[:open])
	p.fail(p.pos, fmt.Sprintf("add %c", closer), "the text ends, but the %c of line %d, column %d is still open", p.src[open], at.Line, at.Col)
}

func (p *parser) member(c byte) Member {
	switch m := (Member{Position: p.position()}); {
	case c == '"':
		m.Key = p.text()
		switch c, ok := p.peek(); {
		case !ok:
			p.fail(p.pos, "", "the text ends after a key")
		case c != ':':
			p.fail(p.pos, `write "key": value, and check the quotes`, "a colon is missing after the key")
		}
		p.pos++
		m.Value = p.value()
		return m
	case c == '\'':
		p.fail(p.pos, `use double quotes: "key"`, "a key is in single quotes")
	case c == ',':
		p.fail(p.pos, "remove it", "a comma too many")
	case c == ']' || c == ')':
		p.fail(p.pos, "an object closes with }", "%c closes nothing here", c)
	case isWordByte(c):
		p.fail(p.pos, `put it into double quotes: "key"`, "a key has no quotes")
	}
	p.fail(p.pos, `write "key": value`, "%s is where a key is expected", p.shown())
	return Member{} // Unreachable: fail panics.
}

// word reads a number, true, false or null.
func (p *parser) word() (Kind, string) {
	start := p.pos
	for p.pos < len(p.src) && isWordByte(p.src[p.pos]) {
		p.pos++
	}
	word := string(p.src[start:p.pos])
	number := word != "" && (word[0] == '-' || word[0] >= '0' && word[0] <= '9')
	switch valid := json.Valid([]byte(word)); {
	case word == "":
		p.badValue()
	case valid && number:
		return Number, word
	case word == "null":
		return Null, word
	case !valid && number:
		p.fail(start, "write it like 12, -3 or 0.5, or put text into double quotes", "this is not a number")
	case !valid:
		p.fail(start, "put text into double quotes; bare words are only true, false and null", "this word is not a value")
	}
	return Bool, word
}

func (p *parser) badValue() {
	switch c := p.src[p.pos]; c {
	case '\'', '`':
		p.fail(p.pos, "use double quotes", "a string is in the wrong quotes")
	case ',':
		p.fail(p.pos, "write the value, or remove the comma", "a value is missing before the comma")
	case '}', ']':
		p.fail(p.pos, "", "a value is missing before %c", c)
	case ':', '=':
		p.fail(p.pos, `write "key": value`, "%c too many", c)
	}
	p.fail(p.pos, "", "%s is where a value is expected", p.shown())
}

// text reads a string; the next byte is its opening quote.
func (p *parser) text() (text string) {
	start := p.pos
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			if err := json.Unmarshal(p.src[start:p.pos], &text); err != nil {
				panic(err) // Unreachable: all contents of a string were checked.
			}
			return text
		case c == '\\':
			p.escape()
		case c == '\n' || c == '\r':
			p.fail(start, `add the closing " on the same line; a line break is written \n`, "the string that starts here has no end")
		case c < ' ':
			p.fail(p.pos, `write it as \t or \u00XX`, "a string contains a control character")
		}
	}
	p.fail(start, `add the closing " on the same line; a line break is written \n`, "the string that starts here has no end")
	return ""
}

// escape moves to the last byte of an escape sequence.
func (p *parser) escape() {
	rest := p.src[p.pos+1:]
	switch {
	case len(rest) == 0:
		p.fail(p.pos, `add the closing "`, "the text ends inside a string")
	case rest[0] == 'u' && (len(rest) < 5 || strings.Trim(string(rest[1:5]), "0123456789abcdefABCDEF") != ""):
		p.fail(p.pos, `write a backslash as \\`, `\u needs four hexadecimal digits`)
	case strings.IndexByte(`"\/bfnrtu`, rest[0]) < 0:
		p.fail(p.pos, `write a backslash as \\`, `\ starts an escape that JSON does not have`)
	}
	p.pos++
}

func isWordByte(c byte) bool {
	return strings.IndexByte("-+._", c) >= 0 || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// shown is the character at the current offset, if it can be shown.
func (p *parser) shown() string {
	r, _ := utf8.DecodeRune(p.src[p.pos:])
	if unicode.IsPrint(r) {
		return string(r)
	}
	return fmt.Sprintf("%U", r)
}
