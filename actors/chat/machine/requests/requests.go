// Package requests decides about requests for approval: those of the chat itself, and those of other chats that its
// person may decide about. What the words of people mean is in package ruling, below actors/chat/approval; how chats
// tell each other about requests is in package referral.
//
// The files, of which each calls only those further down:
//
//   - waiting.go, press.go, reply.go: what people send: words or button presses.
//   - referral.go (the chat that asks) and referred.go (the chat that is asked): requests in other chats.
//   - opening.go, expiry.go: how requests begin and end without a decision; buttons.go shows how they ended.
//   - words.go: what people read about requests.
//   - evaluate.go, grants.go, audit.go: whether a decision is valid, and what follows from it.
//   - who.go: who may decide.
package requests

import (
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Requests decides about the requests for approval of a chat: its own, and those of other chats that its person may
// decide about. What it keeps here is not journaled; a chat that is loaded again starts without it.
type Requests struct {
	*decision.Base
	// deadlines of the open requests by approval id, on the clock of this process; expiry is the earliest.
	deadlines map[string]time.Time
	expiry    time.Time
	refers    referral.Asking
	shownEnds map[journal.RowKey]int         // how many ended requests a message with buttons shows as such
	elsewhere map[string]*referral.Decision  // messages and button presses that wait for other chats
	gathering map[string]decision.Gathered   // messages that ask for a list over all chats
	grants    *grants.Book                   // nil until it is read
	allowed   map[string]decision.AuditEntry // calls in progress that a person or a rule let run
}

// Copy returns a copy for another decision.
func (q Requests) Copy() Requests {
	q.deadlines, q.shownEnds, q.elsewhere = decision.Clone(q.deadlines), decision.Clone(q.shownEnds), decision.Clone(q.elsewhere)
	q.gathering, q.allowed = decision.Clone(q.gathering), decision.Clone(q.allowed)
	return q
}

// Reread makes the grants be read again, because they may not have been written.
func (q *Requests) Reread() { q.grants = nil }

// requestOf returns the request for a call or for its copy.
func (q *Requests) requestOf(t uimessage.Tool) journal.Request {
	if t.Approval != nil {
		for _, a := range q.State.Requests(func(r journal.Request) bool { return r.ID == t.Approval.ID }) {
			return a.Request
		}
	}
	return journal.Request{}
}
