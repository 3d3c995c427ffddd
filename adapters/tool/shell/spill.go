package shell

import (
	"errors"
	"io"
	"sync"
)

// spill keeps what is written: a little in memory, and everything in a file once
// it is more than that.
type spill struct {
	open func() (io.WriteCloser, string, error) // nil: there is no file
	room int                                    // bytes that are kept in memory
	most int64                                  // bytes of the file

	mu      sync.Mutex
	early   []byte
	file    io.WriteCloser
	pointer string
	total   int64
	err     error
}

// Write implements [io.Writer]. It fails for good once the file has.
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

// begin opens the file with what came so far.
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

// keep has a file made of what is still in memory: it is too long for a result, as when
// many of its bytes are written with several.
func (s *spill) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.begin()
	}
}

// close ends the file and returns what it is known by; empty: there is none.
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

// drop takes away what is in the file: nobody may read it.
func (s *spill) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early = nil
	if f, ok := s.file.(interface{ Truncate(size int64) error }); ok {
		_ = f.Truncate(0) // nobody is told of the file anyway
	}
	if s.err == nil {
		s.err = errors.New("what is printed is withheld")
	}
	s.pointer = ""
}

// known is what the file is known by so far.
func (s *spill) known() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pointer
}

type ended struct{}

func (ended) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (ended) Close() error              { return nil }
