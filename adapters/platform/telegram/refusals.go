package telegram

import (
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

const (
	// maxRefusals is how many chats are remembered at least; others are asked once more.
	maxRefusals = 4096
	// refusedFor is how long a refusal is believed: settings of chats change.
	refusedFor = 24 * time.Hour
	// everywhere is all chats, when the server does not know a method.
	everywhere = "*"
)

// refusals remember which chats refuse something optional, so that it is not tried with every
// message. They are safe for concurrent use.
type refusals struct {
	now func() time.Time
	at  *recent.Map[string, time.Time]
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, at: recent.New[string, time.Time](maxRefusals)}
}

func (r *refusals) holds(chat string) bool {
	for _, key := range []string{chat, everywhere} {
		at, ok := r.at.Get(key)
		if since := r.now().Sub(at); ok && since >= 0 && since < refusedFor {
			return true
		}
	}
	return false
}

// learn notes a refusal that the same call would meet again. It reports whether it was one.
func (r *refusals) learn(chat string, err *apiError) bool {
	switch {
	case err.Code == http.StatusNotFound:
		r.at.Put(everywhere, r.now())
	case (err.Code == http.StatusBadRequest || err.Code == http.StatusForbidden) && err.MigrateTo == 0:
		r.at.Put(chat, r.now())
	default:
		return false
	}
	return true
}
