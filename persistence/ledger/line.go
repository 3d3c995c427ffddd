package ledger

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// Call says what a call of a model is for.
type Call struct {
	Chat messages.ChatKey `json:"chat"`
	// Person is who is charged. Work that no person asked for has none.
	Person string `json:"person,omitempty"`
	Run    string `json:"run,omitempty"` // empty if it is no step of a run
	Work   string `json:"work"`          // the kind of work
	Model  string `json:"model"`
	// Cheaper is set if the call obeys the higher limits of a cheaper model.
	Cheaper bool `json:"-"`
}

// Amount is what calls use. The tokens that were read from a cache are part of the input.
type Amount struct {
	Input  int64 `json:"in"`
	Cached int64 `json:"cached"`
	Output int64 `json:"out"`
	// NanoUSD are billionths of a US dollar.
	NanoUSD int64 `json:"nanoUSD"`
	// Seconds of recordings and Characters of text are what speech is paid for.
	Seconds    int64 `json:"seconds,omitempty"`
	Characters int64 `json:"characters,omitempty"`
}

// Tokens are the tokens of both directions.
func (a Amount) Tokens() int64 { return a.Input + a.Output }

func (a *Amount) add(b Amount, sign int64) {
	a.Input += sign * b.Input
	a.Cached += sign * b.Cached
	a.Output += sign * b.Output
	a.NanoUSD += sign * b.NanoUSD
	a.Seconds += sign * b.Seconds
	a.Characters += sign * b.Characters
}

// The kinds of lines. A settlement replaces the reservation with its id. Questions to the owner have lines, too, in which
// an answer replaces the question.
const (
	isReserved = "reserved"
	isSpent    = "spent"
	isFree     = "free" // nothing was used
	isAsked    = "asked"
	isAllowed  = "allowed"
)

type line struct {
	TS int64  `json:"ts"` // when the call was reserved, in Unix milliseconds
	ID string `json:"id"`
	Is string `json:"is"`
	// Limit is what a question is about.
	Limit string `json:"limit,omitempty"`
	Call
	Amount
}

const suffix = ".jsonl"

func fileOf(dir, day string) string { return filepath.Join(dir, day+suffix) }

// read returns what the file of a day says of every call that used something. A missing file says nothing.
func read(dir, day string) (map[string]line, error) {
	f, err := os.Open(fileOf(dir, day))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the usage of %s: %w", day, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	out := map[string]line{}
	for r := bufio.NewReaderSize(f, 64<<10); ; {
		raw, err := r.ReadBytes('\n')
		var l line
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && json.Unmarshal(raw, &l) == nil && l.ID != "" && valid(l) {
			out[l.ID] = l
		}
		if errors.Is(err, io.EOF) {
			maps.DeleteFunc(out, func(_ string, l line) bool { return l.Is == isFree })
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the usage of %s: %w", day, err)
		}
	}
}

func valid(l line) bool {
	return slices.Contains([]string{isReserved, isSpent, isFree, isAsked, isAllowed}, l.Is) && min(l.Input, l.Cached, l.Output, l.NanoUSD, l.Seconds, l.Characters) >= 0
}

// Row is what one kind of work used of one model on one day, for one person in one chat.
type Row struct {
	Day    string
	Chat   messages.ChatKey
	Person string
	Model  string
	Work   string
	Calls  int
	Amount
}

// compare orders rows by what they are of.
func (r Row) compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Day, o.Day), cmp.Compare(r.Chat, o.Chat), cmp.Compare(r.Person, o.Person), cmp.Compare(r.Model, o.Model), cmp.Compare(r.Work, o.Work))
}

// Usage returns what was used from a day on, in the order of days, chats, persons, models and kinds of work. What is
// reserved counts as used.
func Usage(dir, since string) ([]Row, error) { return usage(dir, since, nil) }

// Usage is what [Usage] returns without what open calls of this process reserve, as in [Ledger.Used].
func (l *Ledger) Usage(since string) ([]Row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	return usage(l.dir, since, l.open)
}

func usage(dir, since string, open map[string]*Reservation) ([]Row, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the usage: %w", err)
	}
	var rows []Row
	for _, e := range entries {
		day, ok := dayOf(e.Name())
		if !ok || day < since {
			continue
		}
		lines, err := read(dir, day)
		if err != nil {
			return nil, err
		}
		for id, l := range lines {
			if l.Limit != "" || open[id] != nil {
				continue // a question used nothing
			}
			rows = append(rows, Row{Day: day, Chat: l.Chat, Person: l.Person, Model: l.Model, Work: l.Work, Calls: 1, Amount: l.Amount})
		}
	}
	return Sum(rows), nil
}

// Sum adds up rows that are of the same, and orders them.
func Sum(rows []Row) []Row {
	sums := map[Row]*Row{}
	for _, r := range rows {
		of := r
		of.Calls, of.Amount = 0, Amount{}
		if sums[of] == nil {
			sums[of] = new(of)
		}
		sums[of].Calls += r.Calls
		sums[of].add(r.Amount, 1)
	}
	out := make([]Row, 0, len(sums))
	for _, r := range sums {
		out = append(out, *r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].compare(out[j]) < 0 })
	return out
}

func dayOf(file string) (string, bool) {
	day, ok := strings.CutSuffix(file, suffix)
	_, err := time.Parse(time.DateOnly, day)
	return day, ok && err == nil
}

// write appends a line to the file of the day that at is in: at once while a limit is set, and otherwise together with
// those that follow soon.
func (l *Ledger) write(at time.Time, entry line) error {
	entry.TS = at.UnixMilli()
	l.newest = max(l.newest, entry.TS)
	raw, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("record the use of a model: %w", err) // Unreachable: a line encodes
	}
	if day := window.Day.Name(at); l.file == nil || l.fileDay != day {
		if err := l.create(day); err != nil {
			return err
		}
	}
	l.pending = append(append(l.pending, raw...), '\n')
	if l.limits.Any() || l.closed {
		return l.flush()
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(flushAfter, l.flushLate)
	}
	return nil
}

// create opens the file of a day in place of the current one.
func (l *Ledger) create(day string) error {
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	if err := l.shut(); err != nil {
		l.failed(err)
	}
	f, err := document.OpenLines(fileOf(l.dir, day))
	if err != nil {
		return fmt.Errorf("record the use of models: %w", err)
	}
	l.file, l.fileDay = f, day
	return nil
}

// flush writes the pending lines. Those that cannot be written are dropped.
func (l *Ledger) flush() error {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.pending) == 0 {
		return nil
	}
	lines := l.pending
	l.pending = l.pending[:0]
	if _, err := l.file.Write(lines); err != nil {
		return fmt.Errorf("record the use of models: %w", errors.Join(err, l.shut())) // the next line opens the file again
	}
	return nil
}

func (l *Ledger) flushLate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(); err != nil {
		l.failed(err)
	}
}

func (l *Ledger) shut() error {
	f := l.file
	if f == nil {
		return nil
	}
	l.file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the usage of %s: %w", l.fileDay, err)
	}
	return nil
}
