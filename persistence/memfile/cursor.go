package memfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// cursor is the content of extracted.json. A mark is written in two steps: first as the next one,
// with the digest of the text that belongs to it. It is valid only once that text is durable.
type cursor struct {
	memories.Mark

	Next *memories.Mark `json:"next,omitempty"`
	Text string         `json:"text,omitempty"`
}

// cursor is the document next to the memory of a chat.
func (s *Store) cursor(file string) document.File[cursor] {
	path := filepath.Join(filepath.Dir(file), "extracted.json")
	return document.File[cursor]{
		Path: path, Max: maxRead, Disk: s.disk,
		Decode: func(raw []byte) (c cursor, err error) {
			if len(raw) > 0 {
				err = json.Unmarshal(raw, &c)
			}
			return c, err
		},
		Encode: func(c cursor) ([]byte, error) {
			raw, err := json.Marshal(c)
			return append(raw, '\n'), err
		},
		Unreadable: func(err error) error { return fmt.Errorf("read %s: %w", path, err) },
	}
}

// reached returns the mark that is valid for a text.
func (c cursor) reached(text string) memories.Mark {
	if c.Next != nil && c.Text == digest(text) {
		return *c.Next
	}
	return c.Mark
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Extracted implements [persistence.MemoryCursor].
func (s *Store) Extracted(_ context.Context, key messages.ChatKey) (memories.Mark, error) {
	file, err := s.Path(memories.Place{Chat: key})
	if err != nil {
		return memories.Mark{}, err
	}
	text, err := read(file)
	if err != nil {
		return memories.Mark{}, err
	}
	c, err := s.cursor(file).Read()
	return c.reached(text), err
}

// AddExtracted implements [persistence.MemoryCursor]. The next mark is written before the
// text that it belongs to.
func (s *Store) AddExtracted(ctx context.Context, key messages.ChatKey, to memories.Mark, facts ...memories.Fact) (int, error) {
	n := 0
	err := s.change(ctx, memories.Place{Chat: key}, func(file string, was []byte) error {
		if !utf8.Valid(was) {
			return errEncoding
		}
		marks := s.cursor(file)
		c, err := marks.Read()
		if err != nil {
			return err
		}
		var text string
		if text, n = memories.Append(string(was), facts...); n > 0 {
			if err := marks.Write(cursor{Mark: c.reached(string(was)), Next: &to, Text: digest(text)}); err != nil {
				return err
			}
			if err := s.put(file, text); err != nil {
				return err
			}
		}
		return marks.Write(cursor{Mark: to})
	})
	return n, err
}
