package web

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// TestOutcomeOf checks that a waiting run counts as waiting while a request is open, and as failed
// once the request ended without a decision.
func TestOutcomeOf(t *testing.T) {
	request := func(a journal.Answer) []journal.Request {
		return []journal.Request{{ID: "r1", CallID: "c1", N: 4, Answer: a, Explained: journal.Explained{Exact: "x", Chinese: messages.Words{What: "可以吗？"}}}}
	}
	tests := []struct {
		name     string
		result   string
		reason   string
		fate     uimessage.Fate
		requests []journal.Request
		want     turnState
		because  string
	}{
		{"answered", "done", "", uimessage.FateAnswered, nil, turnAnswered, ""},
		{"merged", "done", "", uimessage.FateMerged, nil, turnAnswered, ""},
		{"waiting", "waiting", "", uimessage.FateAnswered, request(journal.AnswerOpen), turnWaiting, ""},
		{"expired", "waiting", "", uimessage.FateAnswered, request(journal.AnswerExpired), turnFailed, "expired"},
		{"failed", "failed", "network", uimessage.FateAnswered, nil, turnFailed, "network"},
		{"stopped", "stopped", "", uimessage.FateStopped, nil, turnFailed, "stopped"},
		{"declined", "done", "", uimessage.FateDeclined, nil, turnFailed, "declined"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			meta := journal.WithRequests(uimessage.Metadata{RunID: "r", Result: tt.result, Reason: tt.reason}, tt.requests, 0)
			m := uimessage.Message{
				ID: "a", Role: uimessage.RoleAssistant, Metadata: meta.Raw(),
				Parts: []uimessage.Part{uimessage.Tool{ToolCallID: "c1", Name: "write_file", State: uimessage.ToolApprovalRequested}},
			}
			got := outcomeOf("api-chat-a", []uimessage.Message{m}, meta, uimessage.FateRecord{ID: "u", Fate: tt.fate})
			if got.State != tt.want || got.Reason != tt.because {
				t.Errorf("got %s (%s), want %s (%s)", got.State, got.Reason, tt.want, tt.because)
			}
			if tt.want == turnWaiting && (len(got.Waiting) != 1 || got.Waiting[0].N != 4 || got.Waiting[0].Chinese.What != "可以吗？" || got.Waiting[0].Decide.Deny != "sma approvals deny api-chat-a 4") {
				t.Errorf("got requests %+v", got.Waiting)
			}
		})
	}
}

// A message whose request was decided after newer messages has the outcome of the new message that carries it out.
func TestOutcomeOfALateDecision(t *testing.T) {
	s := newServer(t, nil)
	turn := uimessage.Message{ID: "u1", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "delete it"}}}
	asked := func(id, outcome string) uimessage.Message {
		m := decidedMessage(uimessage.ToolApprovalResponded, uimessage.Metadata{RunID: "r", Result: "waiting", Fates: []uimessage.FateRecord{{ID: "u1", Fate: uimessage.FateAnswered}}},
			journal.Request{ID: "ap-" + id, CallID: "c-" + id, N: 1, Answer: journal.AnswerApproved, Late: true, Outcome: outcome})
		m.ID = id
		return m
	}
	done := decidedMessage(uimessage.ToolOutputAvailable, uimessage.Metadata{RunID: "r2", Result: "done"}, journal.Request{ID: "ap-a1", CallID: "late", Answer: journal.AnswerApproved})
	done.ID = "a2"
	again := asked("a2", "a3")
	again.Parts = append([]uimessage.Part{done.Parts[1]}, again.Parts...)
	last := decidedMessage(uimessage.ToolOutputAvailable, uimessage.Metadata{RunID: "r3", Result: "done"}, journal.Request{ID: "ap-a2", CallID: "late", Answer: journal.AnswerApproved})
	last.ID = "a3"
	tests := []struct {
		name string
		rest []uimessage.Message
		runs bool
		want turnState
	}{
		{"not carried out yet", []uimessage.Message{asked("a1", "")}, false, ""},
		{"running", []uimessage.Message{asked("a1", "a2"), done}, true, ""},
		{"done", []uimessage.Message{asked("a1", "a2"), done}, false, turnAnswered},
		{"asks again, decided late", []uimessage.Message{asked("a1", "a2"), again, last}, false, turnAnswered},
		{"gone", []uimessage.Message{asked("a1", "a2")}, false, turnFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.p.resultOf(key, platform.ChatView{Messages: append([]uimessage.Message{turn}, tt.rest...), Running: tt.runs}, "u1")
			if err != nil || (got != nil) != (tt.want != "") || got != nil && got.State != tt.want {
				t.Errorf("got %+v, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// The commands that decide a request can be copied, whatever a program calls its chat.
func TestCommandsThatDecideAreQuoted(t *testing.T) {
	m := uimessage.Message{ID: "a", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Tool{ToolCallID: "c1", State: uimessage.ToolApprovalRequested}}}
	m.Metadata = journal.WithRequests(uimessage.Metadata{RunID: "r"}, []journal.Request{{ID: "r1", CallID: "c1", N: 4}}, 0).Raw()
	open, _ := openRequests("api-chat-it's; reboot", []uimessage.Message{m}, "r")
	if want := `sma approvals approve 'api-chat-it'\''s; reboot' 4`; len(open) != 1 || open[0].Decide.Approve != want {
		t.Errorf("got %+v, want %s", open, want)
	}
}
