package telegram

import (
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

const (
	// maxRefusals is the minimum number of chats that are kept; the feature is tried again in
	// others.
	maxRefusals = 4096
	// refusedFor is how long a refusal stays valid: settings of chats change.
	refusedFor = 24 * time.Hour
	// everywhere stands for all chats, if the server does not know a method.
	everywhere = "*"
)

// refusals remembers which chats refuse an optional feature, so that it is not tried with every
// message. It is safe for concurrent use.
type refusals struct{ *recent.Times }

func newRefusals(now func() time.Time) *refusals {
	return &refusals{recent.NewTimes(maxRefusals, refusedFor, now)}
}

func (r *refusals) holds(chat string) bool { return r.Within(chat) || r.Within(everywhere) }

// learn records a refusal that would occur again for the same call. It reports whether err was one.
func (r *refusals) learn(chat string, err *apiError) bool {
	switch {
	case err.Code == http.StatusNotFound:
		r.Note(everywhere)
	case (err.Code == http.StatusBadRequest || err.Code == http.StatusForbidden) && err.MigrateTo == 0:
		r.Note(chat)
	default:
		return false
	}
	return true
}
