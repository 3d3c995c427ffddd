package web

import (
	"testing"

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
