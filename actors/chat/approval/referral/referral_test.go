package referral

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/ruling"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	group = messages.ChatKey("telegram-chat--1")
	alice = messages.ChatKey("telegram-chat-7")
	bob   = messages.ChatKey("telegram-chat-8")
)

func at(seconds int) time.Time { return time.Date(2026, 1, 1, 9, 0, seconds, 0, time.UTC) }

// What has not been confirmed is sent again, more and more rarely.
func TestRetries(t *testing.T) {
	var r Retries
	var sent []int
	for s := range 600 {
		if r.Due("show", at(s)) {
			sent = append(sent, s)
		}
	}
	stdtest.Diff(t, "sent at", []int{0, 5, 15, 35, 75, 155, 275, 395, 515}, sent)
	r.After("buttons", at(600))
	r.After("buttons", at(700))
	before := r
	if first, changed := r.Timer(); !changed || first != at(600) {
		t.Errorf("the timer is set to %v, %v", first, changed)
	}
	r.Keep(map[string]bool{"show": true})
	if first, changed := r.Timer(); !changed || first != at(635) {
		t.Errorf("the timer is set to %v, %v", first, changed)
	}
	if _, changed := r.Timer(); changed {
		t.Error("the timer has changed without a reason")
	}
	if len(before.tries) != 2 {
		t.Error("a copy has changed")
	}
}

// asks is a chat with the open request a of bob's.
func asks(t *testing.T) *journal.State {
	t.Helper()
	turn := journal.Turn{}
	turn.ID = "m"
	turn.Requests = []journal.Request{{ID: "a", CallID: "c", N: 1, Digest: "d", Asker: "bob", Answer: journal.AnswerOpen, Explained: journal.Explained{FilesIn: "docs"}}}
	s, err := journal.Replay(journal.Snapshot{})
	stdtest.Must(t, err)
	s.AppendOpen(turn)
	if n := len(s.OpenRequests()); n != 1 {
		t.Fatalf("%d requests are open, want 1", n)
	}
	return s
}

func TestAsking(t *testing.T) {
	s, asking, wanted := asks(t), Asking{}, map[string]bool{}
	place := func() ChatFacts {
		return ChatFacts{Key: group, Title: "Team", Group: true, Grants: true, PrivateType: "p2p"}
	}
	facts := Refer(s.OpenRequests(), func(string) []approval.Decider {
		return []approval.Decider{{ChatKey: alice, Person: "alice"}}
	})
	referred, ok := facts[0].(journal.RequestReferred)
	if !ok {
		t.Fatalf("the fact is %T", facts[0])
	}
	s.Referrals = referred.Referrals
	got := asking.Pending(s, at(0), group, place, wanted)
	if len(got) != 1 || len(wanted) != 1 || len(asking.Pending(s, at(1), group, place, wanted)) != 0 {
		t.Fatalf("sent %v, waiting for %v", got, wanted)
	}
	show, ok := got[0].(messages.ShowRequest)
	if !ok {
		t.Fatalf("sent %T", got[0])
	}
	r := show.Request
	if r.From != group || r.Person != "alice" || r.Digest != "d" || r.FilesIn != "docs" || r.ChatType != "p2p" || r.ChatTitle != "Team" {
		t.Errorf("the request is shown as %+v", r)
	}

	var answered []int
	answer := func(_ any, others int) { answered = append(answered, others) }
	if facts := asking.Gather(s, messages.ReferRequests{To: alice, Person: "alice"}, "who", func(string) bool { return true }); facts != nil {
		t.Errorf("referred again: %v", facts)
	}
	asking.Gather(s, messages.ReferRequests{To: bob, Person: "bob"}, "who", func(string) bool { return false })
	asking.Gathered(s, answer)
	if fact, changes := Settled(s, "a", alice, false); !changes || fact.Ended {
		t.Errorf("the confirmation is %+v, %v", fact, changes)
	}
	s.Referrals[0].Confirmed = true
	asking.Gathered(s, answer)
	asking.Gathered(s, answer)
	if !slices.Equal(answered, []int{1, 0}) {
		t.Errorf("requests that others decide: %v, want [1 0]", answered)
	}
	if _, changes := Settled(s, "a", alice, false); changes {
		t.Error("a repeated confirmation changes something")
	}
	if _, changes := Settled(s, "a", bob, true); changes {
		t.Error("the confirmation of a chat that was not asked changes something")
	}
	if got := asking.Pending(s, at(100), group, place, wanted); len(got) != 0 {
		t.Errorf("sent again after the confirmation: %v", got)
	}
	s.History[0].Requests[0].Answer, s.History[0].Requests[0].Via = journal.AnswerDenied, string(alice)+"/i"
	got = asking.Pending(s, at(200), group, place, wanted)
	want := []any{messages.EndRequest{ChatKey: alice, From: group, ApprovalID: "a", Answer: "denied", Via: "i"}}
	stdtest.Diff(t, "sent after the end", want, got)
}

// The chat of a task is named to others, not to the person whose chat it is.
func TestTaskFacts(t *testing.T) {
	s := asks(t)
	p := ChatFacts{Key: "task-t1", Title: "x", Task: &TaskFacts{Title: "Report", ChatKey: alice, ChatTitle: "Team", Person: "Alice", Group: true}}
	for to, title := range map[messages.ChatKey]string{alice: "", bob: "Team"} {
		r := p.request(s, s.OpenRequests()[0], journal.Referral{ApprovalID: "a", To: to})
		if !r.Task || r.TaskTitle != "Report" || r.ChatTitle != title || r.Group != (title != "") || r.Asker != "" || r.FilesIn != "" || r.ChatType != "private" {
			t.Errorf("%s reads %+v", to, r)
		}
	}
}

func TestDecision(t *testing.T) {
	s := &journal.State{}
	other := messages.ChatKey("telegram-chat--2")
	v := ruling.Verdict{Sense: ruling.Decide, Approves: true}
	for i, origin := range []messages.ChatKey{group, other} {
		g := journal.ReferredRequest{Origin: origin, AskerName: "Bob"}
		g.ID, g.N, g.Digest, g.Answer = string(rune('a'+i)), i+1, "digest", journal.AnswerOpen
		s.Referred = append(s.Referred, g)
		v.Those = append(v.Those, g.Asked())
	}
	d, orders, ok := Decide(messages.DecideReferred{ID: "i", From: alice}, v)
	if !ok || len(orders) != 2 || orders[0].ChatKey != group || orders[0].Say[0].Digest != "digest" || !d.Failed() {
		t.Fatalf("%+v, %+v, %v", d, orders, ok)
	}
	done := func(id string, is messages.DecisionState) []messages.DecisionOutcome {
		return []messages.DecisionOutcome{{ApprovalID: id, Is: is}}
	}
	first, ok := d.Answered(s, messages.ReferredDecided{From: group, Outcomes: append(done("a", messages.DecisionDone), done("b", messages.DecisionDone)...)})
	if !ok || !first.Waits() || !d.left[group] {
		t.Errorf("after one answer: %+v, before it: %+v", first, d)
	}
	if _, ok := first.Answered(s, messages.ReferredDecided{From: group}); ok {
		t.Error("a chat answered twice")
	}
	if _, known := first.Outcome("b"); known {
		t.Error("a chat decided the request of another")
	}
	last, _ := first.Answered(s, messages.ReferredDecided{From: other, Outcomes: done("b", messages.DecisionExpired)})
	ended := last.Ended(s, messages.Asker{Platform: "telegram", ID: "alice"})
	want := []journal.Fact{
		journal.ReferredRequestEnded{Origin: group, ApprovalID: "a", Answer: journal.AnswerApproved, By: "telegram-alice"},
		journal.ReferredRequestEnded{Origin: other, ApprovalID: "b", Answer: journal.AnswerExpired},
	}
	if diff := cmp.Diff(want, ended); diff != "" || last.Failed() {
		t.Errorf("failed: %v, ended (-want +got):\n%s", last.Failed(), diff)
	}
	if words := last.Words(s)[0]; words != "Request #1 of “Bob” is approved.\nRequest #2 has expired. Nothing was done." {
		t.Errorf("words: %s", words)
	}
	if failed, _ := first.Answered(s, messages.ReferredDecided{From: other, Err: "closed"}); !failed.Failed() {
		t.Error("a decision is complete although a chat could not answer")
	}
	v.Sense = ruling.Grant
	if _, _, ok := Decide(messages.DecideReferred{}, v); ok {
		t.Error("rules were allowed in two chats at once")
	}
}

func TestPress(t *testing.T) {
	g := journal.ReferredRequest{}
	g.ID, g.Digest, g.Answer = "a", "digest", journal.AnswerOpen
	if out := Press(g, "dig"); out.Is != messages.DecisionDone {
		t.Errorf("a valid press: %+v", out)
	}
	for _, digest := range []string{"", "dog"} {
		if out := Press(g, digest); out.Is != messages.DecisionUnknown {
			t.Errorf("a press on another request: %+v", out)
		}
	}
	g.Answer, g.ByName = journal.AnswerDenied, "Bob"
	if out := Press(g, "dig"); out.Is != messages.DecisionAlready || out.ByName != "Bob" || !strings.EqualFold(out.Answer, "denied") {
		t.Errorf("a press on a request that was denied: %+v", out)
	}
	g.Answer = journal.AnswerExpired
	if out := Press(g, "dig"); out.Is != messages.DecisionExpired {
		t.Errorf("a press on a request that has expired: %+v", out)
	}
}
