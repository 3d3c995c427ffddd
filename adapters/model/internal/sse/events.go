package sse

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxEvent bounds one event of a stream.
const maxEvent = 16 << 20

// errEventTooLong ends a stream with an endless event.
var errEventTooLong = errors.New("event is too long")

// Done is the data of the event that ends a stream.
const Done = "[DONE]"

// eventReader reads server-sent events and returns the data of each. It follows the specification
// (comments, several data lines, byte order mark), except for lines that end with CR alone. It
// ignores names, ids and retry times.
type eventReader struct {
	r     *bufio.Reader
	line  []byte // only for lines longer than the buffer
	data  []byte
	begun bool
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 4<<10)}
}

// first returns the first byte of the body that is not white space, or 0. It skips leading white
// space.
func (e *eventReader) first() byte {
	for {
		c, err := e.r.ReadByte()
		if err != nil {
			return 0 // the next read returns the same error
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			_ = e.r.UnreadByte() // the byte was just read
			return c
		}
	}
}

// next returns the data of the next event, valid until the next call. At the end of the body an
// event without an empty line still counts if it is complete.
func (e *eventReader) next() ([]byte, error) {
	e.data = e.data[:0]
	has := false
	for {
		line, err := e.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && has && (json.Valid(e.data) || string(e.data) == Done) {
				return e.data, nil
			}
			return nil, err
		}
		if len(line) == 0 {
			if has && len(e.data) > 0 {
				return e.data, nil
			}
			has = false
			e.data = e.data[:0]
			continue
		}
		value, ok := dataOf(line)
		if !ok {
			continue
		}
		if has {
			e.data = append(e.data, '\n')
		}
		has = true
		if e.data = append(e.data, value...); len(e.data) > maxEvent {
			return nil, fmt.Errorf("%w: over %d bytes", errEventTooLong, maxEvent)
		}
	}
}

func dataOf(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("data"))
	if !ok {
		return nil, false
	}
	if len(rest) == 0 {
		return nil, true
	}
	if rest[0] != ':' {
		return nil, false
	}
	return bytes.TrimPrefix(rest[1:], []byte(" ")), true
}

// readLine returns a line without its end, valid until the next call. The last line may lack a line
// end.
func (e *eventReader) readLine() ([]byte, error) {
	line, err := e.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = e.readLong(line)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// readLong collects a line that is longer than the buffer.
func (e *eventReader) readLong(first []byte) ([]byte, error) {
	e.line = append(e.line[:0], first...)
	for {
		more, err := e.r.ReadSlice('\n')
		if e.line = append(e.line, more...); len(e.line) > maxEvent {
			return nil, fmt.Errorf("%w: over %d bytes", errEventTooLong, maxEvent)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return e.line, err
		}
	}
}
