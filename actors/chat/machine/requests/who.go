package requests

import (
	"slices"
	"sort"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// mayDecide reports whether a person may decide about requests that came from asker's turn.
func (q *Requests) mayDecide(by messages.Asker, asker string) bool {
	if q.MayDecide == nil {
		return false
	}
	claim := q.claim(asker)
	claim.Person = by.ID
	if platform, _, _ := strings.Cut(by.Platform, "@"); platform != q.Addr.Platform && !decision.IsOwn(platform) {
		return false // someone with the same id on another platform
	}
	if decision.IsOwn(by.Platform) {
		claim.Platform = by.Platform // whoever holds the host's keys may decide everywhere
	}
	return q.MayDecide(claim)
}

// theirs returns the open requests that a person may decide about.
func (q *Requests) theirs(by messages.Asker) []journal.Asked {
	return slices.DeleteFunc(q.openHere(), func(a journal.Asked) bool {
		if a.Origin != "" {
			return !q.mayAbout(by, a.Request.ID)
		}
		return !q.mayDecide(by, a.Request.Asker)
	})
}

// causedBy returns the open requests of this chat that came from a person's own turns.
func (q *Requests) causedBy(by messages.Asker) []journal.Asked {
	if platform, _, _ := strings.Cut(by.Platform, "@"); by.ID == "" || platform != q.Addr.Platform {
		return nil
	}
	return slices.DeleteFunc(q.State.OpenRequests(), func(a journal.Asked) bool { return a.Request.Asker != by.ID })
}

// askerOf returns whose turn led to a request.
func (q *Requests) askerOf(approvalID string) string {
	for _, a := range q.State.Requests(func(r journal.Request) bool { return r.ID == approvalID }) {
		return a.Request.Asker
	}
	return q.Asker().ID // of the run in progress, if it asked
}

// adminsUnknown reports whether we could not find out who the administrators of the group, or of a task's group, are,
// so that someone refused here might be allowed as one.
func (q *Requests) adminsUnknown() bool {
	return (q.Group() || q.Addr.Platform == "task") && q.AdminsUnknown != nil && q.AdminsUnknown(q.Key)
}

// OverOpenRequests reports whether somebody who puts the conversation away would remove requests that they may not
// decide about.
func (q *Requests) OverOpenRequests(by messages.Asker) bool {
	theirs := slices.DeleteFunc(q.theirs(by), func(a journal.Asked) bool { return a.Origin != "" })
	return len(theirs) < len(q.State.OpenRequests())
}

// openHere returns the requests that are open in this chat, its own and those of other chats, sorted by number.
func (q *Requests) openHere() []journal.Asked {
	own, referred := q.State.OpenRequests(), q.State.OpenReferred()
	if len(referred) == 0 {
		return own
	}
	all := slices.Concat(own, referred)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Request.N < all[j].Request.N })
	return all
}

// mayAbout reports whether a person may decide about a request that is open here. A request of another chat is for one
// person, identified by id only.
func (q *Requests) mayAbout(by messages.Asker, approvalID string) bool {
	g, ok := q.State.ReferredRequest(approvalID)
	if !ok {
		return q.mayDecide(by, q.askerOf(approvalID))
	}
	platform, _, _ := strings.Cut(by.Platform, "@")
	return by.ID != "" && by.ID == g.Person && platform == q.Addr.Platform
}

// deciders returns those who may decide about requests from someone's turn and can be asked in private.
func (q *Requests) deciders(asker string) []approval.Decider {
	if q.Deciders == nil || !q.Refers {
		return nil
	}
	return slices.DeleteFunc(q.Deciders(q.claim(asker)), func(d approval.Decider) bool { return d.ChatKey == q.Key || d.ChatKey == "" || d.Person == "" })
}

// claim returns the data about this chat from which it is derived who may decide.
func (q *Requests) claim(asker string) approval.Claim {
	return approval.Claim{ChatKey: q.Key, Platform: q.Platform, Group: q.Group(), Asker: asker}
}

// asksOthers reports whether the person who caused a request may not decide it, so that others are asked.
func (q *Requests) asksOthers(asker string) bool {
	if q.Addr.Platform == "task" {
		return true
	}
	return q.Deciders != nil && q.Via.Outbox && !q.mayDecide(messages.Asker{Platform: q.Addr.Platform, ID: asker}, asker)
}

// mayFrom reports whether a person may currently decide from their private chat.
func (q *Requests) mayFrom(to messages.ChatKey, person, asker string) bool {
	return slices.ContainsFunc(q.deciders(asker), func(d approval.Decider) bool { return d.ChatKey == to && d.Person == person && person != "" })
}

// asked returns those who are asked in private about requests from someone's turn. It returns false if the person
// themselves may decide.
func (q *Requests) asked(asker string) (list []approval.Decider, others bool) {
	if !q.asksOthers(asker) {
		return nil, false
	}
	return q.deciders(asker), true
}
