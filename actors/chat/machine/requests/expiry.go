package requests

import (
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// approvalTime is how long a request stays open before it expires.
const approvalTime = 30 * time.Minute

// maxOpen is how many requests may be open in a chat.
const maxOpen = 10

// ExpiryDue is the timer message for the first expiring request.
type ExpiryDue struct{}

// ArmExpiry sets a deadline on this process's clock for each new open request, never more than approvalTime from now
// even if the wall clock says otherwise, and arms the timer for the earliest one.
func (q *Requests) ArmExpiry() {
	now, first := q.Now(), time.Time{}
	deadlines := map[string]time.Time{}
	for _, a := range q.State.OpenRequests() {
		d, ok := q.deadlines[a.Request.ID]
		if !ok {
			d = now.Add(min(time.UnixMilli(a.Request.Expires).Sub(now), approvalTime))
		}
		deadlines[a.Request.ID] = d
		if first.IsZero() || d.Before(first) {
			first = d
		}
	}
	q.deadlines = deadlines
	switch {
	case first.Equal(q.expiry):
	case first.IsZero():
		q.EndTimer("expiry")
	default:
		q.Timer("expiry", first.Sub(now), ExpiryDue{})
	}
	q.expiry = first
}

// Expire ends the requests whose deadline has passed without a decision. No run follows.
func (q *Requests) Expire() {
	now := q.Now()
	q.expiry = time.Time{} // the timer has fired
	list := slices.DeleteFunc(q.State.OpenRequests(), func(a journal.Asked) bool { return !q.expired(a.Request, now) })
	q.End(list, journal.AnswerExpired, reasonExpired, notices.Expired)
	q.ArmExpiry()
}

// CapOpen withdraws the oldest open requests when there are more than maxOpen.
func (q *Requests) CapOpen() {
	if open := q.State.OpenRequests(); len(open) > maxOpen {
		q.End(open[:len(open)-maxOpen], journal.AnswerWithdrawn, reasonCrowded, notices.Crowded)
	}
}

// End ends requests without a person's decision and sends the given words to the chat. If words is nil, the
// end is only shown where the request itself is shown.
func (q *Requests) End(list []journal.Asked, answer journal.Answer, reason string, words func(n string) notices.Text) {
	var made []journal.ApprovalDecided
	var rows []journal.Row
	for _, a := range list {
		f := journal.ApprovalDecided{MessageID: a.Turn.ID, ApprovalID: a.Request.ID, Answer: answer, Reason: reason, Late: q.late(a.Turn.ID)}
		if q.Via.Outbox && words != nil {
			f.Rows = []journal.Row{{Key: journal.RowKey{MessageID: "h:" + a.Request.ID, N: 1}, Text: q.Localized(words(strconv.Itoa(a.Request.N)))}}
		}
		made, rows = append(made, f), append(rows, f.Rows...)
	}
	q.Append(asFacts(made)...)
	q.DeliverRows(rows)
	q.decided(made)
}
