package profiles

import (
	"net/http"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"
)

// Serve adds the profiles of the process: heap and profile (of the CPU) for go tool pprof, goroutine as text.
// The handlers of net/http/pprof have more, and would make the program 400 kB larger, pprof.Lookup 200 kB.
func Serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/heap", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_ = pprof.WriteHeapProfile(w) // a client that disconnected needs no answer
	})
	mux.HandleFunc("GET /debug/pprof/profile", serveCPUProfile)
	mux.HandleFunc("GET /debug/pprof/goroutine", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write(allStacks())
	})
}

// serveCPUProfile measures for ?seconds (default 30), or until the client disconnects.
func serveCPUProfile(w http.ResponseWriter, r *http.Request) {
	seconds, err := strconv.ParseUint(r.URL.Query().Get("seconds"), 10, 16)
	if err != nil || seconds == 0 {
		seconds = 30
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := pprof.StartCPUProfile(w); err != nil {
		http.Error(w, "another CPU profile is running", http.StatusConflict)
		return
	}
	defer pprof.StopCPUProfile()
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-r.Context().Done():
	}
}

// allStacks returns the stacks of all goroutines, at most 64 MiB.
func allStacks() []byte {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 64<<20 {
			return buf[:n]
		}
	}
}
