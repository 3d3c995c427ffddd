package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/window"
)

// period are the tallies of one window, and the questions about its limits by their codes. The empty person and the empty
// chat have no tally.
type period struct {
	name      string
	host      tally
	chats     map[messages.ChatKey]*tally
	persons   map[string]*tally
	questions map[string]*Question
}

func (p *period) of(call Call) []*tally {
	out := append(make([]*tally, 0, 3), &p.host)
	if call.Chat != "" {
		out = append(out, tallyOf(p.chats, call.Chat))
	}
	if call.Person != "" {
		out = append(out, tallyOf(p.persons, call.Person))
	}
	return out
}

func tallyOf[K comparable](m map[K]*tally, key K) *tally {
	t := m[key]
	if t == nil {
		t = &tally{}
		m[key] = t
	}
	return t
}

// turn makes the windows of a time the current ones. The clock may have gone back to earlier ones, so they are found
// by their names. What cannot be read matters only if there is a limit.
func (l *Ledger) turn(now time.Time) error {
	now = now.In(l.zone)
	if l.limits.Run != (Bound{}) && !l.runsOf {
		if err := l.loadRuns(now); err != nil {
			return err
		}
	}
	// The day comes first, because the others depend on what its file says.
	for w := range window.Count {
		name, needed := w.Name(now), l.limits.in(w)
		if w == window.Day {
			needed = l.asked || l.limits.Any()
		}
		switch p := l.now[w]; {
		case !needed:
			l.now[w] = nil
			continue
		case p != nil && p.name == name:
			continue
		}
		p, err := l.load(w, name, now)
		switch {
		case err == nil:
		case l.limits.Any():
			return err
		default:
			l.failed(err)
		}
		l.now[w] = p
	}
	return nil
}

// loadRuns reads what runs have used that may continue. They may have begun yesterday.
func (l *Ledger) loadRuns(now time.Time) error {
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	spent := map[string]Amount{}
	for _, t := range []time.Time{now.AddDate(0, 0, -1), now} {
		lines, err := read(l.dir, window.Day.Name(t))
		if err != nil {
			return err
		}
		for id, line := range lines {
			if l.open[id] == nil {
				of := spent[line.Run]
				of.add(line.Amount, 1)
				spent[line.Run] = of
			}
		}
	}
	for run, amount := range spent {
		l.run(run, now).spent = amount
	}
	for _, r := range l.open {
		r.count(l.run(r.call.Run, now))
	}
	l.runsOf = true
	return nil
}

// load reads what was used in a window. Calls of this process that are open are reserved in it, not used.
func (l *Ledger) load(w window.Window, name string, now time.Time) (*period, error) {
	p := &period{name: name, chats: map[messages.ChatKey]*tally{}, persons: map[string]*tally{}, questions: map[string]*Question{}}
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	days, err := l.daysOf(w, now)
	for _, day := range days {
		var lines map[string]line
		if lines, err = read(l.dir, day); err != nil {
			break
		}
		if w == window.Day {
			l.newest = 0
		}
		for id, line := range lines {
			if w == window.Day {
				l.newest = max(l.newest, line.TS)
			}
			at := time.UnixMilli(line.TS).In(l.zone)
			switch of, asks := window.Of(line.Limit); {
			case l.open[id] != nil || w == window.Hour && w.Name(at) != name:
			case asks && of == w:
				p.take(line, at)
			case asks:
			default:
				for _, t := range p.of(line.Call) {
					t.spent.add(line.Amount, 1)
				}
			}
		}
	}
	for _, r := range l.open {
		if w.Name(r.at) == name {
			r.countIn(p)
		}
	}
	return p, err
}

// daysOf are the days whose files a window needs. An hour that begins after everything that the file of its day has
// needs none.
func (l *Ledger) daysOf(w window.Window, now time.Time) ([]string, error) {
	switch {
	case w == window.Hour && window.BeginOfHour(now).UnixMilli() > l.newest:
		return nil, nil
	case w != window.Month:
		return []string{window.Day.Name(now)}, nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the usage: %w", err)
	}
	var days []string
	for _, e := range entries {
		if day, ok := dayOf(e.Name()); ok && strings.HasPrefix(day, window.Month.Name(now)) {
			days = append(days, day)
		}
	}
	return days, nil
}

// Tell reports whether the chat of a call is told now that a limit has a cheaper model answer: once in the window of the
// limit, or in the run.
func (l *Ledger) Tell(call Call, limit string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.run(call.Run, time.Now())
	if w, ok := window.Of(limit); ok && l.now[w] != nil && call.Chat != "" {
		t = tallyOf(l.now[w].chats, call.Chat)
	}
	first := !t.told
	t.told = true
	return first
}

// Used is what a chat, a person and all of the host have used in a window.
type Used struct{ Chat, Person, Host Share }

// Share is what was used, and the most that may be, with what the owner has allowed.
type Share struct {
	Amount

	Most Bound
}

func (t *tally) share(most Bound) Share {
	if t == nil {
		return Share{Most: most}
	}
	return Share{t.spent, t.bound(most)}
}

// Used returns what was used today, and in the other current windows that have limits.
func (l *Ledger) Used(chat messages.ChatKey, person string) (map[window.Window]Used, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = true
	if err := l.turn(time.Now()); err != nil {
		return nil, err
	}
	out := map[window.Window]Used{}
	for w, p := range l.now {
		if p != nil {
			out[window.Window(w)] = Used{p.chats[chat].share(l.limits.Chat[w]), p.persons[person].share(l.limits.Person[w]), p.host.share(l.limits.Host[w])}
		}
	}
	return out, nil
}
