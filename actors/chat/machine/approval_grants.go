package machine

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

const (
	// maxGrant is how long a grant lasts at most.
	maxGrant = time.Hour
	// maxStanding is how many grants without an end a chat keeps. Above it the oldest is dropped, and its commands ask
	// again.
	maxStanding = 200
)

// grants are what people have allowed in the chat, for a time or under an operator's rule. They are loaded on first
// use.
type grants struct {
	read bool
	list []permission.Grant
	ends map[string]time.Time // by id, on the clock of this process
}

// readGrants loads the grants that an earlier activation saved. If they cannot be read, nothing is allowed without
// asking.
func (c *Chat) readGrants() {
	if c.grants.read || c.Grants == nil {
		return
	}
	list, err := c.Grants.Grants(context.Background(), c.key)
	if err != nil {
		c.log(slog.LevelError, "the timed grants of the chat cannot be read; everything asks", "error", err)
		list = nil
	}
	permission.Number(list)
	c.grants = grants{read: true, list: list}
	for _, g := range list {
		put(&c.grants.ends, g.ID, c.ends(g, c.now()))
	}
}

// ends returns when a grant of an earlier activation ends: by the wall clock and, while the same boot lasts, also by
// the uptime, which cannot be set. If the wall clock is now before the grant's start, the grant ends at once.
func (c *Chat) ends(g permission.Grant, now time.Time) time.Time {
	length := min(time.Duration(g.Until-g.From)*time.Millisecond, maxGrant)
	left := min(time.UnixMilli(g.Until).Sub(now), length)
	if now.UnixMilli() < g.From {
		return now
	}
	if boot, up := c.uptime(); boot != "" && boot == g.Boot {
		left = min(left, length-(up-time.Duration(g.Up)*time.Millisecond))
	}
	return now.Add(left)
}

func (c *Chat) uptime() (boot string, up time.Duration) {
	if c.Uptime == nil {
		return "", 0
	}
	return c.Uptime()
}

// live returns the grants that apply to the run's next step. A person's grant applies only while every turn that the
// run answers is from the one person it is for; otherwise someone else's words could use it. Grants from people who
// may no longer decide do not apply.
func (c *Chat) live() []messages.Grant {
	var out []messages.Grant
	a, _ := c.key.Address()
	people := c.answered()
	for _, g := range c.counting() {
		if g.Until == 0 {
			out = append(out, messages.Grant{ID: g.ID, Rule: g.Rule, Binds: g.Binds})
			continue
		}
		person := messages.Asker{Platform: a.Platform, ID: strings.TrimPrefix(g.Person, a.Platform+"-")}
		serves := messages.Asker{Platform: a.Platform, ID: cmp.Or(g.For, person.ID)}
		if len(people) != 1 || !people[serves.ID] {
			continue
		}
		if until := c.grants.ends[g.ID]; c.mayDecide(person, serves.ID, false) {
			out = append(out, messages.Grant{ID: g.ID, Person: serves, Folder: g.Folder, Rule: g.Rule, FilesIn: g.FilesIn, Binds: g.Binds, Until: until})
		}
	}
	return out
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

// give plans to save grants. A grant with a known id is left unchanged. If the grants cannot be written, the message
// that gave them is refused.
func (c *Chat) give(list ...permission.Grant) {
	if len(list) == 0 {
		return
	}
	c.readGrants()
	now := c.now()
	keep := slices.DeleteFunc(slices.Clone(c.grants.list), func(g permission.Grant) bool { return g.Until != 0 && !now.Before(c.grants.ends[g.ID]) })
	for _, g := range list {
		if !slices.ContainsFunc(keep, func(old permission.Grant) bool { return old.ID == g.ID }) {
			keep = append(keep, g)
		}
	}
	standing := 0
	for _, g := range slices.Backward(keep) {
		if standing += bit(g.Until == 0); g.Until == 0 && standing > maxStanding {
			keep = slices.DeleteFunc(keep, func(old permission.Grant) bool { return old.ID == g.ID })
		}
	}
	permission.Number(keep)
	c.saveGrants(keep)
	for _, g := range list {
		if _, known := c.grants.ends[g.ID]; !known {
			put(&c.grants.ends, g.ID, now.Add(time.Duration(g.Until-g.From)*time.Millisecond))
		}
	}
}

func (c *Chat) saveGrants(list []permission.Grant) {
	c.p.MayRefuse = true
	c.p.Grants = append(c.p.Grants, Granted{list})
	c.grants.list = list
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// timed makes grants for rules that cover open commands, and returns those requests. Both are nil if any of the rules
// covers no open command, or covers one only without the file it must be bound to.
func (c *Chat) timed(id, person string, rules []string, minutes int, open []journal.Asked) (given []permission.Grant, covered []journal.Asked) {
	policy, err := grant.Shipped()
	if err != nil || c.Grants == nil || minutes < 1 || minutes > 60 {
		return nil, nil
	}
	now := c.now()
	boot, up := c.uptime()
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
				given = append(given, permission.Grant{
					ID: id + "." + a.Request.ID + nth(n), Person: person, Folder: a.Request.Folder, Rule: rule,
					From: now.UnixMilli(), Until: now.Add(time.Duration(minutes) * time.Minute).UnixMilli(), Boot: boot, Up: up.Milliseconds(),
				})
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

// folders makes grants for the folders whose files the requests would send. It returns nil if one of the requests does
// not send a file from a folder.
func (c *Chat) folders(id, person string, open []journal.Asked) []permission.Grant {
	var given []permission.Grant
	now := c.now()
	boot, up := c.uptime()
	for _, a := range open {
		folder := a.Request.FilesIn
		if folder == "" || c.Grants == nil {
			return nil
		}
		if slices.ContainsFunc(given, func(g permission.Grant) bool { return g.FilesIn == folder }) {
			continue
		}
		given = append(given, permission.Grant{
			ID: id + "." + a.Request.ID, Person: person, FilesIn: folder,
			From: now.UnixMilli(), Until: now.Add(maxGrant).UnixMilli(), Boot: boot, Up: up.Milliseconds(),
		})
	}
	return given
}

// nth is an id suffix that distinguishes the grants of several rules in one reply.
func nth(n int) string {
	if n == 0 {
		return ""
	}
	return "." + strconv.Itoa(n+1)
}

// standing returns the grants without an end for approved requests that an operator's rule covers.
func (c *Chat) standing(list []journal.Request) []permission.Grant {
	var out []permission.Grant
	for _, r := range list {
		if r.Rule != "" && r.Bind != "" && c.Grants != nil {
			out = append(out, permission.Grant{ID: r.ID, Rule: r.Rule, Binds: []string{r.Bind}, From: c.now().UnixMilli()})
		}
	}
	return out
}
