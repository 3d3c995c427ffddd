package journal

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
)

// maxShown is how many showings a chat remembers. A request that only an older row showed must be shown again before
// words may decide it.
const maxShown = 32

// Showing is a row that showed requests in full and all of whose parts have receipts. It alone determines which words
// may decide the requests, even after a restart.
type Showing struct {
	Key      RowKey   `json:"key"`
	Requests []string `json:"requests"` // their ids, in the order shown
	Pieces   []Piece  `json:"pieces"`
	// Next is the order of the first message of the bot after the row, or 0 if none is known.
	Next int64 `json:"next,omitempty"`
	// Doubt is set if the bot may have said something after the row, at an unknown position.
	Doubt bool `json:"doubt,omitempty"`
}

// Piece is a message of a row; see [messages.Receipt].
type Piece struct {
	ID    string `json:"id"`
	Order int64  `json:"order"`
}

// Last returns the order of the last piece.
func (s Showing) Last() int64 {
	var last int64
	for _, p := range s.Pieces {
		last = max(last, p.Order)
	}
	return last
}

// Unseen returns the row that will show a request which has not been shown yet, or nil. A pending row is preferred to a
// parked one.
func (s *State) Unseen(approvalID string) *OutboxRow {
	if slices.ContainsFunc(s.Shown, func(o Showing) bool { return slices.Contains(o.Requests, approvalID) }) {
		return nil
	}
	var found *OutboxRow
	for i := range s.Outbox {
		row := &s.Outbox[i]
		asks := slices.ContainsFunc(row.Asks, func(a Ask) bool { return a.ApprovalID == approvalID })
		if (asks || slices.Contains(row.Shows, approvalID)) && (found == nil || found.Parked && !row.Parked) {
			found = row
		}
	}
	return found
}

// Reading is what readers of a chat without an outbox saw last.
type Reading struct {
	// Requests are the open requests that it shows in full.
	Requests []string `json:"requests,omitempty"`
}

// IDs returns the platform's ids of receipts.
func IDs(receipts []messages.Receipt) []string {
	var out []string
	for _, r := range receipts {
		out = append(out, r.ID)
	}
	return out
}

// Orders returns the orders of receipts, or nil if none is known.
func Orders(receipts []messages.Receipt) []int64 {
	var out []int64
	known := false
	for _, r := range receipts {
		out, known = append(out, r.Order), known || r.Order != 0
	}
	if !known {
		return nil
	}
	return out
}

// said notes that a message of a row was sent. If unsure is set, it may also have been sent a second time, at an
// unknown position.
func (s *State) said(r Record, key RowKey, order int64, unsure bool) {
	if r.N <= s.counted {
		return // the meta file contains it
	}
	for i := range s.Shown {
		shown := &s.Shown[i]
		switch {
		case shown.Key == key:
		case order == 0:
			shown.Doubt = true
		case order < shown.Last():
		case unsure:
			shown.Doubt = true
		case shown.Next == 0 || order < shown.Next:
			shown.Next = order
		}
	}
}

// delivered notes the receipts of a completely delivered row.
func (s *State) delivered(r Record, row OutboxRow, f EgressSettled) {
	showing := Showing{Key: row.Key, Requests: row.Shows}
	for i, id := range f.Receipts {
		var order int64
		if i < len(f.Orders) {
			order = f.Orders[i]
		}
		s.said(r, row.Key, order, f.Maybe)
		if order == 0 {
			showing.Requests = nil // it is not known what came after it
		}
		showing.Pieces = append(showing.Pieces, Piece{ID: id, Order: order})
	}
	known := r.N <= s.counted || slices.ContainsFunc(s.Shown, func(o Showing) bool { return o.Key == row.Key })
	if known || len(showing.Requests) == 0 || len(showing.Pieces) == 0 {
		return
	}
	s.Shown = append(s.Shown, showing)
	if n := len(s.Shown); n > maxShown {
		s.Shown = slices.Clone(s.Shown[n-maxShown:])
	}
}

// showings returns the showings of requests that are still open.
func (s *State) showings() []Showing {
	open := map[string]bool{}
	for _, a := range s.Requests(func(r Request) bool { return r.Answer == AnswerOpen }) {
		open[a.Request.ID] = true
	}
	for _, a := range s.OpenReferred() {
		open[a.Request.ID] = true
	}
	s.Shown = slices.DeleteFunc(s.Shown, func(o Showing) bool {
		return !slices.ContainsFunc(o.Requests, func(id string) bool { return open[id] })
	})
	return slices.Clone(s.Shown)
}

// reads notes what readers of a chat without an outbox saw last, and the requests that it shows.
func (s *State) reads(r Record, requests []string) {
	if r.N > s.counted {
		s.Read = Reading{Requests: requests}
	}
}

// open returns the ids of the turn's open requests.
func (t Turn) open() []string {
	var ids []string
	for _, r := range t.Requests {
		if r.Answer == AnswerOpen {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
