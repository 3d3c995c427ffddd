// Package recent is a bounded memory of recent values. Callers must be able to request or recompute
// what it forgets: only speed and politeness may depend on it.
package recent

import (
	"sync"
	"time"
)

// Map keeps values by key: at least the newest n, and at most twice as many. It is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	n int

	mu          sync.Mutex
	now, before map[K]V
}

// New returns a map that keeps at least n values.
func New[K comparable, V any](n int) *Map[K, V] { return &Map[K, V]{n: n, now: map[K]V{}} }

// Put stores a value.
func (m *Map[K, V]) Put(key K, value V) {
	m.Update(key, func(V, bool) V { return value })
}

// Get returns the value of a key, if it is still known.
func (m *Map[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key)
}

func (m *Map[K, V]) get(key K) (V, bool) {
	value, ok := m.now[key]
	if !ok {
		value, ok = m.before[key]
	}
	return value, ok
}

// Update atomically replaces the value of a key by the result of change.
func (m *Map[K, V]) Update(key K, change func(old V, known bool) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value := change(m.get(key))
	if _, known := m.now[key]; !known && len(m.now) >= m.n {
		m.before, m.now = m.now, make(map[K]V)
	}
	m.now[key] = value
}

// Len is the number of values kept.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.now)
	for key := range m.before {
		if _, again := m.now[key]; !again {
			n++
		}
	}
	return n
}

// Times remembers by key when something last happened, within a window and the bound of a [Map]. It is safe for
// concurrent use.
type Times struct {
	window time.Duration
	now    func() time.Time
	last   *Map[string, time.Time]
}

// NewTimes remembers at least the newest n keys. Without a window it remembers nothing.
func NewTimes(n int, window time.Duration, now func() time.Time) *Times {
	return &Times{window: window, now: now, last: New[string, time.Time](n)}
}

// Note records that it happened now.
func (t *Times) Note(key string) {
	if t.window > 0 {
		t.last.Put(key, t.now())
	}
}

// Within reports whether it happened within the window. Setting the clock back ends the window.
func (t *Times) Within(key string) bool {
	at, known := t.last.Get(key)
	return known && t.within(at)
}

func (t *Times) within(at time.Time) bool {
	since := t.now().Sub(at)
	return since >= 0 && since < t.window
}

// Pass reports whether it did not happen within the window, and records it if so.
func (t *Times) Pass(key string) (ok bool) {
	t.last.Update(key, func(at time.Time, known bool) time.Time {
		if ok = !known || !t.within(at); ok {
			return t.now()
		}
		return at
	})
	return ok
}
