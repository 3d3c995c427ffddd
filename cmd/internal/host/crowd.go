package host

import (
	"context"
	"runtime/debug"
	"time"
)

const (
	// crowdLook is how often the number of active chats is checked.
	crowdLook = 15 * time.Second
	// crowdLeast is how many chats must have stopped before collecting garbage is useful.
	crowdLeast = 256
)

// crowd follows the number of active chats, to detect that most of them have stopped.
type crowd struct{ most, last int }

// gone reports, once, that less than a quarter of the highest number of chats is left and that the number no longer
// falls.
func (c *crowd) gone(active int) bool {
	leaving := active < c.last
	c.most, c.last = max(c.most, active), active
	if leaving || c.most-active < crowdLeast || active > c.most/4 {
		return false
	}
	c.most = active
	return true
}

// afterCrowds collects garbage after most of the active chats have stopped, and returns free memory to the system. An
// idle host allocates nothing and so does not collect by itself: after ten thousand chats it kept hundreds of
// megabytes for four minutes. If the runtime returned the memory by itself after the collection, it would keep a
// quarter more.
func (h *Host) afterCrowds(ctx context.Context) {
	tick := time.NewTicker(crowdLook)
	defer tick.Stop()
	var c crowd
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if chats, ok := h.countChats(ctx); ok && c.gone(chats.Active) {
				debug.FreeOSMemory()
			}
		}
	}
}
