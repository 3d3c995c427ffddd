package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// saidYes is the message that decides in these tests.
func saidYes() platform.Inbound {
	return platform.Inbound{ChatKey: key, IngressID: request.KeyPrefix + "d1", Text: "yes"}
}

// decidedMessage is a message whose call was decided by a request id, with what followed it.
func decidedMessage(state uimessage.ToolState, meta uimessage.Metadata, list ...journal.Request) uimessage.Message {
	m := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "May I?"}}}
	for _, r := range list {
		call := asking(r.CallID, r.ID)
		if call.State = uimessage.ToolApprovalRequested; r.Answer != journal.AnswerOpen {
			call.State = state
		}
		m.Parts = append(m.Parts, call)
	}
	m.Parts = append(m.Parts, uimessage.Text{Text: "Gone."})
	m.Metadata = journal.WithRequests(meta, list, 0).Append(nil)
	return m
}

// The outcome of a message that decided requests is that of the run that it continued, once it has ended.
func TestResultOfDecision(t *testing.T) {
	yes := journal.Request{ID: "ap-1", CallID: "c1", N: 1, Answer: journal.AnswerApproved, RequestID: request.MessageRequestID(saidYes())}
	late, copied, other := yes, yes, yes
	late.Late, copied.Late, copied.Outcome = true, true, "a2"
	other.RequestID = "r-other"
	done, waits := uimessage.Metadata{RunID: "r", Result: "done"}, uimessage.Metadata{RunID: "r", Result: "waiting"}
	open := journal.Request{ID: "ap-2", CallID: "c2", N: 2}
	outcome := decidedMessage(uimessage.ToolOutputAvailable, done, journal.Request{ID: "ap-1", CallID: "late", Answer: journal.AnswerApproved})
	outcome.ID = "a2"
	tests := []struct {
		name  string
		view  []uimessage.Message
		runs  bool
		found bool
		state turnState
		text  string
	}{
		{"decided by another message", []uimessage.Message{decidedMessage(uimessage.ToolOutputAvailable, done, other)}, false, false, "", ""},
		{"not continued yet", []uimessage.Message{decidedMessage(uimessage.ToolApprovalResponded, waits, yes)}, false, true, "", ""},
		{"running", []uimessage.Message{decidedMessage(uimessage.ToolOutputAvailable, waits, yes)}, true, true, "", ""},
		{"done", []uimessage.Message{decidedMessage(uimessage.ToolOutputAvailable, done, yes)}, false, true, turnAnswered, "Gone."},
		{"denied", []uimessage.Message{decidedMessage(uimessage.ToolOutputDenied, done, yes)}, false, true, turnAnswered, "Gone."},
		{"asks again", []uimessage.Message{decidedMessage(uimessage.ToolOutputAvailable, waits, yes, open)}, false, true, turnWaiting, "Gone."},
		{"failed", []uimessage.Message{decidedMessage(uimessage.ToolOutputAvailable, uimessage.Metadata{RunID: "r", Result: "failed", Reason: "network"}, yes)}, false, true, turnFailed, "Gone."},
		{"late, not carried out yet", []uimessage.Message{decidedMessage("", waits, late)}, false, true, "", ""},
		{"late", []uimessage.Message{decidedMessage("", waits, copied), outcome}, false, true, turnAnswered, "Gone."},
	}
	s := newServer(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := s.p.resultOfDecision(key, platform.ChatView{Messages: tt.view, Running: tt.runs}, "d1")
			if found != tt.found || (got != nil) != (tt.state != "") {
				t.Fatalf("got %+v, %v", got, found)
			}
			if got != nil && (got.State != tt.state || got.Output != tt.text || len(got.Message.Parts) < 2) {
				t.Errorf("got %s %q in %+v", got.State, got.Output, got.Message)
			}
		})
	}
}

// A decision that is sent again, under the same key and with the same words, is answered with what followed it. Other
// words are refused.
func TestDecisionIsSentAgain(t *testing.T) {
	s := newServer(t, nil)
	s.live.Lock()
	c := s.live.Chat(key)
	s.live.Know(key, saidYes().IngressID, "")
	c.History = append(c.History, decidedMessage(uimessage.ToolOutputAvailable, uimessage.Metadata{RunID: "r", Result: "done"},
		journal.Request{ID: "ap-1", CallID: "c1", N: 1, Answer: journal.AnswerApproved, RequestID: request.MessageRequestID(saidYes())}))
	s.live.Unlock()
	if res := s.do(t, "POST", "/api/chat", submit("c1", "d1", "yes"), request.KeyHeader, "d1"); res.StatusCode != http.StatusOK {
		t.Errorf("the same words: %d %s", res.StatusCode, readAll(t, res))
	}
	if got := readAll(t, s.do(t, "GET", "/api/chat/c1/outcome?turn=d1", "")); !strings.Contains(got, `"state":"answered"`) || !strings.Contains(got, `"text":"Gone."`) {
		t.Errorf("the outcome: %s", got)
	}
	for _, words := range []string{"no", "hello"} {
		if res := s.do(t, "POST", "/api/chat", submit("c1", "d1", words), request.KeyHeader, "d1"); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", words, res.StatusCode, readAll(t, res))
		}
	}
}
