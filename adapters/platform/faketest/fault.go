package faketest

import (
	"net"
	"net/http"
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

// Reset breaks the connection hard.
func Reset(w http.ResponseWriter) {
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
