// Package jsonpos reads JSON and keeps the place of every value.
//
// People write settings by hand, so a fault is shown at its line and column with
// a hint at what to type instead, and a key that appears twice is not lost. Parse
// accepts exactly the texts that RFC 8259 calls JSON, encoded in UTF-8 and nested
// at most MaxDepth deep; a byte order mark at the start is skipped. It is pure and
// safe for concurrent use.
package jsonpos

import (
	"bytes"
	"unicode/utf8"
)

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
	return [...]string{Null: "null", Bool: "true or false", Number: "a number", String: "a string", Array: "a list", Object: "an object"}[k]
}

// Place is a line and a column of a text, both counted from 1, or 0 for a value
// that comes from no file. Columns count characters, not bytes.
type Place struct{ Line, Col int }

// after is the place at the end of a text that starts at p.
func (p Place) after(text []byte) Place {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return Place{p.Line + bytes.Count(text, []byte("\n")), 1 + utf8.RuneCount(text[i+1:])}
	}
	return Place{p.Line, p.Col + utf8.RuneCount(text)}
}

// Node is one value of the text.
type Node struct {
	Place
	Kind Kind
	// Text is the decoded string, the number as written, or true, false, null.
	Text string
	// Members are the keys of an object in the order written, duplicates too.
	Members []Member
	// Items are the elements of an array.
	Items []*Node
}

// Member is one key of an object, at the place of the key, with its value.
type Member struct {
	Place
	Key   string
	Value *Node
}

// SyntaxError says why a text is not JSON. Its place is where a person should look.
type SyntaxError struct {
	Place
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
