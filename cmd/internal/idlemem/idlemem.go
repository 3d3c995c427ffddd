// Package idlemem returns the memory of a host without work to the system.
package idlemem

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapLook is how often the host checks what it has allocated.
	heapLook = 2 * time.Second
	// quietBytes is what a host without work allocates between two checks at most.
	quietBytes = 512 << 10
	// minNow is how much must have been allocated since memory was returned to return it again. After worthWait,
	// minLater is enough: chats are unloaded in groups, from a minute after their last turn.
	minNow, minLater = 16 << 20, 1 << 20
	waitBetween      = 30 * time.Second
)

// heap detects when a collection is worth its cost, from the bytes allocated since the program started.
type heap struct {
	allocated uint64        // at the last check
	returned  uint64        // when memory was returned
	since     time.Duration // since then
}

// check reports whether the host has no work and has left garbage.
func (h *heap) check(allocated uint64) bool {
	quiet := allocated-h.allocated <= quietBytes
	h.allocated = allocated
	h.since += heapLook
	garbage := allocated - h.returned
	if !quiet || garbage < minLater || (garbage < minNow && h.since < waitBetween) {
		return false
	}
	h.returned, h.since = allocated, 0
	return true
}

// Return collects garbage when the host has no work, and returns free memory to the system, until ctx ends. An idle
// host allocates nothing and so does not collect by itself: after ten thousand chats it kept hundreds of megabytes for
// four minutes. If the runtime returned the memory by itself after the collection, it would keep a quarter more.
// The pages of the program's own file are given back with it.
func Return(ctx context.Context) {
	tick := time.NewTicker(heapLook)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	seen := heap{since: waitBetween} // what the start left is returned at once
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			metrics.Read(sample)
			if seen.check(sample[0].Value.Uint64()) {
				debug.FreeOSMemory()
				releaseProgram()
			}
		}
	}
}
