package vfs

import (
	"errors"
	"hash/crc32"
	"io"
)

// Window is how much of a file is read or written at once.
const Window = 256 << 10

// ReadFull reads exactly len(b) bytes.
func ReadFull(file io.ReaderAt, b []byte, off int64) error {
	n, err := file.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteFull writes all of b.
func WriteFull(f File, b []byte, off int64) error {
	n, err := f.WriteAt(b, off)
	if err == nil && n < len(b) {
		return io.ErrShortWrite
	}
	return err
}

// Pad fills a file from end, where its contents end, to the next multiple of the length of padding,
// which it returns. Writing over padding changes contents only: the fsync need not write the size and
// the blocks of the file, and takes half the time.
func Pad(f File, padding []byte, end int64) (int64, error) {
	piece := int64(len(padding))
	n := piece - end%piece
	return end + n, WriteFull(f, padding[:n], end)
}

// Copy copies n bytes of a file and returns their checksum.
func Copy(to io.Writer, from io.ReaderAt, off, n int64) (uint32, error) {
	table := crc32.MakeTable(crc32.Castagnoli)
	buf := make([]byte, min(n, Window))
	sum := uint32(0)
	for done := int64(0); done < n; {
		b := buf[:min(int64(len(buf)), n-done)]
		if err := ReadFull(from, b, off+done); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, table, b)
		if _, err := to.Write(b); err != nil {
			return 0, err
		}
		done += int64(len(b))
	}
	return sum, nil
}

// Writer writes a file from the start. The last call must be Flush.
type Writer struct {
	file File
	buf  []byte
	off  int64
}

// NewWriter makes a writer of an empty file.
func NewWriter(file File) *Writer { return &Writer{file: file} }

// Write implements [io.Writer].
func (w *Writer) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	if len(w.buf) < Window {
		return len(b), nil
	}
	return len(b), w.Flush()
}

// Flush writes what Write has buffered.
func (w *Writer) Flush() error {
	if err := WriteFull(w.file, w.buf, w.off); err != nil {
		return err
	}
	w.off += int64(len(w.buf))
	w.buf = w.buf[:0]
	return nil
}

// Size is how much was written.
func (w *Writer) Size() int64 { return w.off + int64(len(w.buf)) }
