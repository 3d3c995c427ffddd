package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Call says what a call of a model is for.
type Call struct {
	Chat  messages.ChatKey `json:"chat"`
	Run   string           `json:"run,omitempty"` // empty if it is no step of a run
	Work  string           `json:"work"`          // the kind of work
	Model string           `json:"model"`
}

// Amount is what calls use. The tokens that were read from a cache are part of the input.
type Amount struct {
	Input  int64 `json:"in"`
	Cached int64 `json:"cached"`
	Output int64 `json:"out"`
	// NanoUSD are billionths of a US dollar.
	NanoUSD int64 `json:"nanoUSD"`
}

// Tokens are the tokens of both directions.
func (a Amount) Tokens() int64 { return a.Input + a.Output }

func (a *Amount) add(b Amount, sign int64) {
	a.Input += sign * b.Input
	a.Cached += sign * b.Cached
	a.Output += sign * b.Output
	a.NanoUSD += sign * b.NanoUSD
}

// The kinds of lines. A settlement replaces the reservation with its id.
const (
	isReserved = "reserved"
	isSpent    = "spent"
	isFree     = "free" // nothing was used
)

// line is one line of a file.
type line struct {
	TS int64  `json:"ts"` // Unix milliseconds
	ID string `json:"id"`
	Is string `json:"is"`
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
	return slices.Contains([]string{isReserved, isSpent, isFree}, l.Is) && min(l.Input, l.Cached, l.Output, l.NanoUSD) >= 0
}

// Row is what one chat used of one model on one day.
type Row struct {
	Day   string           `json:"day"`
	Chat  messages.ChatKey `json:"chat"`
	Model string           `json:"model"`
	Calls int              `json:"calls"`
	Amount
}

// Usage returns what was used from a day on, in the order of days, chats and models. What is reserved counts as used.
func Usage(dir, since string) ([]Row, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the usage: %w", err)
	}
	rows := map[string]*Row{} // in the order of their keys
	for _, e := range entries {
		day, ok := strings.CutSuffix(e.Name(), suffix)
		if _, err := time.Parse(time.DateOnly, day); !ok || err != nil || day < since {
			continue
		}
		lines, err := read(dir, day)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			id := day + "\x00" + string(l.Chat) + "\x00" + l.Model
			if rows[id] == nil {
				rows[id] = &Row{Day: day, Chat: l.Chat, Model: l.Model}
			}
			rows[id].Calls++
			rows[id].add(l.Amount, 1)
		}
	}
	out := make([]Row, 0, len(rows))
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[id])
	}
	return out, nil
}
