package jsonpos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

const bom = "\xef\xbb\xbf"

// Parse reads one JSON value. A failure is a [*SyntaxError] for the first fault.
// encoding/json decides what is JSON; this package adds the places and the hints.
func Parse(src []byte) (*Node, error) {
	src = bytes.TrimPrefix(src, []byte(bom))
	if fault := checkEncoding(src); fault != nil {
		return nil, fault
	}
	end := len(src)
	// The blank at the end gives a text that ends too early an offset of its own.
	err := json.Unmarshal(append(bytes.Clone(src), '\n'), new(json.RawMessage))
	if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
		end = min(int(fault.Offset)-1, len(src))
	}
	if fault := explain(src, end, err != nil); fault != nil {
		return nil, fault
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	r := reader{Decoder: d, src: src, place: Place{1, 1}}
	return r.value()
}

func checkEncoding(src []byte) *SyntaxError {
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return faultAt(src, 0, "save it as UTF-8", "the file is encoded in UTF-16")
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return faultAt(src, i, "save the file as UTF-8", "this byte is not UTF-8 text")
		}
		i += size
	}
	return nil
}

func faultAt(src []byte, offset int, hint, format string, args ...any) *SyntaxError {
	return &SyntaxError{Place: Place{1, 1}.after(src[:offset]), Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// reader makes a tree of a text that is known to be valid. It moves forward only,
// so that finding all places takes one pass over the text.
type reader struct {
	*json.Decoder
	src   []byte
	at    int // the offset of place
	place Place
}

// next is the place of the next token. Only blanks, commas and colons precede it.
func (r *reader) next() Place {
	start := int(r.InputOffset())
	for start < len(r.src) && bytes.IndexByte([]byte(" \t\r\n,:"), r.src[start]) >= 0 {
		start++
	}
	r.place = r.place.after(r.src[r.at:start])
	r.at = start
	return r.place
}

func (r *reader) value() (*Node, error) {
	n := &Node{Place: r.next()}
	token, err := r.Token()
	switch t := token.(type) {
	case json.Delim:
		return n, r.nested(n, t)
	case string:
		n.Kind, n.Text = String, t
	case json.Number:
		n.Kind, n.Text = Number, t.String()
	case bool:
		n.Kind, n.Text = Bool, fmt.Sprint(t)
	case nil:
		n.Kind, n.Text = Null, "null"
	}
	return n, err
}

// nested reads the members or items up to the closing bracket.
func (r *reader) nested(n *Node, opener json.Delim) error {
	n.Kind = Array
	if opener == '{' {
		n.Kind = Object
	}
	for r.More() {
		m := Member{Place: r.next()}
		if n.Kind == Object {
			key, err := r.Token()
			if err != nil {
				return err // Unreachable: the text is valid.
			}
			m.Key = fmt.Sprint(key)
		}
		value, err := r.value()
		if err != nil {
			return err // Unreachable: the text is valid.
		}
		if m.Value = value; n.Kind == Object {
			n.Members = append(n.Members, m)
		} else {
			n.Items = append(n.Items, value)
		}
	}
	_, err := r.Token()
	return err
}
