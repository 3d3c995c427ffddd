package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// DefaultMost is how much a tool may output before it is stopped, in bytes.
const DefaultMost = 64 << 20

// ErrTooMuch is the error of a write to an [Output] that is full.
var ErrTooMuch = errors.New("the tool printed too much and was stopped")

// OutputOptions configure an [Output]; the zero value is useful.
type OutputOptions struct {
	// Limit is how much of the output is passed to the model, in bytes of JSON; it defaults to [DefaultLimit].
	Limit int
	// Most is how many bytes may be written; it defaults to [DefaultMost].
	Most int64
	// Stop, if not nil, stops the writer. It is called once, from the Write that exceeds Most.
	Stop func()
	// Whole, if not nil, receives everything up to Most. After an error it is not written to again.
	Whole io.Writer
}

// Output collects the output of a tool, however long. It keeps the head and the tail, and never more than three times
// its limit in memory. It is safe for concurrent use, so several streams can share one.
type Output struct {
	o OutputOptions

	mu      sync.Mutex
	total   int64
	head    []byte
	tail    []byte // the newest bytes after the head, up to twice the limit
	stopped bool
	lost    error // error of Whole
}

// NewOutput returns an empty output.
func NewOutput(o OutputOptions) *Output {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	o.Limit = max(o.Limit, minLimit)
	if o.Most <= 0 {
		o.Most = DefaultMost
	}
	return &Output{o: o}
}

// Write implements [io.Writer]. It accepts what fits within Most, and then fails with [ErrTooMuch].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	n := int(min(int64(len(p)), o.o.Most-o.total))
	o.take(p[:n])
	first := n < len(p) && !o.stopped
	o.stopped = o.stopped || n < len(p)
	o.mu.Unlock()
	if first && o.o.Stop != nil {
		o.o.Stop()
	}
	if n < len(p) {
		return n, ErrTooMuch
	}
	return n, nil
}

func (o *Output) take(p []byte) {
	o.total += int64(len(p))
	if o.o.Whole != nil && o.lost == nil && len(p) > 0 {
		_, o.lost = o.o.Whole.Write(p)
	}
	room := min(len(p), o.o.Limit-len(o.head))
	o.head = append(o.head, p[:room]...)
	p = p[room:]
	if len(p) >= o.o.Limit {
		o.tail = append(o.tail[:0], p[len(p)-o.o.Limit:]...)
		return
	}
	if len(o.tail)+len(p) > 2*o.o.Limit {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-o.o.Limit:]...)
	}
	o.tail = append(o.tail, p...)
}

// Total returns how many bytes were accepted, and whether more were written.
func (o *Output) Total() (bytes int64, stopped bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total, o.stopped
}

// JSON is the output for the model: a string if it is complete and fits, otherwise a replacement like that of [Cap].
// whole is the name under which the content written to [OutputOptions].Whole is stored, or "" if it is not stored.
func (o *Output) JSON(whole string) json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	tail := o.tail[max(0, len(o.tail)-o.o.Limit):]
	gap := o.total > int64(len(o.head)+len(o.tail))
	if !gap && !o.stopped {
		if text := string(o.head) + string(o.tail); encodedLen(text)+2 <= o.o.Limit {
			return encode(text)
		}
	}
	short := capped{Truncated: true, Bytes: int(o.total), Note: "Only the beginning and the end are shown."}
	if o.stopped {
		short.Note += fmt.Sprintf(" It was stopped after %d bytes.", o.total)
	}
	switch {
	case o.lost != nil:
		short.Note += " The rest could not be stored."
	case whole != "" && encodedLen(whole) <= minLimit/2:
		short.Whole, short.Note = whole, short.Note+" The whole is stored under the name in whole."
	}
	room := o.o.Limit - len(encode(short))
	short.Head = fit(string(WholeRunes(o.head)), room*2/3)
	rest := string(o.head[len(short.Head):]) + string(o.tail)
	if gap {
		rest = cutStart(tail)
	}
	short.Tail = fitEnd(rest, room-encodedLen(short.Head))
	return encode(short)
}

// WholeRunes is data without an incomplete rune at its end.
func WholeRunes(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// cutStart removes an incomplete rune at the start.
func cutStart(b []byte) string {
	for i := 0; i < min(utf8.UTFMax-1, len(b)); i++ {
		if utf8.RuneStart(b[i]) {
			return string(b[i:])
		}
	}
	return string(b)
}

// Head returns the first characters of a text, with an ellipsis if there are more.
func Head(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// Shorten returns a text of at most limit bytes: the text itself, or its beginning and end with a note about the
// omission.
func Shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	gap := fmt.Sprintf(" … %d bytes … ", len(text))
	room := limit - len(gap)
	if room <= 0 {
		return strings.ToValidUTF8(text[:max(limit, 0)], "")
	}
	head := strings.ToValidUTF8(text[:room*3/4], "")
	return head + gap + strings.ToValidUTF8(text[len(text)-(room-room*3/4):], "")
}
