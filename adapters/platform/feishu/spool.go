package feishu

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/renameio/v2"
)

const (
	spoolFile = "aside.jsonl"
	// maxSpool is how many events are set aside at most; then everything waits.
	maxSpool = 10_000
)

// spool keeps events on disk whose chats do not take them, so that they may be
// answered. What add has returned nil for survives a crash. A line
// is a checksum and an event; one that a crash cut was never answered. It is
// not safe for concurrent use.
type spool struct {
	dir   string
	dirty bool // the file is not what it should be: the next write replaces it
}

// errNoSpool and its like: nothing can be set aside.
var (
	errNoSpool   = errors.New("no folder to set messages aside in")
	errLine      = errors.New("an event holds a line end")
	errSpoolFull = fmt.Errorf("%d messages are set aside already", maxSpool)
)

func (s *spool) path() string { return filepath.Join(s.dir, spoolFile) }

// load reads what an earlier run has set aside, in order, and tells how many
// lines could not be read; those are moved out of the way.
func (s *spool) load() (events [][]byte, damaged int, err error) {
	if s.dir == "" {
		return nil, 0, nil
	}
	raw, err := os.ReadFile(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for line := range bytes.Lines(raw) {
		e, ok := readLine(line)
		if !ok {
			damaged++
			continue
		}
		events = append(events, e)
	}
	if damaged > 0 {
		s.dirty = true
		err = renameio.WriteFile(s.path()+".damaged", raw, 0o600, renameio.IgnoreUmask())
	}
	return events, damaged, err
}

// add makes events durable, behind all, which are there already.
func (s *spool) add(all, more [][]byte) error {
	switch {
	case s.dir == "":
		return errNoSpool
	case len(all)+len(more) > maxSpool:
		return errSpoolFull
	case s.dirty:
		return s.replace(append(slices.Clip(all), more...))
	}
	raw, err := lines(more)
	if err != nil {
		return err
	}
	s.dirty = true // a write or sync that fails once is not believed again
	fresh, err := s.append(raw)
	if err != nil {
		return err
	}
	if fresh {
		if err := syncDir(s.dir); err != nil {
			return err
		}
	}
	s.dirty = false
	return nil
}

func (s *spool) append(raw []byte) (fresh bool, err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
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

// replace makes the events all there is.
func (s *spool) replace(all [][]byte) error {
	if s.dir == "" {
		return nil
	}
	s.dirty = true
	if len(all) == 0 {
		if err := os.Remove(s.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.dirty = false
		return nil // a file that comes back after a power cut holds what chats know
	}
	raw, err := lines(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	if err := renameio.WriteFile(s.path(), raw, 0o600, renameio.IgnoreUmask()); err != nil {
		return err
	}
	if err := syncDir(s.dir); err != nil {
		return err
	}
	s.dirty = false
	return nil
}

// lines are events as the file holds them. JSON in one line holds no line end.
func lines(events [][]byte) ([]byte, error) {
	var out []byte
	for _, e := range events {
		if bytes.IndexByte(e, '\n') >= 0 {
			return nil, errLine
		}
		out = fmt.Appendf(out, "%08x ", crc32.Checksum(e, crc32.MakeTable(crc32.Castagnoli)))
		out = append(append(out, e...), '\n')
	}
	return out, nil
}

func readLine(line []byte) (event []byte, ok bool) {
	line, whole := bytes.CutSuffix(line, []byte("\n"))
	sum, body, two := bytes.Cut(line, []byte(" "))
	if !whole || !two || len(sum) != 8 {
		return nil, false
	}
	want, err := strconv.ParseUint(string(sum), 16, 32)
	return body, err == nil && uint32(want) == crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
