package persistence

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Errors of memories.
var (
	// ErrMemoryChanged: the text is no longer the one that was to be replaced.
	ErrMemoryChanged = errors.New("the memory was changed meanwhile")
	// ErrMemoryFull: a memory would grow beyond [MaxMemory].
	ErrMemoryFull = errors.New("the memory is full")
	// ErrMemoryPlace: there can be no memory of that name.
	ErrMemoryPlace = errors.New("there is no such memory")
)

// MaxMemory is the longest memory in bytes.
const MaxMemory = 1 << 20

// MemoryStore keeps what is remembered: Markdown that people read and edit. A nil
// error means durable. Every change replaces a text as a whole: after a crash the
// old or the new one is there. It is safe for concurrent use, also by several
// processes.
type MemoryStore interface {
	// ReadMemory is a text; one that is not there is empty.
	ReadMemory(ctx context.Context, place MemoryPlace) (string, error)
	// AddMemory adds facts at the end and reports how many are new: a fact whose words
	// are there already is left out. What stands there stays as it is.
	AddMemory(ctx context.Context, place MemoryPlace, facts ...MemoryFact) (int, error)
	// ReplaceMemory puts a text in the place of was, or fails with [ErrMemoryChanged].
	// With backup, was is kept in a file beside it first.
	ReplaceMemory(ctx context.Context, place MemoryPlace, was, text string, backup bool) error
	MemoryCursor
}

// MemoryCursor remembers how far facts were taken from a chat's history.
type MemoryCursor interface {
	// Extracted is how far it was; zero: nothing was taken.
	Extracted(ctx context.Context, key messages.ChatKey) (MemoryMark, error)
	// AddExtracted adds facts to the memory of a chat and moves its mark. Both are
	// there after a crash, or neither.
	AddExtracted(ctx context.Context, key messages.ChatKey, to MemoryMark, facts ...MemoryFact) (int, error)
}

// MemoryMark is a place in a history: the turn, and its arrival number for when it
// is no longer there.
type MemoryMark struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
}

// MemoryPlace says whose memory: that of a chat, of a person, or with both empty
// that of the project.
type MemoryPlace struct {
	Chat messages.ChatKey
	User string // <platform>-<userId>
}

// MemoryFact is one thing that is remembered.
type MemoryFact struct {
	At time.Time
	// Text becomes one line, whatever stands in it.
	Text string
	// Sources are the ids of the turns that it is from.
	Sources []string
	// Said is who said it, if the fact is no more than that; see [SplitStatements].
	Said Speaker
}

// Line is the fact as it stands in a memory: dated, with its sources, one line.
// Without words there is none.
func (f MemoryFact) Line() string {
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

// FactText is a text as one line, without what does not show or turns its direction.
func FactText(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}), " ")
}

// MemoryWords is what a line of a memory says: without its mark, date and sources.
func MemoryWords(line string) string {
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

// AppendFacts is a memory with facts behind it, and how many of them are new.
func AppendFacts(text string, facts ...MemoryFact) (string, int) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		known[MemoryWords(line)] = true
	}
	n := 0
	for _, f := range facts {
		line := f.Line()
		if line == "" || known[MemoryWords(line)] {
			continue
		}
		known[MemoryWords(line)] = true
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += line + "\n"
		n++
	}
	return text, n
}

// FrontMatter cuts a memory behind the YAML that it may begin with.
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
