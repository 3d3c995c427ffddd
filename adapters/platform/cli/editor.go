package cli

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/width"
)

const prompt = "> "

// errPasted comes with a line that is part of a larger text that was pasted.
var errPasted = errors.New("the line was pasted")

// editor is a line editor. Unlike that of golang.org/x/term it knows that Chinese characters take
// two columns. What is written to it while somebody types appears above the line.
type editor struct {
	keys    *bufio.Reader
	columns func() int
	history *history

	mu      sync.Mutex
	out     io.Writer
	line    []rune
	pos     int    // of the cursor in the line
	row     int    // of the cursor on the screen, from that of the prompt
	shown   bool   // the prompt is on the screen
	older   int    // which line of the history is shown; 0 is the line being typed
	typed   string // the line being typed, while one of the history is shown
	pasting bool
	pasted  bool // all of the line so far
}

// readLine returns the next line. With errPasted it is part of a larger text.
func (e *editor) readLine() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line, e.pos, e.row, e.older, e.pasted = nil, 0, 0, 0, e.pasting
	for {
		if e.keys.Buffered() == 0 || !e.shown {
			e.paint()
		}
		e.mu.Unlock()
		key, params, err := e.key()
		e.mu.Lock()
		if err != nil {
			return "", err
		}
		if key == '\r' || key == '\n' {
			if next, _ := e.keys.Peek(min(1, e.keys.Buffered())); key == '\r' && string(next) == "\n" {
				_, _ = e.keys.Discard(1) // it is buffered
			}
			return e.enter()
		}
		if key == keyLeave && len(e.line) == 0 && !e.pasting {
			return "", io.EOF
		}
		e.press(key, params)
	}
}

// enter ends the line.
func (e *editor) enter() (string, error) {
	e.pos = len(e.line)
	e.paint()
	e.write("\r\n")
	e.shown = false
	line := string(e.line)
	e.history.Add(line)
	if e.pasted && e.pasting {
		return line, errPasted
	}
	return line, nil
}

// The control keys, as their characters.
const (
	keyHome, keyBack, keyLeave, keyEnd, keyForward = 1, 2, 4, 5, 6
	keyErase, keyCut, keyClear, keyNext, keyPrior  = 8, 11, 12, 14, 16
	keySwap, keyCutBack, keyCutWord, keyDelete     = 20, 21, 23, 127
	escape                                         = 27
)

// key reads one key. That of an escape sequence is its last character, negated, with its parameters.
func (e *editor) key() (key rune, params string, err error) {
	for {
		key, _, err = e.keys.ReadRune()
		if err != nil || key != escape {
			return key, "", err //nolint:wrapcheck // the reader reports it
		}
		if key, _, err = e.keys.ReadRune(); err != nil {
			return 0, "", err //nolint:wrapcheck // the reader reports it
		}
		if key != '[' && key != 'O' { // the key Escape alone
			_ = e.keys.UnreadRune() // it was just read
			continue
		}
		for {
			if key, _, err = e.keys.ReadRune(); err != nil || '@' <= key && key <= '~' {
				return -key, params, err //nolint:wrapcheck // the reader reports it
			}
			params += string(key)
		}
	}
}

// press does what a key means.
func (e *editor) press(key rune, params string) {
	switch {
	case key == -'~' && (params == "200" || params == "201"):
		e.pasting = params == "200"
		e.pasted = e.pasted || len(e.line) == 0
		return
	case e.pasting:
		if key > 0 {
			e.insert(key)
		}
		return
	}
	e.pasted = false
	word := strings.Contains(params, ";")
	switch key {
	case keyHome, -'H':
		e.pos = 0
	case keyEnd, -'F':
		e.pos = len(e.line)
	case keyBack, -'D':
		e.pos = e.left(word)
	case keyForward, -'C':
		e.pos = e.right(word)
	case keyErase, keyDelete:
		e.cut(e.left(false), e.pos)
	case keyLeave:
		e.cut(e.pos, e.right(false))
	case -'~':
		if params == "3" {
			e.cut(e.pos, e.right(false))
		}
	case keyCutWord:
		e.cut(e.left(true), e.pos)
	case keyCutBack:
		e.cut(0, e.pos)
	case keyCut:
		e.cut(e.pos, len(e.line))
	case keySwap:
		if at := min(e.pos, len(e.line)-1); at > 0 {
			e.line[at-1], e.line[at] = e.line[at], e.line[at-1]
			e.pos = at + 1
		}
	case keyClear:
		e.write("\x1b[2J\x1b[H")
		e.row = 0
	case keyPrior, -'A':
		e.show(e.older + 1)
	case keyNext, -'B':
		e.show(e.older - 1)
	default:
		if key >= ' ' && key != unicode.ReplacementChar {
			e.insert(key)
		}
	}
}

func (e *editor) insert(r rune) {
	e.line = slices.Insert(e.line, e.pos, r)
	e.pos++
}

func (e *editor) cut(from, to int) {
	e.line = slices.Delete(e.line, from, to)
	e.pos = from
}

// left returns the position before the cursor, or the beginning of the word before it.
func (e *editor) left(word bool) int {
	at := max(0, e.pos-1)
	for word && at > 0 && (e.line[at] == ' ' || e.line[at-1] != ' ') {
		at--
	}
	return at
}

// right returns the position after the cursor, or the beginning of the next word.
func (e *editor) right(word bool) int {
	at := min(len(e.line), e.pos+1)
	for word && at < len(e.line) && (e.line[at] == ' ' || e.line[at-1] != ' ') {
		at++
	}
	return at
}

// show replaces the line by one of the history, or by the one that was being typed.
func (e *editor) show(older int) {
	if older < 0 || older > e.history.Len() {
		return
	}
	if e.older == 0 {
		e.typed = string(e.line)
	}
	text := e.typed
	if older > 0 {
		text = e.history.At(older - 1)
	}
	e.older, e.line = older, []rune(text)
	e.pos = len(e.line)
}

// Write puts a text above the line.
func (e *editor) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, again := "", e.shown
	if e.shown {
		before, e.row, e.shown = e.toPrompt(), 0, false
	}
	_, err := io.WriteString(e.out, before+strings.ReplaceAll(string(p), "\n", "\r\n"))
	if again {
		e.paint()
	}
	return len(p), err //nolint:wrapcheck // the printer ignores it
}

// toPrompt goes to the beginning of the prompt and erases all after it.
func (e *editor) toPrompt() string { return "\r" + move(e.row, 'A') + "\x1b[J" }

// paint shows the prompt and the line.
func (e *editor) paint() {
	var b strings.Builder
	if e.shown {
		b.WriteString(e.toPrompt())
	}
	b.WriteString(prompt)
	x, y, atX, atY, most := len(prompt), 0, 0, 0, e.columns()
	for i, r := range append(slices.Clone(e.line), ' ') { // the cursor may be after the last character
		if !unicode.IsPrint(r) && cells(r) > 0 {
			r = ' '
		}
		n := cells(r)
		if x+n > most {
			b.WriteString("\r\n")
			x, y = 0, y+1
		}
		if i == e.pos {
			atX, atY = x, y
		}
		if i < len(e.line) {
			b.WriteRune(r)
			x += n
		}
	}
	if atX != x || atY != y {
		b.WriteString(move(y-atY, 'A') + "\r" + move(atX, 'C'))
	}
	e.row, e.shown = atY, true
	e.write(b.String())
}

func (e *editor) write(text string) { _, _ = io.WriteString(e.out, text) } // if the screen is gone, the next key fails

// move moves the cursor by some places.
func move(n int, direction byte) string {
	if n == 0 {
		return ""
	}
	return "\x1b[" + strconv.Itoa(n) + string(direction)
}

// cells is how many columns a character takes.
func cells(r rune) int {
	switch k := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case k == width.EastAsianWide, k == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
