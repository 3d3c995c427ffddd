package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

const (
	// flushAfter is how long settlements wait for others while no limit is set.
	flushAfter = time.Second
	// runIdle is how long after its last call a run is forgotten, once there are more than maxRuns.
	runIdle, maxRuns = time.Hour, 4096
)

// Limits are the most that may be used, in tokens and billionths of a US dollar; 0 means no limit.
type Limits struct {
	RunTokens, ChatTokensPerDay, HostTokensPerDay    int64
	RunNanoUSD, ChatNanoUSDPerDay, HostNanoUSDPerDay int64
}

// Limit is one of the [Limits].
type Limit string

// The limits, named as the settings of people.
const (
	RunTokens        Limit = "runTokens"
	ChatTokensPerDay Limit = "chatTokensPerDay"
	HostTokensPerDay Limit = "hostTokensPerDay"
	USDPerRun        Limit = "usdPerRun"
	USDPerChatPerDay Limit = "usdPerChatPerDay"
	USDPerHostPerDay Limit = "usdPerHostPerDay"
)

// Exhausted is the error of a call that a limit refuses.
type Exhausted struct{ Limit Limit }

// Error implements error.
func (e *Exhausted) Error() string { return "the limit " + string(e.Limit) + " is reached" }

// tally is what was used, and what is reserved.
type tally struct {
	spent, reserved Amount
	last            time.Time // of the last call
}

// day are the tallies of one day.
type day struct {
	host  tally
	chats map[messages.ChatKey]*tally
	open  int // reservations
}

// Ledger records what calls use, and refuses those that exceed a limit.
type Ledger struct {
	dir    string
	zone   *time.Location
	failed func(error)

	mu      sync.Mutex
	limits  Limits
	days    map[string]*day // the current one, and those with reservations
	runs    map[string]*tally
	pruneAt int           // how many runs are too many
	changed chan struct{} // closed when waiting calls may be admitted; nil if none waits

	prefix string // of the ids that this process gives
	calls  int64

	file    *os.File
	fileDay string
	torn    bool // the last line of the file may be incomplete
	pending []byte
	timer   *time.Timer // until pending is written
	closed  bool
}

// Open opens the ledger of a folder, which need not exist yet. Days begin at midnight in the zone. failed is called for
// every settlement that could not be recorded, which counts nevertheless until the process ends.
func Open(dir string, zone *time.Location, failed func(error)) (*Ledger, error) {
	l := &Ledger{
		dir: dir, zone: zone, failed: failed,
		days: map[string]*day{}, runs: map[string]*tally{}, pruneAt: maxRuns, prefix: rand.Text()[:8] + ".",
	}
	now := time.Now()
	for _, name := range []string{l.dayOf(now.AddDate(0, 0, -1)), l.dayOf(now)} {
		lines, err := read(dir, name)
		if err != nil {
			return nil, err
		}
		for _, line := range lines { // a run may have begun yesterday
			l.run(line.Run, now).spent.add(line.Amount, 1)
		}
	}
	_, err := l.today(now)
	return l, err
}

func (l *Ledger) dayOf(t time.Time) string { return t.In(l.zone).Format(time.DateOnly) }

// today returns the tallies of a time's day. The clock may have gone back to a day before. What cannot be read matters
// only if there is a limit.
func (l *Ledger) today(now time.Time) (*day, error) {
	name := l.dayOf(now)
	if d := l.days[name]; d != nil {
		return d, nil
	}
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	lines, err := read(l.dir, name)
	switch {
	case err == nil:
	case l.limits != (Limits{}):
		return nil, err
	default:
		l.failed(err)
	}
	for other, d := range l.days {
		if d.open == 0 {
			delete(l.days, other)
		}
	}
	d := &day{chats: map[messages.ChatKey]*tally{}}
	for _, line := range lines {
		d.host.spent.add(line.Amount, 1)
		d.chat(line.Chat).spent.add(line.Amount, 1)
	}
	l.days[name] = d
	return d, nil
}

func (d *day) chat(key messages.ChatKey) *tally {
	t := d.chats[key]
	if t == nil {
		t = &tally{}
		d.chats[key] = t
	}
	return t
}

// run returns the tally of a run, and a new one for calls without a run.
func (l *Ledger) run(id string, now time.Time) *tally {
	if id == "" {
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

// SetLimits replaces the limits. Calls that wait are decided again.
func (l *Ledger) SetLimits(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits
	l.wake()
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
	most    Amount // what is reserved
	day     *day
	dayName string
	tallies [3]*tally // of the run, the chat and the host
	done    bool
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
	d, err := l.today(now)
	if err != nil {
		return nil, nil, err
	}
	l.calls++
	r = &Reservation{ledger: l, call: call, dayName: l.dayOf(now), day: d, id: l.prefix + strconv.FormatInt(l.calls, 36)}
	r.tallies = [...]*tally{l.run(call.Run, now), d.chat(call.Chat), &d.host}
	if l.limits != (Limits{}) {
		if wait, err = l.check(r.tallies); wait != nil || err != nil {
			return nil, wait, err
		}
		r.most = most()
		if err := l.write(now, r, isReserved, r.most); err != nil {
			return nil, nil, err
		}
	}
	d.open++
	for _, t := range r.tallies {
		t.reserved.add(r.most, 1)
	}
	return r, nil, nil
}

// check holds the tallies of a run, a chat and the host against the limits.
func (l *Ledger) check(of [3]*tally) (wait <-chan struct{}, err error) {
	run, chat, host := of[0], of[1], of[2]
	for _, c := range []struct {
		limit Limit
		most  int64
		t     *tally
		of    func(Amount) int64
	}{
		{RunTokens, l.limits.RunTokens, run, Amount.Tokens},
		{USDPerRun, l.limits.RunNanoUSD, run, nanoUSD},
		{ChatTokensPerDay, l.limits.ChatTokensPerDay, chat, Amount.Tokens},
		{USDPerChatPerDay, l.limits.ChatNanoUSDPerDay, chat, nanoUSD},
		{HostTokensPerDay, l.limits.HostTokensPerDay, host, Amount.Tokens},
		{USDPerHostPerDay, l.limits.HostNanoUSDPerDay, host, nanoUSD},
	} {
		switch spent := c.of(c.t.spent); {
		case c.most <= 0:
		case spent >= c.most:
			return nil, &Exhausted{c.limit}
		case spent+c.of(c.t.reserved) >= c.most:
			if l.changed == nil {
				l.changed = make(chan struct{})
			}
			wait = l.changed
		}
	}
	return wait, nil
}

func nanoUSD(a Amount) int64 { return a.NanoUSD }

// Settle records what the call has used, which is nothing if it was not made. Only the first settlement counts.
func (r *Reservation) Settle(used Amount) {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.done {
		return
	}
	r.done = true
	r.day.open--
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
	if err := l.write(time.Now(), r, is, used); err != nil {
		l.failed(err)
	}
}

// Today returns what a chat has used today.
func (l *Ledger) Today(chat messages.ChatKey) (Amount, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, err := l.today(time.Now())
	if err != nil || d.chats[chat] == nil {
		return Amount{}, err
	}
	return d.chats[chat].spent, nil
}

// Close writes what is pending. Calls may still be settled after it.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return errors.Join(l.flush(), l.shut())
}
