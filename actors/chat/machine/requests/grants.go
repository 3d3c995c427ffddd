package requests

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// book returns the chat's grants, which are read on first use. If they cannot be read, nothing is allowed without
// asking.
func (q *Requests) book() *grants.Book {
	if q.grants != nil {
		return q.grants
	}
	var list []permission.Grant
	if q.Grants != nil {
		var err error
		if list, err = q.Grants.Grants(context.Background(), q.Key); err != nil {
			q.Log(slog.LevelError, "the timed grants of the chat cannot be read; everything asks, and the next grant renames their file", "error", err)
			list = nil
		}
	}
	q.grants = grants.Open(list, q.clock())
	return q.grants
}

func (q *Requests) clock() grants.Clock {
	at := grants.Clock{Now: q.Now()}
	if q.Uptime != nil {
		at.Boot, at.Up = q.Uptime()
	}
	return at
}

// save plans to save the grants. If they cannot be written, the message that changed them is refused.
func (q *Requests) save(book *grants.Book) {
	q.Plan.MayRefuse = true
	q.Plan.Grants = append(q.Plan.Grants, decision.Granted{List: book.All()})
	q.grants = book
}

// give plans to save the grants that a person gave, and those without an end for the requests approved now that an
// operator's rule covers.
func (q *Requests) give(given []permission.Grant, made []journal.ApprovalDecided) {
	for _, d := range made {
		if d.Answer == journal.AnswerApproved && q.Grants != nil {
			asked := q.State.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
			given = slices.Concat(given, grants.WithoutEnd(q.Now(), asked))
		}
	}
	if len(given) > 0 {
		q.save(q.book().Give(q.Now(), given...))
	}
}

// terms are those of grants that a person gives now.
func (q *Requests) terms(id, person string) grants.Terms {
	return grants.Terms{ID: id, Person: person, At: q.clock(), Off: q.Grants == nil}
}

// LiveGrants returns the grants that apply to the run's next step.
func (q *Requests) LiveGrants() []messages.Grant {
	return q.book().Live(q.Now(), q.Addr.Platform, q.answered(), func(giver, asker string) bool {
		return q.mayDecide(messages.Asker{Platform: q.Addr.Platform, ID: giver}, asker)
	})
}

// answered returns the ids of the people whose turns the run answers, and of those whose calls it executes after a
// late decision.
func (q *Requests) answered() map[string]bool {
	people := map[string]bool{}
	run := q.State.Run
	if run == nil {
		return people
	}
	for _, v := range run.Visible {
		if t, ok := q.State.Turn(v.TurnID); ok {
			people[writer(t)] = true
		}
	}
	if t, ok := q.State.Turn(run.MessageID); ok { // the run continues a message of an earlier run
		for _, f := range t.Meta.Fates {
			if of, ok := q.State.Turn(f.ID); ok {
				people[writer(of)] = true
			}
		}
	}
	for _, p := range run.Parts {
		if call, ok := p.(uimessage.Tool); ok && call.Approval != nil {
			people[q.requestOf(call).Asker] = true
		}
	}
	return people
}

// writer returns who wrote a turn, or empty for a notice of the host: no grant applies to what follows one.
func writer(t journal.Turn) string {
	if t.Meta.Source == uimessage.SourceTask {
		return ""
	}
	return t.Meta.UserID
}

// RevokeGrants revokes grants at the request of the host.
func (q *Requests) RevokeGrants(msg messages.RevokeGrants) {
	gone, reason := q.revoke(msg.By, msg.RequestID, msg.Numbers)
	q.Answer(messages.GrantsRevoked{ChatKey: q.Key, Numbers: gone, Reason: reason})
}

// revoke revokes grants by their numbers, or without numbers all that the person may revoke. The change is durable
// before anyone is informed, and a run in progress learns of it before its next call begins.
func (q *Requests) revoke(by messages.Asker, requestID string, numbers []int) (gone []int, reason string) {
	out := q.book().Revoke(q.Now(), numbers, func(g permission.Grant) bool {
		return q.mayDecide(by, grants.Giver(g, q.Addr.Platform))
	})
	if len(out.Revoked) > 0 {
		q.save(out.Book)
		for _, g := range out.Revoked {
			q.Audit(decision.AuditEntry{Event: "approval", RequestID: requestID, Result: "revoked", By: by.Platform + "-" + by.ID, Name: g.ID, Rule: g.Covers()})
		}
		if q.RunChild != "" {
			q.Tell(messages.GrantsChanged{RunID: q.RunID, Grants: q.LiveGrants()})
		}
	}
	return out.Numbers, out.Reason
}

// obeyRevoke revokes grants on a person's order. It returns false if the chat cannot answer the sender.
func (q *Requests) obeyRevoke(msg messages.AcceptIngress, turn journal.Turn, by messages.Asker, o ruling.Order) bool {
	if !q.CanSay(msg) {
		return false
	}
	var say string
	if o.Unclear {
		say = q.Text(notices.RevokeUsage(q.At()), turn) + q.grantsWords(turn)
	} else {
		gone, reason := q.revoke(by, msg.RequestID, o.Numbers)
		switch {
		case reason == grants.Unknown:
			say = q.Text(notices.NoGrant(q.At()), turn) + q.grantsWords(turn)
		case q.adminsUnknown() && reason != "":
			say = q.Text(notices.AdminsUnknown(), turn)
		case reason != "":
			say = q.Text(notices.MayNotRevoke(), turn)
		default:
			say = q.Text(notices.Revoked(grants.Names(gone)), turn)
		}
	}
	q.Settle(msg, turn, journal.FateAnswered, "approval", say)
	return true
}

// grantsWords lists the active grants below other words. It is empty if there are none.
func (q *Requests) grantsWords(turn journal.Turn) string {
	list := q.Text(q.book().Words(q.Now(), q.Addr.Platform, q.At()), turn)
	if list == "" {
		return ""
	}
	return "\n\n" + list
}

// tellGranted records in the audit log what a person allowed for a time.
func (q *Requests) tellGranted(requestID, person string, given []permission.Grant) {
	for _, g := range given {
		q.Audit(decision.AuditEntry{
			Event: "approval", RequestID: requestID, Result: "granted", By: person, Name: g.ID, Rule: g.Covers(),
			Reason: "until " + time.UnixMilli(g.Until).UTC().Format(time.RFC3339),
		})
	}
}
