package persistence

import (
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Tally keeps a number for each chat of a host, also while the chat is not in memory. It is safe for concurrent use;
// the zero value is empty.
type Tally struct {
	mu sync.Mutex
	of map[messages.ChatKey]int // only numbers other than 0
}

// Set replaces the number of a chat.
func (t *Tally) Set(key messages.ChatKey, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n == 0 {
		delete(t.of, key)
		return
	}
	if t.of == nil {
		t.of = map[messages.ChatKey]int{}
	}
	t.of[key] = n
}

// Sum is the sum of all numbers.
func (t *Tally) Sum() (sum float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.of {
		sum += float64(n)
	}
	return sum
}
