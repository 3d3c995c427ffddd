package command

import (
	"strings"
	"sync"
	"unicode"
)

// head keeps the beginning of an output, and stops the program if there is more.
type head struct {
	limit int
	full  func()

	mu   sync.Mutex
	data []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = append(h.data, p[:min(len(p), h.limit-len(h.data))]...)
	if len(h.data) >= h.limit {
		h.full()
	}
	return len(p), nil
}

func (h *head) tooLong() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.data) >= h.limit
}

// tail keeps the end of a program's output.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-maxWords):]...)
	t.data = t.data[max(0, len(t.data)-maxWords):]
	return len(p), nil
}

// line returns the end as one line, for the log.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(t.data), ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
