// Package people remembers the names of people, whom events identify by ids alone.
//
// It promises that a name costs at most one request for a person and hour, that a request delays a
// message by at most a second, and that no requests are made for a while after one failed. A name
// that cannot be had is empty; nothing but the wording of messages may depend on it.
package people

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

const (
	// Keep is how long a name is used before it is requested again.
	Keep = time.Hour
	// Pause is how long no names are requested after a request failed, for example because the app
	// may not read names.
	Pause = time.Minute

	timeout = time.Second
	// maxPeople is the number of people whose names are kept at least.
	maxPeople = 4096
)

// Ask requests the name of a person by open id. It is empty if the service knows no such person.
type Ask func(ctx context.Context, id string) (string, error)

// Names are the names of the people who use an app. It is safe for concurrent use.
type Names struct {
	ask   Ask
	now   func() time.Time
	fails func(error)
	known *recent.Map[string, named]

	mu     sync.Mutex
	until  time.Time // no requests until then
	failed bool      // the last request failed
}

// named is a name, which may be empty, and when it was requested.
type named struct {
	name string
	at   time.Time
}

// New returns names that are requested with ask. The first failure after a success is passed to
// fails.
func New(ask Ask, now func() time.Time, fails func(error)) *Names {
	return &Names{ask: ask, now: now, fails: fails, known: recent.New[string, named](maxPeople)}
}

// Of returns the name of a person, or an empty string. A name that could not be requested again
// stays in use.
func (n *Names) Of(ctx context.Context, id string) string {
	if !strings.HasPrefix(id, "ou_") {
		return "" // not the id of a person
	}
	last, ok := n.known.Get(id)
	if now := n.now(); ok && now.Sub(last.at) < Keep || n.pauses(now) {
		return last.name
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	name, err := n.ask(ctx, id)
	n.result(err)
	if err != nil {
		return last.name
	}
	name = botkit.Tidy(name, botkit.MaxName)
	n.known.Put(id, named{name, n.now()})
	return name
}

func (n *Names) pauses(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return now.Before(n.until)
}

func (n *Names) result(err error) {
	n.mu.Lock()
	first := err != nil && !n.failed
	n.failed = err != nil
	if n.failed {
		n.until = n.now().Add(Pause)
	}
	n.mu.Unlock()
	if first {
		n.fails(err)
	}
}
