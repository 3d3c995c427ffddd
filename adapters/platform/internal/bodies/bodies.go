// Package bodies reads the bodies of requests that anybody may send, before it is known
// who sends them. It promises that slow senders keep nobody else out: a body that has not
// come in time is given up, and where too many are being read, the one that takes longest
// makes room for the next. What was asked for is worked on elsewhere, with a bound of its own.
package bodies

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// Patience is how long a body may take. Services wait as long for the whole answer.
	Patience = 3 * time.Second
	// AtOnce is how many bodies are read side by side. Together with the longest body this
	// bounds what they take in memory.
	AtOnce = 128
	// PerPeer is how many of those come from one address. Behind a proxy all of them do, so it
	// is above what a service sends side by side (Telegram 40 unless told otherwise): of its
	// own requests none makes room for another. Without a proxy, half of the readers remain
	// for others.
	PerPeer = 64
)

// Reader reads bodies. Its zero value is ready; it is safe for concurrent use.
type Reader struct {
	mu      sync.Mutex
	reading []*reading // the one that began first is the first
}

// reading is a body that is being read.
type reading struct {
	peer string
	body *http.ResponseController
}

// Read returns the body of a request and 200, or the status to refuse it with: 413 for one
// that is longer than most bytes, 408 for one that did not come in time or had to make room.
func (r *Reader) Read(w http.ResponseWriter, req *http.Request, most int64) (raw []byte, code int) {
	if req.ContentLength > most {
		return nil, http.StatusRequestEntityTooLarge
	}
	body := http.NewResponseController(w)
	if body.SetReadDeadline(time.Now().Add(Patience)) != nil {
		return nil, http.StatusInternalServerError // Unreachable: the server's connections can
	}
	mine := &reading{peer: peer(req.RemoteAddr), body: body}
	r.enter(mine)
	raw, err := io.ReadAll(http.MaxBytesReader(w, req.Body, most))
	r.leave(mine)
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout
	case err != nil, body.SetReadDeadline(time.Time{}) != nil: // it would cut the work that follows
		return nil, http.StatusBadRequest
	}
	return raw, http.StatusOK
}

// enter makes room for a body.
func (r *Reader) enter(mine *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, first := 0, -1
	for i, other := range r.reading {
		if other.peer != mine.peer {
			continue
		}
		if own++; first < 0 {
			first = i
		}
	}
	switch {
	case own >= PerPeer:
		r.cut(first)
	case len(r.reading) >= AtOnce:
		r.cut(0)
	}
	r.reading = append(r.reading, mine)
}

// cut ends the reading of a body. Its handler has not returned yet, as it is among those that
// are read.
func (r *Reader) cut(i int) {
	_ = r.reading[i].body.SetReadDeadline(time.Unix(1, 0)) // it was set before
	r.reading = slices.Delete(r.reading, i, i+1)
}

func (r *Reader) leave(mine *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.reading, mine); i >= 0 {
		r.reading = slices.Delete(r.reading, i, i+1)
	}
}

// peer is who counts as one sender: an IPv4 address, or the half of an IPv6 address that a
// network is given.
func peer(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	half, err := addr.Prefix(64)
	if err != nil {
		return remote // Unreachable: such an address has as many bits
	}
	return half.String()
}
