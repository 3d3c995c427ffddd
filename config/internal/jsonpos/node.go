// Package jsonpos parses JSON and keeps the place of every value.
//
// People write settings by hand, so a fault is reported with its line and column and a hint on how to fix it, and
// duplicate keys are kept. Parse accepts exactly the JSON texts of RFC 8259, encoded in UTF-8 and nested at most
// MaxDepth deep; it skips a byte order mark at the start. It has no side effects and is safe for concurrent use.
package jsonpos

import (
	"bytes"
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
