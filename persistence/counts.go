package persistence

import (
	"sync"
	"sync/atomic"
	"time"

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

// Ages counts outbox rows by the time they were queued, for all chats of a host: each chat adds its
// rows and removes them, without locks. Times have a resolution of ten seconds and a range of two
// days: callers add rows older than [LongestAge] with that age. It is safe for concurrent use; the
// zero value is empty.
type Ages struct {
	slots [agesSlots]atomic.Int32
}

const (
	agesSlot  = 10 * time.Second
	agesSlots = int(48 * time.Hour / agesSlot)
)

// LongestAge leaves time to remove a row before its slot is reused.
const LongestAge = 24 * time.Hour

func slotOf(at time.Time) int64 { return at.Unix() / int64(agesSlot/time.Second) }

// Add counts n more rows that were queued at a time, in Unix milliseconds.
func (a *Ages) Add(queued int64, n int32) {
	a.slots[slotOf(time.UnixMilli(max(queued, 0)))%int64(agesSlots)].Add(n)
}

// Oldest is the age of the oldest row. It is 0 if there are no rows, or only new ones.
func (a *Ages) Oldest(now time.Time) time.Duration {
	for age := agesSlots - 1; age >= 0; age-- {
		i := slotOf(now) - int64(age)
		if i >= 0 && a.slots[i%int64(agesSlots)].Load() > 0 {
			return time.Duration(age) * agesSlot
		}
	}
	return 0
}
