// Package referral shows requests for approval in other chats: if the person who caused a request may not decide it,
// it is shown in the private chats of those who may. It is pure. [Asking] is the side of the chat that asks,
// [Decision] that of the private chat.
//
// These invariants hold at any time, even after a crash:
//
//   - Only the chat that asks decides its requests, and the first decision counts. A private chat only passes on what
//     its person said, with the digest of what it showed.
//   - A person's decision is accepted if the request was referred to this private chat and the person may decide when
//     the decision arrives.
//   - A referral is kept, and sent again, until the private chat confirms that it knows how the request ended.
package referral

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// again is how long to wait for an answer before asking again. The wait doubles each time, up to atMost.
	again  = 5 * time.Second
	atMost = 2 * time.Minute
)

// TaskFacts describes a task and the chat where it was created.
type TaskFacts struct {
	Title     string
	ChatKey   messages.ChatKey
	ChatTitle string // title of a group; empty if unknown
	Person    string // name of the person of a private chat; empty if unknown
	Group     bool
}

// ChatFacts is what is known of the chat that asks.
type ChatFacts struct {
	Key     messages.ChatKey
	Title   string
	Group   bool
	Chinese bool // its people are asked in Chinese
	Grants  bool // its people may allow something for a time
	// PrivateType is the platform's type of a private chat; empty means private.
	PrivateType string
	// Task describes the task that runs in the chat; nil if it is unknown or the chat is not a task's.
	Task *TaskFacts
}

// Asking is what the chat that asks knows besides its facts. A crash may lose it. Copies share nothing that changes.
type Asking struct {
	Retries
	// quiet are requests that a private chat shows in a list instead of a message of their own.
	quiet     map[string]bool
	gatherers []gatherer
}

// gatherer waits until a private chat shows all requests that its person may decide.
type gatherer struct {
	who any
	to  messages.ChatKey
}

// Pending returns what has to be sent to other chats now, and notes in wanted what waits for their confirmation. The
// place is asked for only if a request has to be shown.
func (a *Asking) Pending(s *journal.State, now time.Time, key messages.ChatKey, place func() ChatFacts, wanted map[string]bool) []any {
	if len(s.Referrals) == 0 {
		return nil
	}
	var out []any
	open := s.OpenRequests()
	for _, r := range s.Referrals {
		i := slices.IndexFunc(open, func(o journal.Asked) bool { return o.Request.ID == r.ApprovalID })
		what := "end " + r.ApprovalID + " " + string(r.To)
		if i >= 0 {
			what = "show " + r.ApprovalID + " " + string(r.To)
		}
		if i >= 0 && r.Confirmed {
			continue
		}
		wanted[what] = true
		switch {
		case !a.Due(what, now):
		case i >= 0:
			out = append(out, messages.ShowRequest{ChatKey: r.To, Request: place().request(s, open[i], r), Quiet: a.quiet[quietKey(r)]})
		default:
			out = append(out, endOf(s, key, r))
		}
	}
	return out
}

func quietKey(r journal.Referral) string { return r.ApprovalID + " " + string(r.To) }

// endOf returns the message that tells a private chat how a request ended.
func endOf(s *journal.State, key messages.ChatKey, r journal.Referral) messages.EndRequest {
	answer, by, name := s.HowEnded(r.ApprovalID)
	via := ""
	for _, a := range s.Requests(func(q journal.Request) bool { return q.ID == r.ApprovalID }) {
		via = a.Request.Via
	}
	if s.Run != nil {
		for _, a := range s.Run.Answers {
			if a.ApprovalID == r.ApprovalID {
				via = a.Via
			}
		}
	}
	via, ok := strings.CutPrefix(via, string(r.To)+"/")
	if !ok {
		via = ""
	}
	return messages.EndRequest{ChatKey: r.To, From: key, ApprovalID: r.ApprovalID, Answer: string(answer), By: by, ByName: name, Via: via}
}

// request returns a request in the form in which a private chat shows it. The chat of a task is not named if it is the
// person's own.
func (p ChatFacts) request(s *journal.State, a journal.Asked, r journal.Referral) messages.ReferredRequest {
	call, _ := a.Turn.CallOf(a.Request)
	out := messages.ReferredRequest{
		From: p.Key, ApprovalID: a.Request.ID, CallID: a.Request.CallID, Digest: a.Request.Digest, Asked: a.Request.Asked, Expires: a.Request.Expires,
		Tool: call.Name, Title: call.Title.Or(""), Input: call.Input, Words: a.Request.Words, Chinese: a.Request.Chinese, Exact: a.Request.Exact,
		Command: a.Request.Command, Folder: a.Request.Folder, Bind: a.Request.Bind, Person: r.Person, ChatType: cmp.Or(p.PrivateType, messages.ChatPrivate),
		Asker: a.Request.Asker, AskerName: NameOf(s, a.Request.Asker), ChatTitle: p.Title, Group: p.Group, InChinese: p.Chinese,
	}
	if p.Grants && out.Asker != "" {
		out.FilesIn = a.Request.FilesIn
	}
	addr, _ := p.Key.Address()
	if out.Task = addr.Platform == "task"; out.Task {
		out.TaskTitle, out.Asker, out.FilesIn = addr.Chat, "", ""
	}
	if t := p.Task; t != nil {
		out.TaskTitle, out.ChatTitle, out.AskerName, out.Group = t.Title, t.ChatTitle, t.Person, t.Group
		if t.ChatKey == r.To {
			out.ChatTitle, out.AskerName, out.Group = "", "", false
		}
	}
	return out
}

// NameOf returns the name of a person who wrote in a chat, or empty if it is unknown.
func NameOf(s *journal.State, person string) string {
	for _, t := range slices.Backward(s.History) {
		if person != "" && t.Meta.UserID == person && t.Meta.Username != "" {
			return t.Meta.Username
		}
	}
	return ""
}

// Refer returns the fact that refers requests to the private chats of those who may decide them, or nil if there is no
// one to ask.
func Refer(list []journal.Asked, deciders func(asker string) []approval.Decider) []journal.Fact {
	var f journal.RequestReferred
	for _, a := range list {
		if a.Request.Answer == journal.AnswerOpen {
			for _, d := range deciders(a.Request.Asker) {
				f.Referrals = append(f.Referrals, journal.Referral{ApprovalID: a.Request.ID, To: d.ChatKey, Person: d.Person})
			}
		}
	}
	if len(f.Referrals) == 0 {
		return nil
	}
	return []journal.Fact{f}
}

// Gather refers the open requests to the private chat of a person who wants to see all of them, and remembers who
// waits for that. It returns nil if there is nothing to refer.
func (a *Asking) Gather(s *journal.State, msg messages.ReferRequests, who any, may func(asker string) bool) []journal.Fact {
	var f journal.RequestReferred
	quiet := maps.Clone(a.quiet)
	for _, o := range s.OpenRequests() {
		r := journal.Referral{ApprovalID: o.Request.ID, To: msg.To, Person: msg.Person}
		if may(o.Request.Asker) && !Referred(s, r) {
			f.Referrals = append(f.Referrals, r)
			if quiet == nil {
				quiet = map[string]bool{}
			}
			quiet[quietKey(r)] = true
		}
	}
	a.quiet = quiet
	if who != nil {
		a.gatherers = append(slices.Clone(a.gatherers), gatherer{who, msg.To})
	}
	if len(f.Referrals) == 0 {
		return nil
	}
	return []journal.Fact{f}
}

// Gathered calls answer for those who wait, and whose chats have confirmed all requests that were referred to them. The
// others are the requests that the person cannot decide.
func (a *Asking) Gathered(s *journal.State, answer func(who any, others int)) {
	var left []gatherer
	for _, g := range a.gatherers {
		others, waits := 0, false
		for _, o := range s.OpenRequests() {
			i := slices.IndexFunc(s.Referrals, func(r journal.Referral) bool { return r.ApprovalID == o.Request.ID && r.To == g.to })
			if i < 0 {
				others++
			}
			waits = waits || i >= 0 && !s.Referrals[i].Confirmed
		}
		if waits {
			left = append(left, g)
		} else {
			answer(g.who, others)
		}
	}
	a.gatherers = left
}

// Referred reports whether a request was referred to a person in their private chat.
func Referred(s *journal.State, r journal.Referral) bool {
	return slices.ContainsFunc(s.Referrals, func(known journal.Referral) bool {
		return known.ApprovalID == r.ApprovalID && known.To == r.To && known.Person == r.Person
	})
}

// Settled returns the fact that a private chat has confirmed a request or its end, or false if that changes nothing.
func Settled(s *journal.State, approvalID string, to messages.ChatKey, ended bool) (journal.ReferralSettled, bool) {
	i := slices.IndexFunc(s.Referrals, func(r journal.Referral) bool { return r.ApprovalID == approvalID && r.To == to })
	return journal.ReferralSettled{ApprovalID: approvalID, To: to, Ended: ended}, i >= 0 && (ended || !s.Referrals[i].Confirmed)
}

// Retries says when what has not been confirmed is sent again. It is not journaled: what has to be sent follows from
// the facts. Copies share nothing that changes.
type Retries struct {
	tries map[string]try
	armed time.Time // time for which the timer is set; zero if it is not
}

type try struct {
	at   time.Time // earliest time of the next try
	wait time.Duration
}

// Empty reports whether nothing is scheduled.
func (r *Retries) Empty() bool { return len(r.tries) == 0 }

// Due reports whether something should be sent now. If so, it schedules the next try.
func (r *Retries) Due(what string, now time.Time) bool {
	t, known := r.tries[what]
	if known && now.Before(t.at) {
		return false
	}
	t.wait = min(max(2*t.wait, again), atMost)
	t.at = now.Add(t.wait)
	r.set(what, t)
	return true
}

// After schedules the first try of something.
func (r *Retries) After(what string, at time.Time) {
	if _, known := r.tries[what]; !known {
		r.set(what, try{at: at})
	}
}

func (r *Retries) set(what string, t try) {
	next := make(map[string]try, len(r.tries)+1)
	maps.Copy(next, r.tries)
	next[what] = t
	r.tries = next
}

// Keep forgets the retries of everything that is not wanted any more.
func (r *Retries) Keep(wanted map[string]bool) {
	next := maps.Clone(r.tries)
	maps.DeleteFunc(next, func(what string, _ try) bool { return !wanted[what] })
	r.tries = next
}

// Timer returns the time of the earliest try, or zero if nothing is scheduled, and whether that has changed since the
// last call.
func (r *Retries) Timer() (first time.Time, changed bool) {
	for _, t := range r.tries {
		if first.IsZero() || t.at.Before(first) {
			first = t.at
		}
	}
	changed = !first.Equal(r.armed)
	r.armed = first
	return first, changed
}
