package platformtest

import (
	"net"
	"net/http"
	"time"
)

// FaultKind is a way to fail.
type FaultKind string

// The ways to fail.
const (
	Refuse      FaultKind = "refuse"       // answers with Code and Text, RetryAfter, MoveTo
	Garbage     FaultKind = "garbage"      // answers with Code and a page instead of JSON
	ResetBefore FaultKind = "reset before" // breaks the connection and does nothing
	ResetAfter  FaultKind = "reset after"  // does it, then breaks the connection
	Hang        FaultKind = "hang"         // answers only when the caller leaves
	Latency     FaultKind = "latency"      // answers after Delay
)

// Fault fails calls on purpose.
type Fault struct {
	Method     string // empty: all
	Chat       int64  // 0: all
	Kind       FaultKind
	N          int // how many calls; 0 is 1, negative: until Heal
	Code       int
	Text       string
	RetryAfter int
	MoveTo     int64
	Delay      time.Duration
}

// Fail arms a fault. Several are taken in their order.
func (a *BotAPI) Fail(f Fault) {
	if f.N == 0 {
		f.N = 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, &f)
}

// Heal disarms all faults.
func (a *BotAPI) Heal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = nil
}

// fault takes the fault of a call.
func (a *BotAPI) fault(method string, p Params) *Fault {
	for i, f := range a.faults {
		if f.Method != "" && f.Method != method || f.Chat != 0 && f.Chat != p.Int("chat_id") {
			continue
		}
		if f.N--; f.N == 0 {
			a.faults = append(a.faults[:i:i], a.faults[i+1:]...)
		}
		return f
	}
	return nil
}

// before does what a fault does instead of the call; false: the call goes on.
func (a *BotAPI) before(w http.ResponseWriter, r *http.Request, c *Call, f *Fault) bool {
	switch f.Kind {
	case Refuse:
		a.answer(w, c, nil, &refused{code: f.Code, text: f.Text, retry: f.RetryAfter, moved: f.MoveTo})
	case Garbage:
		w.WriteHeader(f.Code)
		_, _ = w.Write([]byte("<html>something in between</html>"))
	case ResetBefore:
		reset(w)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-a.quit:
		}
		reset(w)
	case Latency:
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		}
		return false
	case ResetAfter:
		return false
	}
	return true
}

// reset breaks the connection hard.
func reset(w http.ResponseWriter) {
	if here, ok := w.(*answer); ok {
		here.abort()
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
