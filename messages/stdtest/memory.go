package stdtest

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Peak runs a function and returns how many bytes more the heap and the stacks had at their peak than before. The
// collector works as it is set.
func Peak(do func()) uint64 {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	debug.FreeOSMemory()
	before, most := used(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				most = max(most, used())
			}
		}
	}()
	do()
	close(stop)
	<-done
	return max(most, before) - before
}
