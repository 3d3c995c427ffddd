package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/quoted"
)

const (
	// maxLine is how much of one line is shown, in bytes.
	maxLine = 1000
	// sniffed is how much of a file decides whether it is text.
	sniffed = 8 << 10
)

// kindOf says what bytes are that are no text; empty: they are text.
func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "text in UTF-16"
	case bytes.IndexByte(head, 0) < 0 && mostlyText(head):
		return ""
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if kind == "" || strings.HasPrefix(kind, "text/") {
		kind = "application/octet-stream"
	}
	return kind
}

// mostlyText takes texts in other encodings too, if they are close to ASCII.
func mostlyText(head []byte) bool {
	odd, total := 0, 0
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && (utf8.FullRune(head) || total == 0) || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f\b\x1b", r) {
			odd++
		}
		total, head = total+1, head[n:]
	}
	return odd*10 <= total
}

// page is a part of a text, line by line.
type page struct {
	text     strings.Builder
	first    int // number of the first line that is shown
	shown    int // lines
	total    int // lines of the text; of pieces, if lines are broken
	cut      bool
	replaced bool // bytes that are no UTF-8 were
}

// pager reads a page of a text, and counts its lines.
type pager struct {
	from, lines int
	// broken: long lines are broken and nothing is lost; otherwise they are cut.
	broken bool

	page page
	used int
	full bool
	line []byte // what is kept of the line being read
	more int    // bytes of it that are not
	bits int    // pieces of it that were put out
}

func (p *pager) read(ctx context.Context, r io.Reader) (*page, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		chunk, err := in.ReadSlice('\n')
		ended := err == nil
		p.take(bytes.TrimSuffix(chunk, []byte("\n")))
		switch {
		case ended, errors.Is(err, io.EOF) && (len(p.line) > 0 || p.more > 0):
			p.end()
		case err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read: %w", cause(err))
		}
		if errors.Is(err, io.EOF) {
			return &p.page, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// take adds to the line.
func (p *pager) take(chunk []byte) {
	for len(chunk) > 0 {
		n := min(len(chunk), maxLine+utf8.UTFMax-len(p.line))
		p.line, chunk = append(p.line, chunk[:n]...), chunk[n:]
		if len(p.line) < maxLine+utf8.UTFMax {
			return
		}
		if !p.broken {
			p.more += len(chunk)
			return
		}
		at := boundary(p.line, maxLine)
		p.put(p.line[:at], 0)
		p.bits++
		p.line = append(p.line[:0], p.line[at:]...)
	}
}

// end ends the line.
func (p *pager) end() {
	if len(p.line) > maxLine && p.broken {
		at := boundary(p.line, maxLine)
		p.put(p.line[:at], 0)
		p.bits++
		p.line = append(p.line[:0], p.line[at:]...)
	}
	if len(p.line) > maxLine {
		at := boundary(p.line, maxLine)
		p.more += len(p.line) - at
		p.line = p.line[:at]
	}
	if len(p.line) > 0 || p.bits == 0 {
		p.put(p.line, p.more)
	}
	p.line, p.more, p.bits = p.line[:0], 0, 0
}

// put shows a line if it belongs to the page and fits.
func (p *pager) put(line []byte, more int) {
	p.page.total++
	if p.page.total < p.from || p.full {
		return
	}
	if p.page.total == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	text := strings.ToValidUTF8(string(bytes.TrimSuffix(line, []byte("\r"))), "\ufffd")
	valid := utf8.Valid(line)
	if more > 0 {
		text += fmt.Sprintf(" … [cut: %d more bytes in this line]", more)
	}
	text = strconv.Itoa(p.page.total) + "\t" + text + "\n"
	size := quoted.Len(text)
	if p.page.shown >= p.lines || p.page.shown > 0 && p.used+size > room {
		p.full = true
		return
	}
	if p.page.shown == 0 {
		p.page.first = p.page.total
	}
	p.page.text.WriteString(text)
	p.used += size
	p.page.shown++
	p.page.cut = p.page.cut || more > 0
	p.page.replaced = p.page.replaced || !valid
}

// boundary is the last place up to at where no character is cut in two.
func boundary(line []byte, at int) int {
	for back := 0; back < utf8.UTFMax && at > back; back++ {
		if utf8.RuneStart(line[at-back]) {
			return at - back
		}
	}
	return at
}

// shown is a path or a name inside of a sentence.
func shown(path string) string {
	path = clip(path, 300)
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) || path == "" || strings.Contains(path, "  ") {
		return strconv.Quote(path)
	}
	return path
}

// clip cuts a text.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}

// bytesOf is a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < 10_000_000:
		return strconv.FormatInt(n/1000, 10) + " kB"
	default:
		return strconv.FormatInt(n/1_000_000, 10) + " MB"
	}
}
