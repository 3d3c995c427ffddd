package telegramtest

import (
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// Fault fails calls on purpose.
type Fault struct {
	Method     string // empty: all
	Chat       int64  // 0: all
	Kind       faketest.FaultKind
	N          int // how many calls; 0 is 1, negative: until Heal
	Code       int
	Text       string
	RetryAfter int
	MoveTo     int64
	Delay      time.Duration
}

// Fail arms a fault. Several are taken in their order.
func (a *API) Fail(f Fault) {
	if f.N == 0 {
		f.N = 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, &f)
}

// Heal disarms all faults.
func (a *API) Heal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = nil
}

// fault takes the fault of a call.
func (a *API) fault(method string, p Params) *Fault {
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
func (a *API) before(w http.ResponseWriter, r *http.Request, c *Call, f *Fault) bool {
	switch f.Kind {
	case faketest.Refuse:
		a.answer(w, c, nil, &refused{code: f.Code, text: f.Text, retry: f.RetryAfter, moved: f.MoveTo})
	case faketest.Garbage:
		w.WriteHeader(f.Code)
		_, _ = w.Write([]byte("<html>something in between</html>"))
	case faketest.ResetBefore:
		faketest.Reset(w)
	case faketest.Hang:
		select {
		case <-r.Context().Done():
		case <-a.quit:
		}
		faketest.Reset(w)
	case faketest.Latency:
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
		}
		return false
	case faketest.ResetAfter:
		return false
	}
	return true
}
