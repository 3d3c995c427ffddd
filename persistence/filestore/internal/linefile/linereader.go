package linefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// MaxWhole is the longest line, and the longest file that is one document. Regular ones are far
// shorter. A file that reports a greater length, because its size is corrupt or it has a hole,
// fails only its chat instead of exhausting the memory of the process.
const MaxWhole = 1 << 30

// ErrTooLong is wrapped by the errors of lines and files longer than [MaxWhole].
var ErrTooLong = errors.New("longer than a gibibyte; set the file aside or cut it")

// lineReader reads the lines of a file, of any length up to [MaxWhole]: a line that is longer than
// a window gets a buffer of exactly its own size. Returned lines are valid until the next call.
type lineReader struct {
	file io.ReaderAt
	size int64 // where to stop
	off  int64 // of buf[at]
	buf  []byte
	at   int // read up to here
}

func newLineReader(file io.ReaderAt, off, size int64) *lineReader {
	return &lineReader{file: file, off: off, size: size}
}

// next returns a line without its newline, its offset, and whether a newline ended it; after the
// last one it returns io.EOF.
func (r *lineReader) next() (line []byte, off int64, ended bool, err error) {
	if r.off >= r.size {
		return nil, r.off, false, io.EOF
	}
	rest := r.buf[r.at:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 && r.off+int64(len(rest)) < r.size {
		if err := r.fill(); err != nil {
			return nil, r.off, false, err
		}
		rest = r.buf
		n = bytes.IndexByte(rest, '\n')
	}
	off = r.off
	if n < 0 {
		if off+int64(len(rest)) < r.size {
			return r.long()
		}
		r.at += len(rest)
		r.off += int64(len(rest))
		return rest, off, false, nil
	}
	r.at += n + 1
	r.off += int64(n) + 1
	return rest[:n], off, true, nil
}

// fill reads a whole window from the start of the current line.
func (r *lineReader) fill() error {
	n := int(min(vfs.Window, r.size-r.off))
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	r.buf, r.at = r.buf[:n], 0
	return vfs.ReadFull(r.file, r.buf, r.off)
}

// long reads the current line, which is longer than a window.
func (r *lineReader) long() (line []byte, off int64, ended bool, err error) {
	off = r.off
	length, at := int64(-1), off+int64(len(r.buf))
	for at < r.size && length < 0 {
		if at-off > MaxWhole {
			return nil, off, false, fmt.Errorf("line at %d: %w", off, ErrTooLong)
		}
		r.buf = r.buf[:min(int64(cap(r.buf)), r.size-at)]
		if err := vfs.ReadFull(r.file, r.buf, at); err != nil {
			return nil, off, false, err
		}
		if n := bytes.IndexByte(r.buf, '\n'); n >= 0 {
			length, ended = at+int64(n)-off, true
		}
		at += int64(len(r.buf))
	}
	if !ended {
		length = r.size - off
	}
	r.buf, r.at = r.buf[:0], 0
	line = make([]byte, length)
	if err := vfs.ReadFull(r.file, line, off); err != nil {
		return nil, off, false, err
	}
	r.off = off + length
	if ended {
		r.off++
	}
	return line, off, ended, nil
}

// Start finds the first line that starts at or after off.
func Start(f io.ReaderAt, off, size int64) (int64, error) {
	if off == 0 {
		return 0, nil
	}
	lines := newLineReader(f, off-1, size)
	_, _, ended, err := lines.next()
	if err != nil || !ended {
		return 0, err // the rest is one line: read from the beginning
	}
	return lines.off, nil
}
