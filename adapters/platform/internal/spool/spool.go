// Package spool stores on disk the messages that a service has delivered but no chat accepts at the
// moment, so that they can be acknowledged to the service.
//
// Once [Spool.Add] has returned nil, a message survives a crash, and the order is kept. The file is
// small and bounded: it holds the messages of chats in trouble, and is deleted when there are none.
// The platform decides when messages are retried and how they are encoded.
package spool

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	// File is the name of the file in its folder.
	File = "aside.jsonl"
	// Damaged is the suffix of the copy that is kept of an unreadable file.
	Damaged = ".damaged"
	// Max is the maximum number of messages set aside; beyond it everything waits.
	Max = 10_000
)

// Errors of [Spool.Add]: the messages were not set aside.
var (
	ErrNoFolder = errors.New("no folder to set messages aside in")
	ErrFull     = fmt.Errorf("%d messages are set aside already", Max)
	errLine     = errors.New("a message contains a line end")
)

// Spool is the file of one account. Each line is a checksum and a message as single-line JSON. A
// line cut off by a crash was never acknowledged. Spool is not safe for concurrent use.
type Spool struct {
	dir   string
	dirty bool // the file does not have the expected content: the next write replaces it
}

// New stores its file in dir, which is created when needed. With an empty dir nothing can be set
// aside.
func New(dir string) *Spool { return &Spool{dir: dir} }

func (s *Spool) path() string { return filepath.Join(s.dir, File) }

// Load passes the messages that an earlier run set aside to read, in order. It returns how many
// lines were damaged or refused by read; a copy of the file is kept if there are any.
func (s *Spool) Load(read func(message []byte) error) (damaged int, err error) {
	if s.dir == "" {
		return 0, nil
	}
	raw, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(raw) {
		if message, ok := readLine(line); !ok || read(message) != nil {
			damaged++
		}
	}
	if damaged > 0 {
		s.dirty = true
		err = document.Disk{}.Write(s.path()+Damaged, raw)
	}
	return damaged, err
}

// Add makes the messages more durable. The file already holds n others; all returns them if it has to
// be written anew.
func (s *Spool) Add(more [][]byte, n int, all func() ([][]byte, error)) error {
	switch {
	case s.dir == "":
		return ErrNoFolder
	case n+len(more) > Max:
		return ErrFull
	case s.dirty:
		held, err := all()
		if err != nil {
			return err
		}
		return s.Replace(append(held, more...))
	}
	raw, err := lines(more)
	if err != nil {
		return err
	}
	s.dirty = true // after a failed write or fsync the content of the file is not trusted
	fresh, err := s.append(raw)
	if err != nil {
		return err
	}
	if fresh {
		if err := (document.Disk{}).SyncDir(s.dir); err != nil {
			return err
		}
	}
	s.dirty = false
	return nil
}

func (s *Spool) append(raw []byte) (fresh bool, err error) {
	if err := (document.Disk{}).MakeDir(s.dir); err != nil {
		return false, err
	}
	f, err := os.OpenFile(s.path(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(raw)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	return info.Size() == 0, nil
}

// Replace makes all the whole content of the file.
func (s *Spool) Replace(all [][]byte) error {
	if s.dir == "" {
		return nil
	}
	s.dirty = true
	if len(all) == 0 {
		if err := os.Remove(s.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.dirty = false
		return nil // if a power loss restores the file, the chats recognize its messages as duplicates
	}
	raw, err := lines(all)
	if err != nil {
		return err
	}
	if err := (document.Disk{}).Write(s.path(), raw); err != nil {
		return err
	}
	s.dirty = false
	return nil
}

// lines encodes messages for the file. Single-line JSON contains no line breaks.
func lines(messages [][]byte) ([]byte, error) {
	var out []byte
	for _, m := range messages {
		if bytes.IndexByte(m, '\n') >= 0 {
			return nil, errLine
		}
		out = fmt.Appendf(out, "%08x ", checksum(m))
		out = append(append(out, m...), '\n')
	}
	return out, nil
}

func readLine(line []byte) (message []byte, ok bool) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, message, two := bytes.Cut(line, []byte(" "))
	if !whole || !two || len(sum) != 8 {
		return nil, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return message, err == nil && uint32(want) == checksum(message)
}

func checksum(message []byte) uint32 {
	return crc32.Checksum(message, crc32.MakeTable(crc32.Castagnoli))
}
