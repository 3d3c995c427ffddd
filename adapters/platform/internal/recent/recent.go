// Package recent is a bounded memory of recent values. Callers must be able to request or recompute
// what it forgets: only speed and politeness may depend on it.
package recent

import "sync"

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
