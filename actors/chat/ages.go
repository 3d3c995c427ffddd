package chat

import (
	"sync/atomic"
	"time"
)

// ages counts things by when they came, for all chats of a host: each chat adds
// its own and takes them out again, and nobody waits for anybody. Times are known
// to ten seconds, and for two days: what is older is added as [longestAge] old.
type ages struct {
	slots [agesSlots]atomic.Int32
}

const (
	agesSlot  = 10 * time.Second
	agesSlots = int(48 * time.Hour / agesSlot)
	// longestAge leaves time to be taken out again before its slot comes round.
	longestAge = 24 * time.Hour
)

func slotOf(at time.Time) int64 { return at.Unix() / int64(agesSlot/time.Second) }

// add counts n more things that came at a time, in Unix milliseconds.
func (a *ages) add(since int64, n int32) {
	a.slots[slotOf(time.UnixMilli(max(since, 0)))%int64(agesSlots)].Add(n)
}

// oldest is the age of the oldest thing; 0: there is none.
func (a *ages) oldest(now time.Time) time.Duration {
	for age := agesSlots - 1; age >= 0; age-- {
		i := slotOf(now) - int64(age)
		if i >= 0 && a.slots[i%int64(agesSlots)].Load() > 0 {
			return time.Duration(age) * agesSlot
		}
	}
	return 0
}
