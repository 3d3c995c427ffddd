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

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	utf "golang.org/x/text/encoding/unicode"

	"github.com/shipmyagent/shipmyagent/adapters/internal/quoted"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

const (
	// maxLine is how many bytes of one line are shown.
	maxLine = 1000
	// sniffed is how many bytes of a file are checked to decide whether it is text.
	sniffed = 8 << 10
)

// kindOf returns the media type of binary data or the encoding of a text that cannot be edited, or "" for text.
func kindOf(head []byte) string {
	name, other := encodingOf(head)
	switch {
	case name == utf16, other != nil && !mostlyText(head):
		return "text in " + name
	case bytes.IndexByte(head, 0) < 0 && mostlyText(head):
		return ""
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if kind == "" || strings.HasPrefix(kind, "text/") {
		kind = "application/octet-stream"
	}
	return kind
}

const utf16 = "UTF-16"

// encodingOf returns an encoding other than UTF-8 that the beginning of a text certainly has, or nil.
func encodingOf(head []byte) (name string, other encoding.Encoding) {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return utf16, utf.UTF16(utf.LittleEndian, utf.UseBOM)
	case isChinese(head):
		return "GB18030", simplifiedchinese.GB18030
	}
	return "", nil
}

// isChinese reports whether all bytes that are not ASCII are pairs of GBK, and nearly all of these common characters.
func isChinese(head []byte) bool {
	for cut := range utf8.UTFMax { // a longer text may be cut inside a character
		if cut > 0 && len(head) < sniffed {
			break
		}
		if utf8.Valid(head[:len(head)-cut]) {
			return false
		}
	}
	common, others := 0, 0
	for i := 0; i < len(head); i++ {
		lead := head[i]
		if lead < utf8.RuneSelf {
			continue
		}
		if i++; i == len(head) {
			break
		}
		switch trail := head[i]; {
		case lead == 0x80 || lead == 0xff || trail < 0x40 || trail == 0x7f || trail == 0x80 || trail == 0xff:
			return false
		case lead > 0xa0 && lead < 0xf8 && trail > 0xa0:
			common++
		default:
			others++
		}
	}
	return common > 9*others && bytes.IndexByte(head, 0) < 0
}

// mostlyText also accepts texts in other encodings, if they are close to ASCII.
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
	first    int // number of the first shown line
	shown    int // number of shown lines
	total    int // lines of the text, or pieces if long lines are broken
	cut      bool
	replaced bool // invalid UTF-8 was replaced
}

// pager reads a page of a text and counts all lines.
type pager struct {
	from, lines int
	// broken says that long lines are broken into pieces; otherwise they are cut.
	broken bool

	page page
	used int
	full bool
	line []byte // the kept part of the current line
	more int    // number of bytes of the line that were cut
	bits int    // number of pieces of the line that were written
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

// take appends to the current line.
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

// end completes the current line.
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

// put writes a line if it belongs to the page and fits.
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

// boundary is the last offset up to at that does not split a rune.
func boundary(line []byte, at int) int {
	for back := 0; back < utf8.UTFMax && at > back; back++ {
		if utf8.RuneStart(line[at-back]) {
			return at - back
		}
	}
	return at
}

// shown formats a path or a name for use in a sentence, which has only the beginning of a long one.
func shown(path string) string { return plain(tool.Head(path, 300)) }

// plain formats a path or a name, all of it.
func plain(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' }) || path == "" || strings.Contains(path, "  ") {
		return strconv.Quote(path)
	}
	return path
}

// bytesOf formats a size for people.
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
