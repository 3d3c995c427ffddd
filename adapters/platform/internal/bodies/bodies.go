// Package bodies reads the bodies of requests whose sender is not yet authenticated. Slow senders
// cannot lock out others: a body that does not arrive in time is abandoned, and when too many are
// being read, the slowest is cut off to make room for the next. Work on the requests is bounded
// elsewhere.
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
	// Patience is the time limit for a body. Services wait equally long for the whole answer.
	Patience = 3 * time.Second
	// AtOnce is the number of bodies read concurrently. Together with the longest body it bounds
	// the memory that they take.
	AtOnce = 128
	// PerPeer is how many of those may be from one address. Behind a proxy all of them are, so it
	// exceeds the number of parallel requests of a service (40 for Telegram by default): its own
	// requests never displace each other. Without a proxy, half of the readers remain for others.
	PerPeer = 64
)

// Reader reads bodies. Its zero value is ready for use; it is safe for concurrent use.
type Reader struct {
	mu      sync.Mutex
	reading []*reading // oldest first
}

type reading struct {
	peer string
	body *http.ResponseController
}

// Read returns the body of a request and 200, or the status to refuse it with: 413 for a body
// longer than most bytes, 408 for one that did not arrive in time or was cut off.
func (r *Reader) Read(w http.ResponseWriter, req *http.Request, most int64) (raw []byte, code int) {
	if req.ContentLength > most {
		return nil, http.StatusRequestEntityTooLarge
	}
	body := http.NewResponseController(w)
	if body.SetReadDeadline(time.Now().Add(Patience)) != nil {
		return nil, http.StatusInternalServerError // Unreachable: the server's connections support deadlines
	}
	mine := &reading{peer: Peer(req.RemoteAddr), body: body}
	r.enter(mine)
	raw, err := io.ReadAll(http.MaxBytesReader(w, req.Body, most))
	r.leave(mine)
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout
	case err != nil, body.SetReadDeadline(time.Time{}) != nil: // a remaining deadline would cut off the work that follows
		return nil, http.StatusBadRequest
	}
	return raw, http.StatusOK
}

// enter registers a body, cutting off another one if necessary.
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

// cut ends the reading of a body. Its handler is still running, because the body is still
// registered.
func (r *Reader) cut(i int) {
	_ = r.reading[i].body.SetReadDeadline(time.Unix(1, 0)) // setting a deadline worked before
	r.reading = slices.Delete(r.reading, i, i+1)
}

func (r *Reader) leave(mine *reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.reading, mine); i >= 0 {
		r.reading = slices.Delete(r.reading, i, i+1)
	}
}

// Peer returns the unit that counts as one sender: an IPv4 address, or the half of an IPv6 address
// that identifies a network.
func Peer(remote string) string {
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
		return remote // Unreachable: such an address has enough bits
	}
	return half.String()
}
