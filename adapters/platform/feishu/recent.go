package feishu

import "sync"

// recent knows things of messages, of the newest only. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	known map[string]bool
	order []string // a ring
	next  int
}

func newRecent(n int) *recent { return &recent{known: map[string]bool{}, order: make([]string, n)} }

func (r *recent) add(id string, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[id]; !ok {
		delete(r.known, r.order[r.next])
		r.order[r.next] = id
		r.next = (r.next + 1) % len(r.order)
	}
	r.known[id] = is
}

func (r *recent) get(id string) (is, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, ok = r.known[id]
	return is, ok
}
