package faketest

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// FaultKind is a way to fail.
type FaultKind string

// The kinds of faults.
const (
	Refuse      FaultKind = "refuse"       // answers with Code and Text, RetryAfter, MoveTo
	Garbage     FaultKind = "garbage"      // answers with Code and a page instead of JSON
	ResetBefore FaultKind = "reset before" // breaks the connection and does nothing
	ResetAfter  FaultKind = "reset after"  // carries out the call, then breaks the connection
	Hang        FaultKind = "hang"         // answers only when the caller disconnects
	Latency     FaultKind = "latency"      // answers after Delay
)

// Fault fails calls of a fake on purpose.
type Fault struct {
	Method     string // the name of the call, if calls have names; empty matches all
	Path       string // a part of the path, if they have none; empty matches all
	Chat       int64  // 0 matches all
	Kind       FaultKind
	N          int // how many calls; 0 is 1, and a negative number lasts until Heal
	Status     int // of Refuse and Garbage, where that is not the Code; 0 is 400
	Code       int
	Text       string
	RetryAfter int // seconds
	MoveTo     int64
	Delay      time.Duration
}

// Faults are those that a fake still has to play.
type Faults struct {
	mu   sync.Mutex
	list []*Fault
}

// Fail arms a fault. Several are taken in their order.
func (s *Faults) Fail(f Fault) {
	if f.N == 0 {
		f.N = 1
	}
	if f.Status == 0 {
		f.Status = http.StatusBadRequest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, &f)
}

// Heal disarms all faults.
func (s *Faults) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// Take returns the first fault that matches a call and counts it as used. It returns nil if none matches.
func (s *Faults) Take(isFor func(*Fault) bool) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.list {
		if !isFor(f) {
			continue
		}
		if f.N--; f.N == 0 {
			s.list = append(s.list[:i:i], s.list[i+1:]...)
		}
		return f
	}
	return nil
}

// Play lets the call fail. It returns false if the call shall be carried out nevertheless. status is for Garbage, refuse
// writes the answer for Refuse, and calls that hang end when quit is closed.
func (f *Fault) Play(w http.ResponseWriter, r *http.Request, status int, quit <-chan struct{}, refuse func()) bool {
	switch f.Kind {
	case Refuse:
		refuse()
	case Garbage:
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<html>something in between</html>"))
	case ResetBefore:
		Reset(w)
	case Hang:
		select {
		case <-r.Context().Done():
		case <-quit:
		}
		Reset(w)
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

// Reset breaks the connection hard.
func Reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
