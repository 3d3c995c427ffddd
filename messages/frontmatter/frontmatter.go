// Package frontmatter reads files that people write and models act on: a block of
// YAML between two lines ---, and a text below it. What cannot be used is reported as a
// [Fault], with the line and with what to do. It is pure, and safe for untrusted bytes; the
// caller knows what the members mean.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Form is how a kind of file is written.
type Form struct {
	Max  int  // the most bytes between the lines
	Dots bool // a line of three dots ends the block as well
	// Begin, Member and Quote are the hints for a file without a block, a block without
	// members, and one that is not YAML.
	Begin, Member, Quote string
}

// Fault is what is wrong with a file, and at which line. Line 0 is the whole file.
type Fault struct {
	Line       int
	What, Hint string
}

// Error implements error.
func (f Fault) Error() string { return f.What + "; " + f.Hint }

// Faultf makes a [Fault].
func Faultf(line int, hint, what string, args ...any) error {
	return Fault{line, fmt.Sprintf(what, args...), hint}
}

// Document is a file as it was read.
type Document struct {
	Members []Member
	Text    string // below the block, without blanks around it
	Line    int    // of what ends the block
}

// Member is one member of the block.
type Member struct{ Key, Value *yaml.Node }

// Line is the line of the member in the file.
func (m Member) Line() int { return m.Key.Line + 1 }

// Read reads a file. A byte order mark is ignored, and line ends may be those of Windows.
// Its errors are faults.
func (f Form) Read(raw []byte) (Document, error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if err := visible(raw); err != nil {
		return Document{}, err
	}
	front, body, err := f.split(strings.ReplaceAll(string(raw), "\r\n", "\n"))
	if err != nil {
		return Document{}, err
	}
	var root yaml.Node
	if err := unmarshal(front, &root); err != nil {
		return Document{}, Faultf(min(lineOf(err), strings.Count(front, "\n"))+1, f.Quote, "the front matter is no YAML")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return Document{}, Faultf(2, f.Member, "the front matter has no members")
	}
	d := Document{Text: strings.TrimSpace(body), Line: strings.Count(front, "\n") + 2}
	nodes := root.Content[0].Content
	for i := 0; i+1 < len(nodes); i += 2 {
		d.Members = append(d.Members, Member{nodes[i], nodes[i+1]})
	}
	return d, nil
}

// visible refuses what people cannot see but a model can read.
func visible(raw []byte) error {
	line := 1
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n <= 1:
			return Faultf(line, "save the file as UTF-8", "bytes that are no UTF-8")
		case r == '\t' || r == '\r':
		case Hidden(r):
			return Invisible(line, r)
		}
		i += n
	}
	return nil
}

// Invisible is the fault of a file with a character that is [Hidden].
func Invisible(line int, r rune) error {
	return Faultf(line, "remove it", "an invisible character U+%04X", r)
}

// Hidden reports whether a character controls a terminal, changes the order of what is shown, or spells words that are
// not.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F || r == 0x2028 || r == 0x2029
}

// split parts the block from the text.
func (f Form) split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", Faultf(1, f.Begin, "there is no front matter")
	}
	at := 0
	for line := range strings.Lines(rest) {
		if end := strings.TrimRight(line, " \t\n"); end == "---" || f.Dots && end == "..." {
			if at > f.Max {
				return "", "", Faultf(1, "move it into the text", "the front matter has %d bytes, at most %d", at, f.Max)
			}
			return rest[:at], rest[at+len(line):], nil
		}
		at += len(line)
	}
	return "", "", Faultf(1, f.Begin, "the front matter does not end")
}

// unmarshal is yaml.Unmarshal for untrusted bytes: a panic becomes an error.
func unmarshal(text string, node *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("line 1: it cannot be read")
		}
	}()
	return yaml.Unmarshal([]byte(text), node)
}

// lineOf is the line that a YAML error names; without one it is the first.
func lineOf(err error) int {
	line := 1
	if m := regexp.MustCompile(`line (\d{1,6})`).FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscanf(m[1], "%d", &line) // digits
	}
	return line
}
