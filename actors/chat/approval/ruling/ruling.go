// Package ruling interprets what a person writes about open requests: which of them the words decide, and how. It is
// pure, so the same words can be interpreted again once it is known what the bot said before them. Words that could
// mean something else decide nothing. Whether a decision is still valid when it is made is up to the caller.
package ruling

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/bind"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/reply"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// Sense is how to handle a message that may refer to requests.
type Sense int

// The possible senses.
const (
	None      Sense = iota // it does not refer to requests
	Unbound                // it would decide something, but not the requests it refers to: see package bind
	Unknown                // its sender may be an administrator, which cannot be found out now
	Forbid                 // its sender may not decide
	List                   // it asks for the open requests
	Revoke                 // it revokes grants
	Decide                 // it decides those requests
	Grant                  // it grants rules or folders for a time and decides those requests
	NotClear               // a command that names requests that are not open
	Undecided              // it reads like a decision and decides nothing, so it is an ordinary message whose sender is told that
)

// Verdict is the interpretation of a message about requests.
type Verdict struct {
	Sense
	Approves bool
	ToBot    bool // the words themselves address the bot
	Stray    bool // it replies to something that is not known to be the bot's
	Those    []journal.Asked
	Said     reply.Reply
	Reason   string
	Order    Order
}

// Grants returns the grants that a person gives with a decision, and what they read about that. Commands in it are followed by at.
func (v Verdict) Grants(t grants.Terms, at string) ([]permission.Grant, notices.Text) {
	switch {
	case v.Sense != Grant:
		return nil, notices.Text{}
	case v.Order.Folder:
		return t.Folders(v.Those), grants.FoldersAllowed(grants.FoldersOf(v.Those), at)
	}
	given, _ := t.Rules(v.Said.Targets, v.Said.Minutes, v.Those)
	return given, grants.RulesAllowed(v.Said.Minutes, v.Said.Targets)
}

// Message is what is known of a message that may refer to requests.
type Message struct {
	Text string
	Self string // the bot's name
	// Words is set if words decide in this chat, and not only commands.
	Words bool
	ToBot bool
	// Open are the open requests, Theirs those that the sender may decide about.
	Open, Theirs []journal.Asked
	// Own are the open requests that the sender's own messages led to. Whoever may decide about none can still take
	// these back with a command. It is used only if there are no requests in Theirs.
	Own []journal.Asked
	// Unknown reports whether the sender might turn out to be an administrator. It may be nil.
	Unknown func() bool
	// About is what the message refers to. It is used only if there are requests in Theirs, and so are Terms, the terms
	// of grants that the sender gives.
	About bind.Bound
	Terms grants.Terms
}

// Of interprets a message.
func Of(m Message) Verdict {
	if o, ok := ParseOrder(m.Text, m.Self); ok {
		return m.order(o)
	}
	switch {
	case !m.Words:
	case len(m.Theirs) > 0:
		return m.words()
	case m.Unknown != nil && m.Unknown():
		if meant, ambiguous := m.meaning(m.Open); meant.Kind != reply.Unclear || ambiguous {
			return Verdict{Sense: Unknown}
		}
	}
	return Verdict{}
}

// order interprets a command. Commands never go to the model.
func (m Message) order(o Order) Verdict {
	switch {
	case o.Revokes:
		return Verdict{Sense: Revoke, Order: o}
	case o.Lists:
		return Verdict{Sense: List}
	case len(m.Open) == 0:
		return Verdict{Sense: NotClear}
	case len(m.Theirs) == 0:
		return m.withdraws(o)
	}
	theirs := m.Theirs
	if single := m.single(); single != nil && !o.All && len(o.Numbers) == 0 {
		theirs = single
	}
	o = o.withReason(theirs)
	those, isClear := o.pick(theirs)
	if !isClear || o.Folder && len(m.Terms.Folders(those)) == 0 {
		return Verdict{Sense: NotClear}
	}
	said := bind.Said{Approves: o.Approves, ToBot: true, All: len(o.Numbers) == 0, Bare: !o.All && len(o.Numbers) == 0, Names: approval.IDsOf(those)}
	v := Verdict{Sense: Decide, Approves: o.Approves, Reason: o.Reason}
	if o.Folder {
		v.Sense, v.Order = Grant, o
	}
	v = m.decides(v, theirs, said)
	v.ToBot = true // a command always addresses the bot
	return v
}

// withdraws interprets a command of a person who may decide about no request. A denial of their own ones counts: it does
// less than they asked for. It must name them, or be about the only one.
func (m Message) withdraws(o Order) Verdict {
	o = o.withReason(m.Own)
	those, isClear := o.pick(m.Own)
	if o.Approves || !isClear || len(those) == 0 {
		return Verdict{Sense: Forbid}
	}
	return Verdict{Sense: Decide, Reason: o.Reason, Those: those, ToBot: true}
}

// words interprets words of a person who may decide about some requests.
func (m Message) words() Verdict {
	open := m.Theirs
	meant, ambiguous := m.meaning(open)
	if single := m.single(); meant.Kind == reply.Unclear && single != nil {
		open = single
		meant, ambiguous = m.meaning(open)
	}
	if ambiguous {
		return Verdict{Sense: Unbound}
	}
	v := Verdict{Sense: Decide, Approves: meant.Kind != reply.DenyAll, Said: meant.Reply}
	said := bind.Said{Approves: v.Approves, Bare: meant.Bare, Only: meant.Only, ToBot: m.ToBot, All: meant.Kind == reply.ApproveAll || meant.Kind == reply.DenyAll}
	switch meant.Kind {
	case reply.Unclear:
		return m.unclear()
	case reply.ApproveSome:
		for _, i := range meant.Places {
			said.Names = append(said.Names, open[i].Request.ID)
		}
	case reply.GrantTimed:
		given, covered := m.Terms.Rules(meant.Targets, meant.Minutes, open)
		if len(given) == 0 {
			return Verdict{}
		}
		v.Sense, v.Approves, said.Names = Grant, true, approval.IDsOf(covered)
	case reply.DenyAll:
		v.Reason = m.Text
	case reply.ApproveAll:
	}
	return m.decides(v, open, said)
}

// unclear interprets words that decide nothing. Their sender may have meant a decision if they begin like one and follow
// a request, or if they are nothing but a yes or a no and the sender was shown a request at any time.
func (m Message) unclear() Verdict {
	leans, whole := reply.Leans(m.Text)
	seen := slices.ContainsFunc(m.Theirs, func(a journal.Asked) bool { return slices.Contains(m.About.Seen, a.Request.ID) })
	if !m.About.Stray && seen && (whole || leans && len(m.About.List) > 0) {
		return Verdict{Sense: Undecided}
	}
	return Verdict{}
}

// decides returns which requests the words decide, given what they refer to.
func (m Message) decides(v Verdict, open []journal.Asked, said bind.Said) Verdict {
	ids := bind.Decide(m.About, approval.IDsOf(open), said)
	if len(ids) == 0 {
		return Verdict{Sense: Unbound, Stray: m.About.Stray}
	}
	for _, a := range open {
		if slices.Contains(ids, a.Request.ID) {
			v.Those = append(v.Those, a)
		}
	}
	return v
}

// single returns the one request that a message refers to if it replies to a row that showed only that request while
// others are open. Otherwise it returns nil.
func (m Message) single() []journal.Asked {
	if !m.About.Answers || len(m.About.List) != 1 || len(m.Theirs) < 2 {
		return nil
	}
	i := slices.IndexFunc(m.Theirs, func(a journal.Asked) bool { return a.Request.ID == m.About.List[0] })
	if i < 0 {
		return nil
	}
	return m.Theirs[i : i+1]
}

// meaning interprets words about the requests that a person may decide. A number in them is the number of a request,
// which may have ended. An ordinal may also be a position in a list of several; such words depend on the list that people
// saw, and so they count as bare. Words are ambiguous if their two meanings differ.
func (m Message) meaning(open []journal.Asked) (meant reply.Meaning, ambiguous bool) {
	var shown []reply.Shown
	for i, name := range approval.NamesOf(open) {
		shown = append(shown, reply.Shown{N: open[i].Request.N, Command: name})
	}
	byNumber, byPlace := reply.ParseNumbered(m.Text, shown, m.Self)
	if byNumber.Kind == reply.Unclear && len(open) > 1 && !byPlace.Digits {
		byPlace.Bare = true
		return byPlace, false
	}
	return byNumber, byPlace.Kind != reply.Unclear && (byNumber.Kind != byPlace.Kind || !slices.Equal(byNumber.Places, byPlace.Places))
}
