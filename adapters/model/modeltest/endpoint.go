package modeltest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Endpoint is what the servers of all protocols have in common: an address, and the record of what
// happened there.
type Endpoint struct {
	// URL is the base URL, ending in /v1.
	URL string

	http   *httptest.Server
	mu     sync.Mutex
	record Record
}

// Record is what happened at an [Endpoint].
type Record struct {
	Bodies [][]byte // of the requests, refused ones included
	Faults []error  // why requests were refused, and what scripts did that the protocol cannot say
	Calls  []Accounting
}

// Took adds a body, and what is wrong with it, if anything. It returns the number of the body.
func (r *Record) Took(body []byte, fault error) int {
	r.Bodies = append(r.Bodies, body)
	r.Fault(fault)
	return len(r.Bodies) - 1
}

// Fault adds a fault, unless it is nil.
func (r *Record) Fault(fault error) {
	if fault != nil {
		r.Faults = append(r.Faults, fault)
	}
}

// Listen starts the endpoint on loopback. Close it.
func (e *Endpoint) Listen(h http.Handler) {
	e.http = httptest.NewServer(h)
	e.URL = e.http.URL + "/v1"
}

// Close ends every connection and stops the server.
func (e *Endpoint) Close() {
	e.http.CloseClientConnections()
	e.http.Close()
}

// ServeHTTP implements [http.Handler], for a server of a test's own that changes the answers.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.http.Config.Handler.ServeHTTP(w, r)
}

// Locked calls f with the record. A server guards its own state by this lock as well.
func (e *Endpoint) Locked(f func(*Record)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.record)
}

// Bodies returns the request bodies so far, refused ones included.
func (e *Endpoint) Bodies() (out [][]byte) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Bodies) })
	return out
}

// Faults returns the rules that refused requests broke, and what scripts did that the protocol
// cannot say. A test should want none.
func (e *Endpoint) Faults() (out []error) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Faults) })
	return out
}

// Calls returns what calls are billed for, in the order in which their answers began. Output is 0
// until an answer has ended.
func (e *Endpoint) Calls() (out []Accounting) {
	e.Locked(func(r *Record) { out = slices.Clone(r.Calls) })
	return out
}
