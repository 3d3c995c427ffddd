package shell

import "sync"

// ringSize is how much of a process's output is kept in memory.
const ringSize = 128 << 10

// ring keeps the newest part of what is written.
type ring struct {
	mu    sync.Mutex
	buf   []byte
	start int64 // offset of buf[0] in the whole output
}

// Write implements [io.Writer]. It never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	if n > ringSize {
		r.start += int64(len(r.buf) + n - ringSize)
		r.buf = append(r.buf[:0], p[n-ringSize:]...)
		return n, nil
	}
	if len(r.buf)+n > 2*ringSize {
		drop := len(r.buf) + n - ringSize
		r.start += int64(drop)
		r.buf = append(r.buf[:0], r.buf[drop:]...)
	}
	r.buf = append(r.buf, p...)
	return n, nil
}

// read copies at most n bytes, starting at an offset or at the oldest byte that is left.
func (r *ring) read(from int64, n int) (data []byte, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at = min(max(from, r.start), r.start+int64(len(r.buf)))
	rest := r.buf[at-r.start:]
	return append([]byte(nil), rest[:min(n, len(rest))]...), at
}

// end is the length of the whole output.
func (r *ring) end() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.start + int64(len(r.buf))
}
