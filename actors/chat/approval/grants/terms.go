package grants

import (
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

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
	policy, err := grant.Shipped()
	if err != nil || t.Off || minutes < 1 || minutes > int(maxTime/time.Minute) {
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

// Standing returns the grants without an end for approved requests that an operator's rule covers.
func Standing(now time.Time, list []journal.Asked) []permission.Grant {
	var out []permission.Grant
	for _, a := range list {
		if r := a.Request; r.Rule != "" && r.Bind != "" {
			out = append(out, permission.Grant{ID: r.ID, Rule: r.Rule, Binds: []string{r.Bind}, From: now.UnixMilli()})
		}
	}
	return out
}
