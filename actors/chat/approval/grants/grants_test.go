package grants_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

func at(minute int) time.Time { return time.Date(2026, 1, 1, 9, minute, 0, 0, time.UTC) }

// timed is a grant of alice's from 9:00 on.
func timed(id string, minutes int) permission.Grant {
	return permission.Grant{ID: id, Person: "telegram-alice", Folder: ".", Rule: "ls *", From: at(0).UnixMilli(), Until: at(minutes).UnixMilli()}
}

func ids(list []permission.Grant) (out []string) {
	for _, g := range list {
		out = append(out, g.ID)
	}
	return out
}

func anybody(permission.Grant) bool { return true }

// A grant of an earlier activation ends by whichever clock is later, and never gets longer.
func TestOpen(t *testing.T) {
	boot := timed("boot", 30)
	boot.Boot, boot.Up = "b1", (10 * time.Minute).Milliseconds()
	tests := []struct {
		name  string
		grant permission.Grant
		at    grants.Clock
		want  time.Time
	}{
		{"the wall clock", timed("a", 30), grants.Clock{Now: at(10)}, at(30)},
		{"the wall clock was set back", timed("a", 30), grants.Clock{Now: at(-1)}, at(-1)},
		{"the same boot", boot, grants.Clock{Now: at(5), Boot: "b1", Up: 30 * time.Minute}, at(15)},
		{"another boot", boot, grants.Clock{Now: at(5), Boot: "b2", Up: 30 * time.Minute}, at(30)},
		{"longer than any grant", timed("a", 300), grants.Clock{Now: at(5)}, at(65)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := grants.Open([]permission.Grant{tt.grant}, tt.at)
			if got := len(b.Active(tt.want.Add(-time.Nanosecond))); got != 1 {
				t.Errorf("%d grants are active before %v, want 1", got, tt.want)
			}
			if got := len(b.Active(tt.want)); got != 0 {
				t.Errorf("%d grants are active at %v, want 0", got, tt.want)
			}
		})
	}
}

func TestGive(t *testing.T) {
	empty := grants.Open(nil, grants.Clock{Now: at(0)})
	b := empty.Give(at(0), timed("a", 10), timed("b", 20))
	b = b.Give(at(1), timed("a", 59)) // repeated
	stdtest.Diff(t, "active after the first has ended", []string{"b"}, ids(b.Active(at(10))))
	b = b.Give(at(11), timed("c", 59))
	stdtest.Diff(t, "saved", []string{"b", "c"}, ids(b.All()))
	if n := b.All()[1].N; n != 3 {
		t.Errorf("the third grant is g%d, want g3", n)
	}
	if len(empty.All()) != 0 {
		t.Error("giving changed the book before it")
	}
}

func TestStandingGrantsAreLimited(t *testing.T) {
	b := grants.Open([]permission.Grant{timed("timed", 30)}, grants.Clock{Now: at(0)})
	for i := range 203 {
		b = b.Give(at(1), permission.Grant{ID: fmt.Sprint(i), Rule: "ls *"})
	}
	got := ids(b.All())
	if len(got) != 201 || got[0] != "timed" || got[1] != "3" || got[200] != "202" {
		t.Errorf("%d grants: %v", len(got), got)
	}
}

func TestRevoke(t *testing.T) {
	b := grants.Open([]permission.Grant{timed("a", 30), timed("b", 30), timed("ended", 1)}, grants.Clock{Now: at(0)})
	notB := func(g permission.Grant) bool { return g.ID != "b" }
	tests := []struct {
		name    string
		numbers []int
		may     func(permission.Grant) bool
		gone    []int
		taken   []string
		reason  string
	}{
		{"one", []int{2}, anybody, []int{2}, []string{"b"}, ""},
		{"one that has ended", []int{3}, anybody, []int{3}, nil, ""},
		{"all", nil, anybody, []int{1, 2}, []string{"a", "b"}, ""},
		{"all that the person may revoke", nil, notB, []int{1}, []string{"a"}, ""},
		{"one of them unknown", []int{1, 4}, anybody, nil, nil, grants.Unknown},
		{"one of them forbidden", []int{1, 2}, notB, nil, nil, grants.Forbidden},
		{"all forbidden", nil, func(permission.Grant) bool { return false }, nil, nil, grants.Forbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := b.Revoke(at(5), tt.numbers, tt.may)
			if diff := cmp.Diff(tt.gone, out.Numbers); diff != "" || out.Reason != tt.reason {
				t.Errorf("reason = %q, numbers (-want +got):\n%s", out.Reason, diff)
			}
			stdtest.Diff(t, "taken", tt.taken, ids(out.Revoked))
			if out.Book != nil && len(out.Book.Active(at(5)))+len(out.Revoked) != 2 {
				t.Errorf("active then: %v", ids(out.Book.Active(at(5))))
			}
			if len(b.Active(at(5))) != 2 {
				t.Error("revoking changed the book before it")
			}
		})
	}
	again := b.Revoke(at(5), nil, anybody).Book.Revoke(at(6), nil, anybody)
	if again.Reason != grants.Unknown {
		t.Errorf("revoking everything again: %+v", again)
	}
}

// A person's grant serves one person alone, and only while its giver may decide.
func TestLive(t *testing.T) {
	forBob := timed("bob's", 30)
	forBob.For = "bob"
	b := grants.Open([]permission.Grant{timed("alice's", 30), forBob, {ID: "standing", Rule: "ls *"}}, grants.Clock{Now: at(0)})
	may := func(giver, _ string) bool { return giver == "alice" }
	tests := []struct {
		name   string
		people []string
		may    func(giver, asker string) bool
		want   string
	}{
		{"her own run", []string{"alice"}, may, "alice's standing"},
		{"his run", []string{"bob"}, may, "bob's standing"},
		{"a run for both", []string{"alice", "bob"}, may, "standing"},
		{"a task", nil, may, "standing"},
		{"she may not decide any more", []string{"bob"}, func(string, string) bool { return false }, "standing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			people := map[string]bool{}
			for _, p := range tt.people {
				people[p] = true
			}
			var got []string
			for _, g := range b.Live(at(1), "telegram", people, tt.may) {
				got = append(got, g.ID)
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("live: %q, want %q", s, tt.want)
			}
		})
	}
}

func asked(id, command, folder, filesIn, bind string) journal.Asked {
	var a journal.Asked
	a.Request.ID, a.Request.Command, a.Request.Folder, a.Request.FilesIn, a.Request.Bind = id, command, folder, filesIn, bind
	return a
}

func TestTerms(t *testing.T) {
	terms := grants.Terms{ID: "i", Person: "telegram-alice", For: "bob", At: grants.Clock{Now: at(0), Boot: "b", Up: time.Second}}
	open := []journal.Asked{asked("1", "ls a", "x", "", ""), asked("2", "ls b", "x", "", ""), asked("3", "ls c", "y", "", ""), asked("4", "rm c", "y", "", "")}
	given, covered := terms.Rules([]string{"ls *"}, 10, open)
	if diff := cmp.Diff([]string{"i.1", "i.3"}, ids(given)); diff != "" || len(covered) != 3 {
		t.Errorf("%d covered, given (-want +got):\n%s", len(covered), diff)
	}
	want := permission.Grant{
		ID: "i.1", Person: "telegram-alice", For: "bob", Folder: "x", Rule: "ls *", From: at(0).UnixMilli(), Until: at(10).UnixMilli(), Boot: "b", Up: 1000,
	}
	stdtest.Diff(t, "a grant", want, given[0])
	for _, rules := range [][]string{{"ls *", "cat *"}, {"anything"}} {
		if given, _ := terms.Rules(rules, 10, open); given != nil {
			t.Errorf("%q gave %v although a rule covers nothing", rules, ids(given))
		}
	}
	if given, _ := terms.Rules([]string{"ls *"}, 61, open); given != nil {
		t.Errorf("61 minutes gave %v", ids(given))
	}
	files := []journal.Asked{asked("5", "", "", "docs", ""), asked("6", "", "", "docs", "")}
	if given := terms.Folders(files); len(given) != 1 || given[0].FilesIn != "docs" || given[0].Until != at(60).UnixMilli() {
		t.Errorf("folders: %+v", given)
	}
	if given := terms.Folders(append(files, open[0])); given != nil {
		t.Errorf("a request without files gave %v", ids(given))
	}
}

func TestWords(t *testing.T) {
	files := timed("f", 1)
	files.Rule, files.FilesIn, files.For = "", "docs", "bob"
	b := grants.Open([]permission.Grant{timed("a", 30), files, {ID: "s", Rule: "ls *"}}, grants.Clock{Now: at(0)})
	got := b.Words(at(0), "telegram", "")
	for _, want := range []string{
		"g1: for telegram\\-alice in folder \\., 30 more minutes", "g2: files directly in this folder are sent, for telegram\\-bob, 1 more minute\n", "g3: without an end",
	} {
		if !strings.Contains(got[0], want) {
			t.Errorf("%q is not in:\n%s", want, got[0])
		}
	}
	if got := grants.RulesAllowedThere(1, []string{"ls *"}, "“Bob”")[0]; !strings.HasPrefix(got, "For 1 minute, what fits") {
		t.Errorf("one minute: %s", got)
	}
}
