package memories

import (
	"bytes"
	"encoding/json"
	"strings"
)

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
