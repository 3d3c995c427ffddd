package files

import (
	"context"
	"sync"
)

// locks allow only one change of a path at a time.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the path is free
}

// take waits until a path is free and locks it. The returned function unlocks it.
func (l *locks) take(ctx context.Context, path string) (free func(), err error) {
	for {
		l.mu.Lock()
		busy := l.held[path]
		if busy == nil {
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			l.held[path] = mine
			l.mu.Unlock()
			return func() { l.free(path, mine) }, nil
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *locks) free(path string, mine chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, path)
	close(mine)
}
