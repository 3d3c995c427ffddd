package memfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// cursor is the file extracted.json. A mark that is about to be reached comes with
// the digest of the text that reaches it: it counts as soon as the text is there.
type cursor struct {
	persistence.MemoryMark

	Next *persistence.MemoryMark `json:"next,omitempty"`
	Text string                  `json:"text,omitempty"`
}

// reached is the mark that counts for a text.
func (c cursor) reached(text string) persistence.MemoryMark {
	if c.Next != nil && c.Text == digest(text) {
		return *c.Next
	}
	return c.MemoryMark
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Extracted implements [persistence.MemoryCursor].
func (s *Store) Extracted(_ context.Context, key messages.ChatKey) (persistence.MemoryMark, error) {
	file, err := s.Path(persistence.MemoryPlace{Chat: key})
	if err != nil {
		return persistence.MemoryMark{}, err
	}
	text, err := read(file)
	if err != nil {
		return persistence.MemoryMark{}, err
	}
	c, err := readCursor(file)
	return c.reached(text), err
}

// AddExtracted implements [persistence.MemoryCursor]. Where the mark goes is
// written before the text that takes it there.
func (s *Store) AddExtracted(ctx context.Context, key messages.ChatKey, to persistence.MemoryMark, facts ...persistence.MemoryFact) (int, error) {
	n := 0
	err := s.change(ctx, persistence.MemoryPlace{Chat: key}, func(file string) error {
		was, err := read(file)
		if err != nil {
			return err
		}
		c, err := readCursor(file)
		if err != nil {
			return err
		}
		var text string
		if text, n = persistence.AppendFacts(was, facts...); n > 0 {
			if err := s.putCursor(file, cursor{MemoryMark: c.reached(was), Next: &to, Text: digest(text)}); err != nil {
				return err
			}
			if err := s.put(file, text); err != nil {
				return err
			}
		}
		return s.putCursor(file, cursor{MemoryMark: to})
	})
	return n, err
}

func cursorFile(file string) string { return filepath.Join(filepath.Dir(file), "extracted.json") }

func readCursor(file string) (cursor, error) {
	text, err := read(cursorFile(file))
	if err != nil || text == "" {
		return cursor{}, err
	}
	var c cursor
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return cursor{}, fmt.Errorf("read %s: %w", cursorFile(file), err)
	}
	return c, nil
}

func (s *Store) putCursor(file string, c cursor) error {
	text, err := json.Marshal(c)
	if err != nil { // Unreachable: strings and numbers
		return err
	}
	return s.put(cursorFile(file), string(text)+"\n")
}
