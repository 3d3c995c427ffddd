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

// waiting is the first comment of a stream that has nothing to send yet.
const waiting = ": waiting\n\n"

var (
	// errCut means that the stream cannot continue as promised; the connection is cut so that the
	// reader notices and resumes.
	errCut = errors.New("stream cut")
	// errUnwatched means that the core ended the watch, because the chat was passivated or the
	// reader is too slow.
	errUnwatched = fmt.Errorf("%w: the watch ended", errCut)
)

// stream writes server-sent events, each batch in one write with its own deadline. Only one
// goroutine uses it.
type stream struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	timeout time.Duration
	buf     []byte
	to      reader
}

// openStream sends the headers and a first comment, so that a reader knows at once that its message
// was accepted. If that write fails, the next one fails as well.
func (p *Platform) openStream(w http.ResponseWriter, to reader) *stream {
	uistream.SetHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-cache, no-store, no-transform")
	w.WriteHeader(http.StatusOK)
	s := &stream{w: w, rc: http.NewResponseController(w), timeout: p.opts.WriteTimeout, to: to}
	_ = s.text(uistream.Opened)
	return s
}

// text sends a frame that is not a chunk.
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

// end sends the last chunks, and the end mark.
func (s *stream) end(list ...uistream.Chunk) error {
	if err := s.chunks(list); err != nil {
		return err
	}
	return s.text(uistream.Done)
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

// cut ends the connection so that no reader mistakes it for the end of the stream: what net/http
// writes after the handler fails.
func (s *stream) cut() { _ = s.rc.SetWriteDeadline(time.Unix(1, 0)) }

// taker is the consumer of a pump. Each of its functions reports whether it is done.
type taker struct {
	frame func(platform.Frame) (done bool, err error)
	// silent is called after a period without frames; it may be nil.
	silent func() (done bool, err error)
}

// pump hands frames over until their taker is done, and keeps a silent stream alive. It fails with
// errCut if the platform is closed first, and with errUnwatched.
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
