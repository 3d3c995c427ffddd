// Package grants keeps what people have allowed in one chat: commands that a rule covers, or the files of a folder, for
// a time, or without an end under an operator's rule. It is pure. It promises that a grant ends in time whatever the
// clock of the computer says, that an id is used once, and that a revoked grant never applies again. Who may give,
// use and revoke grants is up to the caller, and so is writing them down.
package grants

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

const (
	// maxTime is how long a grant lasts at most.
	maxTime = time.Hour
	// maxWithoutEnd is how many grants without an end a chat keeps. Above it the oldest is dropped, and its commands ask
	// again.
	maxWithoutEnd = 200
)

// Reasons why grants are not revoked, for programs.
const (
	Unknown   = "not_found"
	Forbidden = "forbidden"
)

// Clock is the time now. Boot and Up identify the running system and a clock of its own that cannot be set; Boot is
// empty if there is no such clock.
type Clock struct {
	Now  time.Time
	Boot string
	Up   time.Duration
}

// Book holds the grants of one chat. It does not change: giving and revoking return another book.
type Book struct {
	list []permission.Grant
	ends map[string]time.Time // by id, on the clock of this process
}

// Open returns the book of the grants that an earlier activation saved.
func Open(list []permission.Grant, at Clock) *Book {
	permission.Number(list)
	b := &Book{list, make(map[string]time.Time, len(list))}
	for _, g := range list {
		b.ends[g.ID] = endOf(g, at)
	}
	return b
}

// endOf returns when a grant of an earlier activation ends: by the wall clock and, while the same boot lasts, also by
// the uptime, which cannot be set. If the wall clock is now before the grant's start, the grant ends at once.
func endOf(g permission.Grant, at Clock) time.Time {
	length := min(time.Duration(g.Until-g.From)*time.Millisecond, maxTime)
	left := min(time.UnixMilli(g.Until).Sub(at.Now), length)
	if at.Now.UnixMilli() < g.From {
		return at.Now
	}
	if at.Boot != "" && at.Boot == g.Boot {
		left = min(left, length-(at.Up-time.Duration(g.Up)*time.Millisecond))
	}
	return at.Now.Add(left)
}

// All returns all grants of the book, which are to be saved.
func (b *Book) All() []permission.Grant { return b.list }

// Active returns the grants that are neither revoked nor ended.
func (b *Book) Active(now time.Time) []permission.Grant {
	return slices.DeleteFunc(slices.Clone(b.list), func(g permission.Grant) bool { return g.Revoked != 0 || b.ended(g, now) })
}

func (b *Book) ended(g permission.Grant, now time.Time) bool {
	return g.Until != 0 && !now.Before(b.ends[g.ID])
}

// Live returns the grants that apply to the next step of a run. A person's grant applies only while every turn that
// the run answers is from the one person it is for; otherwise someone else's words could use it. It does not apply
// either once its giver may no longer decide about requests of that person.
func (b *Book) Live(now time.Time, platform string, people map[string]bool, may func(giver, asker string) bool) []messages.Grant {
	var out []messages.Grant
	for _, g := range b.Active(now) {
		if g.Until == 0 {
			out = append(out, messages.Grant{ID: g.ID, Rule: g.Rule, Binds: g.Binds})
			continue
		}
		giver := Giver(g, platform)
		serves := messages.Asker{Platform: platform, ID: cmp.Or(g.For, giver)}
		if len(people) == 1 && people[serves.ID] && may(giver, serves.ID) {
			out = append(out, messages.Grant{ID: g.ID, Person: serves, Folder: g.Folder, Rule: g.Rule, FilesIn: g.FilesIn, Binds: g.Binds, Until: b.ends[g.ID]})
		}
	}
	return out
}

// Giver returns the platform's id of the person who gave a grant.
func Giver(g permission.Grant, platform string) string {
	return strings.TrimPrefix(g.Person, platform+"-")
}

// Give returns the book with further grants. A grant with a known id is left unchanged; the id of one that has ended is
// known for as long again as a grant may last.
func (b *Book) Give(now time.Time, list ...permission.Grant) *Book {
	keep := slices.DeleteFunc(slices.Clone(b.list), func(g permission.Grant) bool { return b.ended(g, now) })
	ends := maps.Clone(b.ends)
	maps.DeleteFunc(ends, func(_ string, end time.Time) bool { return now.Sub(end) > maxTime })
	for _, g := range list {
		if !slices.ContainsFunc(keep, func(old permission.Grant) bool { return old.ID == g.ID }) {
			keep = append(keep, g)
		}
		if _, known := ends[g.ID]; !known {
			ends[g.ID] = now.Add(time.Duration(g.Until-g.From) * time.Millisecond)
		}
	}
	surplus := -maxWithoutEnd
	for _, g := range keep {
		if g.Until == 0 {
			surplus++
		}
	}
	keep = slices.DeleteFunc(keep, func(g permission.Grant) bool {
		if g.Until != 0 || surplus <= 0 {
			return false
		}
		surplus--
		return true
	})
	permission.Number(keep)
	return &Book{keep, ends}
}

// Revocation is the outcome of an order to revoke grants.
type Revocation struct {
	Book    *Book
	Revoked []permission.Grant // that were active
	Numbers []int              // of the grants that are revoked now, also of those that were before
	Reason  string             // why none were revoked
}

// Revoke revokes grants by their numbers, or without numbers all that the person may revoke. If one of the numbers is
// unknown or forbidden, nothing is revoked.
func (b *Book) Revoke(now time.Time, numbers []int, may func(permission.Grant) bool) Revocation {
	out := Revocation{Book: &Book{slices.Clone(b.list), b.ends}}
	for _, n := range numbers {
		if !slices.ContainsFunc(b.list, func(g permission.Grant) bool { return g.N == n }) {
			return Revocation{Reason: Unknown}
		}
	}
	forbidden := false
	for i, g := range b.list {
		active := g.Revoked == 0 && !b.ended(g, now)
		if len(numbers) > 0 && !slices.Contains(numbers, g.N) || len(numbers) == 0 && !active {
			continue
		}
		if !may(g) {
			forbidden = true
			continue
		}
		if active {
			out.Book.list[i].Revoked = now.UnixMilli()
			out.Revoked = append(out.Revoked, g)
		}
		out.Numbers = append(out.Numbers, g.N)
	}
	switch {
	case forbidden && (len(numbers) > 0 || len(out.Numbers) == 0):
		return Revocation{Reason: Forbidden}
	case len(out.Numbers) == 0:
		return Revocation{Reason: Unknown}
	}
	return out
}

// Terms are who gives grants, for whom if not for themselves, when, and how their ids begin.
type Terms struct {
	ID, Person, For string
	At              Clock
	Off             bool // people cannot give any here
}

// grant returns a grant that lasts for a time.
func (t Terms) grant(id string, length time.Duration) permission.Grant {
	return permission.Grant{
		ID: t.ID + "." + id, Person: t.Person, For: t.For,
		From: t.At.Now.UnixMilli(), Until: t.At.Now.Add(length).UnixMilli(), Boot: t.At.Boot, Up: t.At.Up.Milliseconds(),
	}
}

// Rules makes grants for rules that cover open commands, and returns those requests. Both are nil if any of the rules
// covers no open command, or covers one only without the file it must be bound to.
func (t Terms) Rules(rules []string, minutes int, open []journal.Asked) (given []permission.Grant, covered []journal.Asked) {
	policy := grant.Shipped()
	if t.Off || minutes < 1 || minutes > int(maxTime/time.Minute) {
		return nil, nil
	}
	for n, rule := range rules {
		parsed, ok := grant.ParseRule(rule, policy)
		folders := map[string]int{}
		for _, a := range open {
			if !ok || a.Request.Command == "" || grant.Decide(a.Request.Command, rule, policy) != grant.Auto || parsed.Runner && a.Request.Bind == "" {
				continue
			}
			if !slices.ContainsFunc(covered, func(o journal.Asked) bool { return o.Request.ID == a.Request.ID }) {
				covered = append(covered, a)
			}
			i, known := folders[a.Request.Folder]
			if !known {
				i = len(given)
				folders[a.Request.Folder] = i
				g := t.grant(a.Request.ID+nth(n), time.Duration(minutes)*time.Minute)
				g.Folder, g.Rule = a.Request.Folder, rule
				given = append(given, g)
			}
			if parsed.Runner {
				given[i].Binds = append(given[i].Binds, a.Request.Bind)
			}
		}
		if len(folders) == 0 {
			return nil, nil
		}
	}
	return given, covered
}

// nth is an id suffix that distinguishes the grants of several rules in one reply.
func nth(n int) string {
	if n == 0 {
		return ""
	}
	return "." + strconv.Itoa(n+1)
}

// Folders makes grants for the folders whose files the requests would send. It returns nil if one of the requests does
// not send a file from a folder.
func (t Terms) Folders(open []journal.Asked) []permission.Grant {
	var given []permission.Grant
	for _, a := range open {
		folder := a.Request.FilesIn
		if folder == "" || t.Off {
			return nil
		}
		if slices.ContainsFunc(given, func(g permission.Grant) bool { return g.FilesIn == folder }) {
			continue
		}
		g := t.grant(a.Request.ID, maxTime)
		g.FilesIn = folder
		given = append(given, g)
	}
	return given
}

// FoldersOf returns the folders whose files the requests would send.
func FoldersOf(list []journal.Asked) []string {
	var folders []string
	for _, a := range list {
		if !slices.Contains(folders, a.Request.FilesIn) {
			folders = append(folders, a.Request.FilesIn)
		}
	}
	return folders
}

// WithoutEnd returns the grants without an end for approved requests that an operator's rule covers.
func WithoutEnd(now time.Time, list []journal.Asked) []permission.Grant {
	var out []permission.Grant
	for _, a := range list {
		if r := a.Request; r.Rule != "" && r.Bind != "" {
			out = append(out, permission.Grant{ID: r.ID, Rule: r.Rule, Binds: []string{r.Bind}, From: now.UnixMilli()})
		}
	}
	return out
}
