package shell

import (
	"errors"
	"io"
	"sync"
)

// spill stores what is written: in memory while it is short, and then completely in a file.
type spill struct {
	open func() (io.WriteCloser, string, error) // opens the file; nil if there is none
	room int                                    // bytes that are kept in memory
	most int64                                  // maximum size of the file

	mu      sync.Mutex
	early   []byte
	file    io.WriteCloser
	pointer string
	total   int64
	err     error
}

// Write implements [io.Writer]. After an error of the file, all writes fail.
func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n := len(p)
	s.total += int64(n)
	if s.most > 0 && s.total > s.most {
		s.err = errors.New("the file of the output is full")
		return 0, s.err
	}
	if s.file == nil && len(s.early)+n <= s.room {
		s.early = append(s.early, p...)
		return n, nil
	}
	if s.err = s.begin(); s.err == nil {
		_, s.err = s.file.Write(p)
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, nil
}

// begin opens the file and writes what was kept in memory.
func (s *spill) begin() error {
	if s.file != nil {
		return nil
	}
	if s.open == nil {
		return errors.New("there is no place for it")
	}
	f, pointer, err := s.open()
	if err != nil {
		return err
	}
	s.file, s.pointer = f, pointer
	_, err = f.Write(s.early)
	s.early = nil
	return err
}

// keep forces a file to be made of what is still in memory, because it is too long for a result, for example due to
// escaping.
func (s *spill) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.begin()
	}
}

// close closes the file and returns its pointer, or "" without a file.
func (s *spill) close() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return ""
	}
	err := s.file.Close()
	if s.err == nil {
		s.err = err
	}
	if s.err == nil {
		s.err = errors.New("it has ended")
	}
	s.file = io.WriteCloser(ended{})
	return s.pointer
}

// drop deletes the content of the file, which nobody may read.
func (s *spill) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = nil
	if f, ok := s.file.(interface{ Truncate(size int64) error }); ok {
		_ = f.Truncate(0) // the pointer to the file is not returned anyway
	}
	if s.err == nil {
		s.err = errors.New("what is printed is withheld")
	}
	s.pointer = ""
}

// known is the pointer to the file, if it exists already.
func (s *spill) known() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pointer
}

type ended struct{}

func (ended) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (ended) Close() error              { return nil }
