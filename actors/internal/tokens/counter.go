package tokens

import (
	"bufio"
	"compress/flate"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// maxText is how much of one text is counted exactly; the rest is bounded by [Bound].
const maxText = 1 << 20

// Counter counts tokens. It is safe for concurrent use; a host has one.
type Counter struct {
	table chan *tiktoken.Tiktoken // contains the one table, or nil before its first use, unless a goroutine is reading it
}

// NewCounter makes a counter that has not read its tables yet.
func NewCounter() *Counter {
	c := &Counter{table: make(chan *tiktoken.Tiktoken, 1)}
	c.table <- nil
	return c
}

// Count is the number of tokens of a text. Text that looks like a control token counts as ordinary
// text.
func (c *Counter) Count(text string) (int, error) {
	t, err := c.load()
	if err != nil {
		return 0, err
	}
	n := 0
	if len(text) > maxText {
		at := border(text, maxText)
		n, text = Bound(text[at:]), text[:at]
	}
	for len(text) > 0 {
		at := part(text)
		n += len(t.EncodeOrdinary(text[:at]))
		text = text[at:]
	}
	return n, nil
}

// load makes the tables when they are first needed; they are embedded in the program. The library's own way to them keeps
// a loader in a variable without a lock, which several hosts of a process would write at once. Control tokens are not
// needed: no text is counted as one.
func (c *Counter) load() (t *tiktoken.Tiktoken, err error) {
	t = <-c.table
	defer func() { c.table <- t }()
	if t != nil {
		return t, nil
	}
	ranks, err := ranks(bufio.NewReader(flate.NewReader(strings.NewReader(vocabulary))))
	if err != nil {
		return nil, fmt.Errorf("read the tokenizer's vocabulary: %w", err)
	}
	bpe, err := tiktoken.NewCoreBPE(ranks, nil, pattern())
	if err != nil {
		return nil, fmt.Errorf("make the tokenizer: %w", err)
	}
	return tiktoken.NewTiktoken(bpe, &tiktoken.Encoding{Name: name, MergeableRanks: ranks}, nil), nil
}

// part is where to split a text so that counting stays linear: after a whole word if possible.
func part(text string) int {
	if len(text) <= maxRun {
		return len(text)
	}
	run, spaces := 0, false
	for i := range len(text) {
		if s := space(text[i]); s != spaces || i == 0 {
			run, spaces = i, s
		}
		switch {
		case i-run >= maxRun, i >= maxChunk:
			return border(text, i)
		case i >= chunk && word(text, i):
			return i
		}
	}
	return len(text)
}

// word reports whether a word with one space before it starts here, after another word: no token
// crosses this place.
func word(text string, i int) bool {
	return text[i] == ' ' && letter(text[i-1]) && i+1 < len(text) && letter(text[i+1])
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// border is the last character boundary at or before a place.
func border(text string, at int) int {
	for i := at; i > at-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}
