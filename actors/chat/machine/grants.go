package machine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// book returns the chat's grants, which are read on first use. If they cannot be read, nothing is allowed without
// asking.
func (c *Chat) book() *grants.Book {
	if c.grants != nil {
		return c.grants
	}
	var list []permission.Grant
	if c.Grants != nil {
		var err error
		if list, err = c.Grants.Grants(context.Background(), c.key); err != nil {
			c.log(slog.LevelError, "the timed grants of the chat cannot be read; everything asks", "error", err)
			list = nil
		}
	}
	c.grants = grants.Open(list, c.clock())
	return c.grants
}

func (c *Chat) clock() grants.Clock {
	at := grants.Clock{Now: c.now()}
	if c.Uptime != nil {
		at.Boot, at.Up = c.Uptime()
	}
	return at
}

// save plans to save the grants. If they cannot be written, the message that changed them is refused.
func (c *Chat) save(book *grants.Book) {
	c.p.MayRefuse = true
	c.p.Grants = append(c.p.Grants, Granted{book.All()})
	c.grants = book
}

// give plans to save the grants that a person gave, and those without an end for the requests approved now that an
// operator's rule covers.
func (c *Chat) give(given []permission.Grant, made []journal.ApprovalDecided) {
	for _, d := range made {
		if d.Answer == journal.AnswerApproved && c.Grants != nil {
			asked := c.state.Requests(func(r journal.Request) bool { return r.ID == d.ApprovalID })
			given = slices.Concat(given, grants.Standing(c.now(), asked))
		}
	}
	if len(given) > 0 {
		c.save(c.book().Give(c.now(), given...))
	}
}

// terms are those of grants that a person gives now.
func (c *Chat) terms(id, person string) grants.Terms {
	return grants.Terms{ID: id, Person: person, At: c.clock(), Off: c.Grants == nil}
}

// live returns the grants that apply to the run's next step.
func (c *Chat) live() []messages.Grant {
	return c.book().Live(c.now(), c.addr.Platform, c.answered(), func(giver, asker string) bool {
		return c.mayDecide(messages.Asker{Platform: c.addr.Platform, ID: giver}, asker, false)
	})
}

// answered returns the ids of the people whose turns the run answers, and of those whose calls it executes after a
// late decision.
func (c *Chat) answered() map[string]bool {
	people := map[string]bool{}
	run := c.state.Run
	if run == nil {
		return people
	}
	for _, v := range run.Visible {
		if t, ok := c.state.Turn(v.TurnID); ok {
			people[t.Meta.UserID] = true
		}
	}
	if t, ok := c.state.Turn(run.MessageID); ok { // the run continues a message of an earlier run
		for _, f := range t.Meta.Fates {
			if of, ok := c.state.Turn(f.ID); ok {
				people[of.Meta.UserID] = true
			}
		}
	}
	for _, p := range run.Parts {
		if call, ok := p.(uimessage.Tool); ok && call.Approval != nil {
			people[c.requestOf(call).Asker] = true
		}
	}
	return people
}

// revokeGrants revokes grants at the request of the host.
func (c *Chat) revokeGrants(msg messages.RevokeGrants) {
	gone, reason := c.revoke(msg.By, false, msg.RequestID, msg.Numbers)
	c.answer(messages.GrantsRevoked{ChatKey: c.key, Numbers: gone, Reason: reason})
}

// revoke revokes grants by their numbers, or without numbers all that the person may revoke. The change is durable
// before anyone is informed, and a run in progress learns of it before its next call begins.
func (c *Chat) revoke(by messages.Asker, admin bool, requestID string, numbers []int) (gone []int, reason string) {
	out := c.book().Revoke(c.now(), numbers, func(g permission.Grant) bool {
		return c.mayDecide(by, grants.Giver(g, c.addr.Platform), admin)
	})
	if len(out.Taken) > 0 {
		c.save(out.Book)
		for _, g := range out.Taken {
			c.audit(AuditEntry{Event: "approval", RequestID: requestID, Result: "revoked", By: by.Platform + "-" + by.ID, Name: g.ID, Rule: g.Covers()})
		}
		if c.RunChild() != "" {
			c.tellRun(messages.GrantsChanged{RunID: c.run.id, Grants: c.live()})
		}
	}
	return out.Numbers, out.Reason
}

// obeyRevoke revokes grants on a person's order. It returns false if the chat cannot answer the sender.
func (c *Chat) obeyRevoke(msg messages.AcceptIngress, turn journal.Turn, by messages.Asker, o ruling.Order) bool {
	if !c.canSay(msg) {
		return false
	}
	var say string
	if o.Unclear {
		say = c.text(notices.RevokeUsage(), turn) + c.grantsWords(turn)
	} else {
		gone, reason := c.revoke(by, msg.Admin, msg.RequestID, o.Numbers)
		switch {
		case reason == grants.Unknown:
			say = c.text(notices.NoGrant(), turn) + c.grantsWords(turn)
		case c.adminsUnknown() && reason != "":
			say = c.text(notices.AdminsUnknown(), turn)
		case reason != "":
			say = c.text(notices.MayNotRevoke(), turn)
		default:
			say = c.text(notices.Revoked(grants.Names(gone)), turn)
		}
	}
	c.settleAtOnce(msg, turn, journal.FateAnswered, "approval", say)
	return true
}

// grantsWords lists the active grants below other words. It is empty if there are none.
func (c *Chat) grantsWords(turn journal.Turn) string {
	list := c.text(c.book().Words(c.now(), c.addr.Platform), turn)
	if list == "" {
		return ""
	}
	return "\n\n" + list
}

// tellGranted records in the audit log what a person allowed for a time.
func (c *Chat) tellGranted(requestID, person string, given []permission.Grant) {
	for _, g := range given {
		c.audit(AuditEntry{
			Event: "approval", RequestID: requestID, Result: "granted", By: person, Name: g.ID, Rule: g.Covers(),
			Reason: "until " + time.UnixMilli(g.Until).UTC().Format(time.RFC3339),
		})
	}
}
