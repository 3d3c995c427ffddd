package longtext

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// MaxParts is how many messages one answer may take before it is paged.
const MaxParts = 4

// Splitter cuts texts into pages. It is pure.
type Splitter struct {
	MaxText int // length of a message in UTF-16 units
	Parts   func(text string) int
}

// Long reports whether a text needs more messages than one page may take.
func (s Splitter) Long(text string) bool {
	switch n := Units(text, (MaxParts+2)*s.MaxText); {
	case n <= s.MaxText:
		return false
	case n > (MaxParts+2)*s.MaxText:
		return true // invisible markup is less than a sixth of a readable text
	}
	return s.Parts(text) > MaxParts
}

// Page returns the page that begins at an offset, and the offset of the next page, which is the length of the text
// after the last page. The caller appends tail to every page but the last.
func (s Splitter) Page(text string, at int, tail string) (body string, end int) {
	open := fenceAt(text, at)
	rest := open + text[at:]
	if !s.Long(rest) {
		return rest, len(text)
	}
	room := MaxParts*s.MaxText - Units(open+tail, 1<<20) - 16
	for tries := 0; ; tries++ {
		end = at + cut(text[at:], max(room, 1))
		body = open + text[at:end]
		if fence := fenceAt(text, end); fence != "" {
			if !strings.HasSuffix(body, "\n") {
				body += "\n"
			}
			body += closing(fence)
		}
		if tries == maxCuts || s.Parts(body+tail) <= MaxParts {
			return body, end
		}
		room = room * 9 / 10
	}
}

// maxCuts is how often a page is shortened before it is accepted.
const maxCuts = 20

// cut returns the best offset at which to cut a text so that at most room UTF-16 units come before it: after a
// paragraph, a line or a word, and at least after the first character.
func cut(text string, room int) int {
	end := len(prefix(text, room))
	if end == len(text) {
		return end
	}
	for _, mark := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:end], mark); i > end/2 {
			return i + len(mark)
		}
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(text)
	}
	return end
}

// prefix returns the longest prefix of a text with at most room UTF-16 units.
func prefix(text string, room int) string {
	n := 0
	for i, r := range text {
		n += utf16.RuneLen(r)
		if n > room {
			return text[:i]
		}
	}
	return text
}

// Units counts the UTF-16 units of a text. It stops soon after the count exceeds most.
func Units(text string, most int) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
		if n > most {
			break
		}
	}
	return n
}

// fenceAt returns the line that opened the code block at an offset, or empty if the offset is not in one.
func fenceAt(text string, at int) string {
	open := ""
	for line := range strings.Lines(text[:at]) {
		trimmed := strings.TrimLeft(strings.TrimRight(line, "\n"), " ")
		mark := closing(trimmed)
		switch {
		case mark == "" || len(line)-len(strings.TrimLeft(line, " ")) > 3:
		case open == "":
			open = trimmed
		case strings.HasPrefix(mark, closing(open)) && strings.TrimSpace(trimmed) == mark:
			open = ""
		}
	}
	if open == "" {
		return ""
	}
	return open + "\n"
}

// closing returns the fence at the beginning of a line, or empty.
func closing(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// Pages is a long text of which a part was sent. It is kept in a file with the chat, so that the rest survives a
// restart.
type Pages struct {
	V   int            `json:"v"`
	Row journal.RowKey `json:"row"` // of the first page
	// Text is the full text, and At is how much of it has been sent.
	Text string `json:"text"`
	At   int    `json:"at"`
	// By is the ingress that last asked for a page, and From is where that page began: the same ingress, repeated
	// after a crash, gets the same page.
	By   string `json:"by,omitempty"`
	From int    `json:"from,omitempty"`
}

// ReadPages decodes the contents of a file. It returns nil for an empty file.
func ReadPages(data []byte) (*Pages, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var p Pages
	err := json.Unmarshal(data, &p)
	if err == nil && (p.V != 1 || p.From < 0 || p.From > p.At || p.At > len(p.Text)) {
		err = errors.New("the positions do not fit the text")
	}
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// Encode returns the contents of the file; nil for no pages.
func (p *Pages) Encode() []byte {
	if p == nil {
		return nil
	}
	data, _ := json.Marshal(p) // numbers and strings only, so it cannot fail
	return data
}

// Next returns where the page begins that an ingress asks for, or false if everything was sent.
func (p *Pages) Next(ingressID string) (from int, more bool) {
	from = p.At
	if p.By == ingressID {
		from = p.From
	}
	return from, from < len(p.Text)
}

// Rest returns everything from an offset on.
func (p *Pages) Rest(from int) string { return fenceAt(p.Text, from) + p.Text[from:] }

// Turned returns the pages after an ingress got the text between two offsets.
func (p *Pages) Turned(ingressID string, from, to int) *Pages {
	return &Pages{V: 1, Row: p.Row, Text: p.Text, At: to, By: ingressID, From: from}
}
