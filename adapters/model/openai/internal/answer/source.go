package answer

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

// Source provides the data of an answer, event by event, each valid until the next call.
type Source interface {
	Next() ([]byte, error)
}

// Open reads a stream of events, or bare objects: one for a whole answer, or one per line. The first
// byte decides, because proxies send arbitrary content types; in exact mode only the type decides.
// Call done when nothing of it is used any more.
func (p *Readers) Open(body io.Reader, contentType string, exact bool) (s Source, bare bool, done func()) {
	r := p.of(body)
	kind, _, err := mime.ParseMediaType(contentType)
	bare = err == nil && kind == "application/json"
	if !exact {
		switch r.first() {
		case '{':
			bare = true
		case 'd', 'e', 'i', 'r', ':': // of data, event, id, retry or a comment
			bare = false
		}
	}
	if bare {
		return &objects{json.NewDecoder(io.LimitReader(r.r, maxEvent))}, true, func() { p.back(r) }
	}
	return r, false, func() { p.back(r) }
}

// objects returns each value of a body of JSON values as one event.
type objects struct{ decoder *json.Decoder }

func (o *objects) Next() ([]byte, error) {
	var value json.RawMessage
	if err := o.decoder.Decode(&value); err != nil {
		return nil, err // the caller adds the context
	}
	return value, nil
}
