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
	// ErrMemoryChanged means that the text is no longer the one that was to be replaced.
	ErrMemoryChanged = errors.New("the memory was changed meanwhile")
	// ErrMemoryFull means that a memory would grow beyond [MaxMemory].
	ErrMemoryFull = errors.New("the memory is full")
	// ErrMemoryPlace means that no memory can have that name.
	ErrMemoryPlace = errors.New("there is no such memory")
)

// MaxMemory is the longest memory in bytes.
const MaxMemory = 1 << 20

// MemoryStore stores memories: Markdown that people read and edit. A nil error means durable. Every
// change replaces a text atomically: after a crash either the old or the new one exists. It is safe
// for concurrent use, also by several processes.
type MemoryStore interface {
	// ReadMemory returns a text, which is empty if it does not exist.
	ReadMemory(ctx context.Context, place MemoryPlace) (string, error)
	// AddMemory appends facts and reports how many are new: a fact whose words already exist is left
	// out. Existing text does not change.
	AddMemory(ctx context.Context, place MemoryPlace, facts ...MemoryFact) (int, error)
	// ReplaceMemory replaces was with a text, or fails with [ErrMemoryChanged]. With backup, was is
	// saved in a file next to it first.
	ReplaceMemory(ctx context.Context, place MemoryPlace, was, text string, backup bool) error
	MemoryCursor
}

// MemoryCursor stores how far facts were extracted from a chat's history.
type MemoryCursor interface {
	// Extracted returns the mark, which is zero if nothing was extracted.
	Extracted(ctx context.Context, key messages.ChatKey) (MemoryMark, error)
	// AddExtracted adds facts to the memory of a chat and moves its mark. After a crash both changes
	// exist, or neither.
	AddExtracted(ctx context.Context, key messages.ChatKey, to MemoryMark, facts ...MemoryFact) (int, error)
}

// MemoryMark is a position in a history: the turn, and its arrival number in case the turn no
// longer exists.
type MemoryMark struct {
	TurnID string `json:"turnId"`
	Seq    int64  `json:"seq"`
}

// MemoryPlace identifies a memory: that of a chat, of a person, or, if both are empty, of the
// project.
type MemoryPlace struct {
	Chat messages.ChatKey
	User string // <platform>-<userId>
}

// MemoryFact is one fact to remember.
type MemoryFact struct {
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

// FactText is a text as one line, without invisible characters and those that change its direction.
func FactText(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}), " ")
}

// MemoryWords is the text of a line of a memory, without its mark, date and sources.
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

// AppendFacts returns a memory with facts appended, and how many of them are new.
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
