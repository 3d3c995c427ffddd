package sse

import (
	"encoding/json"
	"io"
	"mime"
	"sync"
)

// Readers reuses readers and their memory for later answers.
type Readers struct{ pool sync.Pool }

func (p *Readers) of(r io.Reader) *eventReader {
	e, ok := p.pool.Get().(*eventReader)
	if !ok {
		return newEventReader(r)
	}
	e.r.Reset(r)
	e.begun = false
	return e
}

// back returns a reader that is no longer used to the pool. A reader that has grown large is
// dropped.
func (p *Readers) back(e *eventReader) {
	const large = 64 << 10
	if cap(e.line)+cap(e.data) > large {
		return
	}
	e.r.Reset(nil)
	p.pool.Put(e)
}

// Source provides the data of an answer, event by event.
type Source struct {
	events *eventReader
	// values is set for a body of bare objects: one for a whole answer, or one per line.
	values *json.Decoder
	pool   *Readers
}

// Open returns the source of a body: a stream of events, or bare objects. The first byte decides,
// because proxies send arbitrary content types; in exact mode only the type decides.
func (p *Readers) Open(body io.Reader, contentType string, exact bool) Source {
	s := Source{events: p.of(body), pool: p}
	kind, _, err := mime.ParseMediaType(contentType)
	bare := err == nil && kind == "application/json"
	if !exact {
		switch s.events.first() {
		case '{':
			bare = true
		case 'd', 'e', 'i', 'r', ':': // of data, event, id, retry or a comment
			bare = false
		}
	}
	if bare {
		s.values = json.NewDecoder(io.LimitReader(s.events.r, maxEvent))
	}
	return s
}

// Bare reports whether the body consists of bare objects.
func (s *Source) Bare() bool { return s.values != nil }

// Next returns the data of the next event, valid until the next call. Its errors are those of the
// body; the caller adds the context.
func (s *Source) Next() ([]byte, error) {
	if s.values == nil {
		return s.events.next()
	}
	var value json.RawMessage
	err := s.values.Decode(&value)
	return value, err
}

// Close returns the memory to the readers. The source, and what Next returned, must not be used
// afterwards. The body stays open.
func (s *Source) Close() { s.pool.back(s.events) }
