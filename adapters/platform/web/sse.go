package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// waiting is the comment of a stream that has nothing to tell yet.
const waiting = ": waiting\n\n"

var (
	// errCut: the stream cannot go on as promised; the connection is cut so that the
	// reader notices and resumes.
	errCut = errors.New("stream cut")
	// errUnwatched: the core ended the watch, because the chat was put away or the
	// reader is too slow.
	errUnwatched = fmt.Errorf("%w: the watch ended", errCut)
)

// stream writes server-sent events, each batch in one write with its own
// deadline. It belongs to one goroutine.
type stream struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	buf     []byte
	to      reader
}

// openStream sends the headers and a first comment, so that a reader knows at
// once that its message was taken. A write that fails shows at the next one.
func (p *Platform) openStream(w http.ResponseWriter, to reader) *stream {
	uistream.SetHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-cache, no-store, no-transform")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, rc: http.NewResponseController(w), timeout: p.opts.WriteTimeout, to: to}
	_ = s.text(uistream.Opened)
	return s
}

// text sends a frame that is no chunk.
func (s *stream) text(frame string) error {
	s.buf = append(s.buf[:0], frame...)
	return s.flush()
}

func (s *stream) chunks(list []uistream.Chunk) error {
	if len(list) == 0 {
		return nil
	}
	s.buf = s.buf[:0]
	for _, c := range s.to.withSent(list) {
		s.buf = uistream.AppendEvent(s.buf, c)
	}
	return s.flush()
}

func (s *stream) flush() error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.timeout))
	if _, err := s.w.Write(s.buf); err != nil {
		return fmt.Errorf("write stream: %w", err)
	}
	if cap(s.buf) > 1<<16 {
		s.buf = nil
	}
	if err := s.rc.Flush(); err != nil {
		return fmt.Errorf("flush stream: %w", err)
	}
	return nil
}

// cut makes the connection end in a way that no reader takes for the end of the
// stream: what net/http writes after the handler fails.
func (s *stream) cut() { _ = s.rc.SetWriteDeadline(time.Unix(1, 0)) }

// taker is what a pump works for. Each of its functions says when it is done.
type taker struct {
	frame func(platform.Frame) (done bool, err error)
	// silent is asked when nothing came for a while; nil: nothing to look after.
	silent func() (done bool, err error)
}

// pump hands frames over until their taker is done, keeping a silent stream alive.
// It fails with errCut when the platform ends first, and with errUnwatched.
func (p *Platform) pump(ctx context.Context, s *stream, frames <-chan platform.Frame, take taker) error {
	beat := time.NewTicker(p.opts.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("reader gone: %w", ctx.Err())
		case <-p.closing:
			return errCut
		case <-beat.C:
			if err := s.text(waiting); err != nil {
				return err
			}
			if take.silent == nil {
				continue
			}
			if done, err := take.silent(); done || err != nil {
				return err
			}
		case f, ok := <-frames:
			if !ok {
				return errUnwatched
			}
			if done, err := take.frame(f); done || err != nil {
				return err
			}
			beat.Reset(p.opts.Heartbeat)
		}
	}
}
