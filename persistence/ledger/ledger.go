package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/window"
)

const (
	// flushAfter is how long settlements wait for others while no limit is set.
	flushAfter = time.Second
	// runIdle is how long after its last call a run is forgotten, once there are more than maxRuns.
	runIdle, maxRuns = time.Hour, 4096
)

// tally is what was used, and what is reserved.
type tally struct {
	spent, reserved Amount
	last            time.Time // of the last call, for runs
	told            bool      // see [Ledger.Tell]
	// moreTokens and moreUSD are how many times as much again was allowed of a limit in tokens, and of one in dollars.
	moreTokens, moreUSD int64
}

func (t *tally) raise(money bool) {
	if money {
		t.moreUSD++
	} else {
		t.moreTokens++
	}
}

// bound is what may be used after what was allowed.
func (t *tally) bound(most Bound) Bound {
	return Bound{most.Tokens * (1 + t.moreTokens), most.NanoUSD * (1 + t.moreUSD)}
}

// Ledger records what calls use, and refuses those that exceed a limit.
type Ledger struct {
	dir    string
	zone   *time.Location
	failed func(error)

	mu      sync.Mutex
	limits  Limits
	now     [window.Count]*period   // the current ones; nil while nobody needs them
	asked   bool                    // for what was used today
	newest  int64                   // the latest time in the file of this day, in Unix milliseconds
	open    map[string]*Reservation // by their ids
	runs    map[string]*tally
	runsOf  bool          // runs has what was recorded before there was a limit
	pruneAt int           // how many runs are too many
	changed chan struct{} // closed when waiting calls may be admitted; nil if none waits

	prefix string // of the ids that this process gives
	calls  int64

	file    *os.File
	fileDay string
	pending []byte
	timer   *time.Timer // until pending is written
	closed  bool
}

// Open opens the ledger of a folder, which need not exist yet. Its windows are those of the calendar in the zone. failed is
// called for every settlement that could not be recorded, which counts nevertheless until the process ends. Nothing is
// read until there is a limit or somebody asks what was used.
func Open(dir string, zone *time.Location, failed func(error)) *Ledger {
	return &Ledger{
		dir: dir, zone: zone, failed: failed,
		open: map[string]*Reservation{}, runs: map[string]*tally{}, pruneAt: maxRuns, prefix: rand.Text()[:8] + ".",
	}
}

// run returns the tally of a run. While runs have no limit, and for calls without a run, it is a new one that is not
// kept.
func (l *Ledger) run(id string, now time.Time) *tally {
	if id == "" || l.limits.Run == (Bound{}) {
		return &tally{}
	}
	t := l.runs[id]
	if t == nil {
		if len(l.runs) >= l.pruneAt {
			for other, t := range l.runs {
				if t.reserved == (Amount{}) && now.Sub(t.last) > runIdle {
					delete(l.runs, other)
				}
			}
			l.pruneAt = max(maxRuns, 2*len(l.runs))
		}
		t = &tally{}
		l.runs[id] = t
	}
	t.last = now
	return t
}

// SetLimits replaces the limits. Calls that wait are decided again. What was used in a window that gets its first limit
// is read now. If it cannot be read, the error says so, and calls are refused until it can.
func (l *Ledger) SetLimits(limits Limits) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.wake()
	l.limits = limits
	if limits.Run == (Bound{}) {
		l.runs, l.runsOf = map[string]*tally{}, false
	}
	return l.turn(time.Now())
}

func (l *Ledger) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Reservation is a call that was admitted.
type Reservation struct {
	ledger  *Ledger
	call    Call
	id      string
	at      time.Time // in the zone of the ledger
	most    Amount    // what is reserved
	tallies []*tally
	done    bool
}

func (r *Reservation) count(tallies ...*tally) {
	for _, t := range tallies {
		t.reserved.add(r.most, 1)
	}
	r.tallies = append(r.tallies, tallies...)
}

func (r *Reservation) countIn(p *period) { r.count(p.of(r.call)...) }

func (r *Reservation) line(is string, a Amount) line {
	return line{ID: r.id, Is: is, Call: r.call, Amount: a}
}

// Reserve admits a call, which may then use what most returns. It waits while only reservations of other calls keep it
// out, until ctx ends. most is not called while no limit is set. The error is an [*Exhausted], ctx's cause, or that the
// reservation cannot be recorded; the call must not be made then.
func (l *Ledger) Reserve(ctx context.Context, call Call, most func() Amount) (*Reservation, error) {
	for {
		r, wait, err := l.admit(call, most)
		if wait == nil || err != nil {
			return r, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// admit decides about a call now. It returns a channel to wait for if the call may be admitted later.
func (l *Ledger) admit(call Call, most func() Amount) (r *Reservation, wait <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if err := l.turn(now); err != nil {
		return nil, nil, err
	}
	l.calls++
	r = &Reservation{ledger: l, call: call, at: now.In(l.zone), id: l.prefix + strconv.FormatInt(l.calls, 36)}
	run := l.run(call.Run, now)
	if l.limits.Any() {
		wait, err = l.check(call, run)
		if exhausted, ok := errors.AsType[*Exhausted](err); ok {
			exhausted.Question, exhausted.First = l.ask(call, exhausted.Limit, now)
		}
		if wait != nil || err != nil {
			return nil, wait, err
		}
		r.most = most()
		if err := l.write(r.at, r.line(isReserved, r.most)); err != nil {
			return nil, nil, err
		}
	}
	l.open[r.id] = r
	r.count(run)
	for _, p := range l.now {
		if p != nil {
			r.countIn(p)
		}
	}
	return r, nil, nil
}

// Settle records what the call has used, which is nothing if it was not made. Only the first settlement counts.
func (r *Reservation) Settle(used Amount) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.done {
		return
	}
	r.done = true
	delete(l.open, r.id)
	for _, t := range r.tallies {
		t.reserved.add(r.most, -1)
		t.spent.add(used, 1)
	}
	l.wake()
	is := isSpent
	if used == (Amount{}) {
		is = isFree
	}
	if is == isFree && r.most == (Amount{}) {
		return
	}
	if err := l.write(r.at, r.line(is, used)); err != nil {
		l.failed(err)
	}
}

// Close writes what is pending. Calls may still be settled after it.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return errors.Join(l.flush(), l.shut())
}
