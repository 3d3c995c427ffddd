package host

import (
	"context"
	"runtime/debug"
	"time"
)

const (
	// crowdLook is how often it is looked whether a crowd has gone.
	crowdLook = 15 * time.Second
	// crowdLeast is how many chats make a crowd; what fewer leave is not worth it.
	crowdLeast = 256
)

// crowd follows how many chats are active, to see when most of them have gone.
type crowd struct{ most, last int }

// gone reports, once, that of a crowd less than a quarter is left and that no more
// are leaving just now.
func (c *crowd) gone(active int) bool {
	leaving := active < c.last
	c.most, c.last = max(c.most, active), active
	if leaving || c.most-active < crowdLeast || active > c.most/4 {
		return false
	}
	c.most = active
	return true
}

// afterCrowds collects garbage when a crowd of chats has gone to rest, and gives what
// is free back to the system. A host that rests makes no garbage and so collects none:
// what ten thousand chats left stayed for four minutes, hundreds of megabytes that
// other programs could have had. Left to itself after the collection, the runtime
// keeps a quarter more than this leaves.
func (h *Host) afterCrowds(ctx context.Context) {
	tick := time.NewTicker(crowdLook)
	defer tick.Stop()
	var c crowd
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if chats, ok := h.askChats(ctx); ok && c.gone(chats.Active) {
				debug.FreeOSMemory()
			}
		}
	}
}
