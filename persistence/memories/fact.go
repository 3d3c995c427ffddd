// Package memories defines the text of memories: their facts, and which lines are only people's
// statements. It is pure; the store of memories is
// [github.com/shipmyagent/shipmyagent/persistence.MemoryStore].
package memories

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// MaxSize is the longest memory in bytes.
const MaxSize = 1 << 20

// Mark is a position in a history: the turn, and its arrival number in case the turn no
// longer exists.
type Mark struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
}

// Place identifies a memory: that of a chat, of a person, or, if both are empty, of the
// project.
type Place struct {
	Chat messages.ChatKey
	User string // <platform>-<userId>
}

// Fact is one fact to remember.
type Fact struct {
	At time.Time
	// Text becomes one line, whatever it contains.
	Text string
	// Sources are the ids of the turns that the fact is from.
	Sources []string
	// Said is the speaker if the fact is only a statement; see [SplitStatements].
	Said Speaker
}

// Line is the fact as a line of a memory: dated, with its sources. It is empty if the fact has no
// words.
func (f Fact) Line() string {
	text := f.words()
	if text == "" {
		return ""
	}
	line := "- " + f.At.Format(time.DateOnly) + " " + text
	if len(f.Sources) > 0 {
		line += " [" + FactText(strings.Join(f.Sources, " ")) + "]"
	}
	return line
}

// FactText is a text as one line, without invisible characters and those that change its direction.
func FactText(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}), " ")
}

// Words is the text of a line of a memory, without its mark, date and sources.
func Words(line string) string {
	words, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	if !ok {
		return strings.TrimSpace(line)
	}
	if date, rest, ok := strings.Cut(words, " "); ok {
		if _, err := time.Parse(time.DateOnly, date); err == nil {
			words = rest
		}
	}
	if at := strings.LastIndex(words, " ["); at > 0 && strings.HasSuffix(words, "]") && strings.Contains(words[at:], ":") {
		words = words[:at]
	}
	return words
}

// Append returns a memory with facts appended, and how many of them are new.
func Append(text string, facts ...Fact) (string, int) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		known[Words(line)] = true
	}
	n := 0
	for _, f := range facts {
		line := f.Line()
		if line == "" || known[Words(line)] {
			continue
		}
		known[Words(line)] = true
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += line + "\n"
		n++
	}
	return text, n
}

// FrontMatter splits a memory after the YAML that it may start with.
func FrontMatter(text string) (front, body string) {
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, "\r") != "---" {
		return "", text
	}
	at := len(first) + 1
	for line := range strings.Lines(rest) {
		at += len(line)
		if strings.TrimRight(line, "\r\n") == "---" {
			return text[:at], text[at:]
		}
	}
	return "", text
}

// words is the text of a fact as a memory stores it.
func (f Fact) words() string {
	text := FactText(f.Text)
	if text == "" || f.Said.ID == "" {
		return text
	}
	line, err := plainjson.Append(nil, statement{FactText(f.Said.Name), FactText(f.Said.ID), text})
	if err != nil {
		return text // Unreachable: strings marshal.
	}
	return string(line)
}

// Speaker is the person who said something, as the platform names them.
type Speaker struct {
	Name string // may be empty; people choose it themselves
	ID   string // the platform's; without it there is no speaker
}

// statement is a person's statement as a memory stores it: one JSON object in one line, which no
// text inside can end.
type statement struct {
	From string `json:"from,omitempty"`
	User string `json:"user"`
	Text string `json:"text"`
}

// SplitStatements divides a memory into known facts and people's statements, which are the lines
// made from facts with a speaker. Every line is in exactly one of the two, whatever it contains and
// however it was edited.
func SplitStatements(memory string) (known, said string) {
	if !strings.Contains(memory, `"user":`) {
		return memory, ""
	}
	front, body := FrontMatter(memory)
	var rest, statements strings.Builder
	rest.WriteString(front)
	for line := range strings.Lines(body) {
		if isStatement(line) {
			statements.WriteString(line)
		} else {
			rest.WriteString(line)
		}
	}
	return rest.String(), statements.String()
}

// isStatement reports whether a line is a fact with a speaker.
func isStatement(line string) bool {
	words := Words(line)
	if !strings.HasPrefix(words, "{") {
		return false
	}
	var s statement
	dec := json.NewDecoder(bytes.NewReader([]byte(words)))
	dec.DisallowUnknownFields()
	return dec.Decode(&s) == nil && s.User != "" && dec.InputOffset() == int64(len(words))
}

// DropStatements removes the oldest statements until the memory has at most limit characters; known
// facts stay. ok is false if that is not enough.
func DropStatements(memory string, limit int) (shorter string, ok bool) {
	front, body := FrontMatter(memory)
	over := len([]rune(memory)) - limit
	var out strings.Builder
	out.WriteString(front)
	for line := range strings.Lines(body) {
		if over > 0 && isStatement(line) {
			over -= len([]rune(line))
			continue
		}
		out.WriteString(line)
	}
	return out.String(), over <= 0
}
