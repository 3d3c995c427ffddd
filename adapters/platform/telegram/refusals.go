package telegram

import (
	"sync"
	"time"
)

const (
	// maxRefusals is how many chats are remembered; beyond, all are forgotten and
	// asked once more.
	maxRefusals = 4096
	// refusedFor is how long a refusal holds: settings of chats change.
	refusedFor = 24 * time.Hour
	// everywhere stands for all chats, when the server does not know a method.
	everywhere = "*"
)

// refusals remember which chats refuse something optional, so that it is not tried
// with every message. They are safe for concurrent use.
type refusals struct {
	now func() time.Time

	mu sync.Mutex
	at map[string]time.Time
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, at: map[string]time.Time{}}
}

func (r *refusals) note(chat string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.at) >= maxRefusals {
		clear(r.at)
	}
	r.at[chat] = r.now()
}

func (r *refusals) holds(chat string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range []string{chat, everywhere} {
		at, ok := r.at[key]
		if since := r.now().Sub(at); ok && since >= 0 && since < refusedFor {
			return true
		}
		delete(r.at, key)
	}
	return false
}

// learn notes a refusal that the same call would meet again. It reports whether it
// was one.
func (r *refusals) learn(chat string, err *apiError) bool {
	switch {
	case err.Code == 404:
		r.note(everywhere)
	case (err.Code == 400 || err.Code == 403) && err.MigrateTo == 0:
		r.note(chat)
	default:
		return false
	}
	return true
}
