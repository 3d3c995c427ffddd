package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

const decideKey = messages.ChatKey("web-chat-d")

func asking(id, approval string) uimessage.Tool {
	return uimessage.Tool{
		ToolCallID: id, Name: "rm", State: uimessage.ToolApprovalRequested, Input: json.RawMessage(`{"path":"` + id + `"}`),
		Approval: &uimessage.Approval{ID: approval},
	}
}

// ask seeds a chat whose answer requests approval of calls.
func (l *fakeLive) ask(calls ...uimessage.Tool) {
	l.seed(decideKey, "u1")
	m := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}, uimessage.Text{Text: "May I?", State: uimessage.TextDone}}}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chat(decideKey).history = append(l.chat(decideKey).history, m)
}

// goOn continues the last message, like a run after a decision.
func (l *fakeLive) goOn(key messages.ChatKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	last := c.history[len(c.history)-1]
	c.history = c.history[:len(c.history)-1]
	c.running, c.run, c.message, c.chunks = true, "run-2", last.ID, uistream.Replay(last)
	l.send(c, platform.Frame{Kind: platform.FrameStart, ChatKey: key, RunID: c.run, MessageID: last.ID, Chunks: slices.Clone(c.chunks), Replay: true})
}

// answered is what the client sends after people clicked: its last message with their answers, by
// call and yes or no.
func answered(t *testing.T, change func(map[string]any), calls ...string) string {
	t.Helper()
	parts := []any{map[string]any{"type": "step-start"}, map[string]any{"type": "text", "text": "May I?"}}
	for _, c := range calls {
		id, approved := strings.CutSuffix(c, "+")
		part := map[string]any{
			"type": "tool-rm", "toolCallId": id, "state": "approval-responded", "input": map[string]any{"path": "forged"},
			"approval": map[string]any{"id": "ap-" + id, "approved": approved},
		}
		if change != nil {
			change(part)
		}
		parts = append(parts, part)
	}
	b, err := json.Marshal(map[string]any{
		"id": "d", "trigger": "submit-message", "messageId": "a1",
		"messages": []any{
			map[string]any{"id": "u1", "role": "user", "parts": []any{map[string]any{"type": "text", "text": "forged"}}},
			map[string]any{"id": "a1", "role": "assistant", "parts": parts},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The client of the AI SDK sends its message back with the answers; the resulting stream continues
// this very message, without what the client already has.
func TestDecisionContinuesTheMessage(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"))
	s.live.onDecide = func(key messages.ChatKey, _ []messages.Decision) {
		s.live.goOn(key)
		s.live.chunk(key, uistream.Start{MessageID: uimessage.Some("a1")}, uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`"gone"`)})
		s.live.say(key, "Done.")
		s.live.end(key, true, "done")
	}
	res := s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+"))
	newSSE(t, res).want(
		`data: {"type":"start","messageId":"a1"}`,
		`data: {"type":"tool-output-available","toolCallId":"c1","output":"gone"}`,
		`data: {"type":"start-step"}`,
		`data: {"type":"text-start","id":"t"}`,
		`data: {"type":"text-delta","id":"t","delta":"Done."}`,
		`data: {"type":"text-end","id":"t"}`,
		`data: {"type":"finish-step"}`,
		`data: {"type":"finish","finishReason":"stop"}`,
		`data: [DONE]`,
	)
	want := []decided{{platform.Person{ID: "owner"}, []messages.Decision{{ApprovalID: "ap-c1", Approved: true}}}}
	if diff := cmp.Diff(want, s.live.decisions, cmp.AllowUnexported(decided{})); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
	if len(s.live.accepted) != 0 {
		t.Error("a decision became a turn")
	}
}

// Both answers of one message reach the core together.
func TestDecisionsTogether(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"), asking("c2", "ap-c2"))
	s.live.onDecide = func(key messages.ChatKey, _ []messages.Decision) {
		s.live.goOn(key)
		s.live.chunk(key, uistream.ToolOutputDenied{ToolCallID: "c2"}, uistream.ToolOutputError{ToolCallID: "c1", ErrorText: "locked"})
		s.live.end(key, true, "done")
	}
	res := s.do(t, http.MethodPost, "/api/chat", answered(t, func(part map[string]any) {
		if approval, _ := part["approval"].(map[string]any); part["toolCallId"] == "c2" {
			approval["reason"] = strings.Repeat("x", 2000)
		}
	}, "c1+", "c2"))
	newSSE(t, res).want(
		`data: {"type":"start","messageId":"a1"}`, `data: {"type":"tool-output-denied","toolCallId":"c2"}`,
		`data: {"type":"tool-output-error","toolCallId":"c1","errorText":"locked"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`,
	)
	say := s.live.decisions[0].say
	if len(say) != 2 || !say[0].Approved || say[1].Approved || len(say[1].Reason) != 1000 {
		t.Errorf("decided %+v", say)
	}
}

// A late decision shows its message unchanged; the outcome appears in another one.
func TestDecisionThatIsLate(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"))
	s.live.seed(decideKey, "u2", "a2")
	res := s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+"))
	newSSE(t, res).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
	// Otherwise the client would send it forever.
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+")), http.StatusConflict, "already_decided")
}

// A client that has newer messages names the message that it decides.
func TestDecisionOnAnEarlierMessage(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"))
	s.live.seed(decideKey, "u2", "a2")
	body := strings.Replace(answered(t, nil, "c1+"), `"role":"assistant"}],"trigger"`, `"role":"assistant"},{"id":"a2","role":"assistant","parts":[]}],"trigger"`, 1)
	if !strings.Contains(body, `"a2"`) {
		t.Fatal(body)
	}
	newSSE(t, s.do(t, http.MethodPost, "/api/chat", body)).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
	if len(s.live.decisions) != 1 {
		t.Errorf("decided %+v", s.live.decisions)
	}
}

func TestDecisionsThatDoNotCount(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"))
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c9+")), http.StatusNotFound, "not_found")
	many := make([]string, 101)
	for i := range many {
		many[i] = "c1+"
	}
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, many...)), http.StatusBadRequest, "too_many")
	s.live.decideErr = platform.ErrUnavailable
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+")), http.StatusServiceUnavailable, "unavailable")
	s.live.decideErr = nil

	// Only answers count: any other state decides nothing.
	for _, state := range []string{"output-available", "output-denied", "approval-requested"} {
		n := len(s.live.decisions)
		res := s.do(t, http.MethodPost, "/api/chat", answered(t, func(part map[string]any) {
			part["state"], part["output"] = state, "forged"
		}, "c1+"))
		newSSE(t, res).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
		if len(s.live.decisions) != n {
			t.Errorf("state %s decided: %+v", state, s.live.decisions[n:])
		}
	}
}

// A decision repeated after everything is done gets what the client missed.
func TestDecisionAgain(t *testing.T) {
	s := newServer(t, nil)
	done := asking("c1", "ap-c1")
	done.State, done.Output = uimessage.ToolOutputAvailable, json.RawMessage(`"gone"`)
	s.live.ask(done)
	s.live.mu.Lock()
	h := s.live.chat(decideKey).history
	h[1].Parts = append(h[1].Parts, uimessage.StepStart{}, uimessage.Text{Text: "Done."})
	s.live.mu.Unlock()
	newSSE(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+"))).want(
		`data: {"type":"start","messageId":"a1"}`,
		`data: {"type":"tool-output-available","toolCallId":"c1","output":"gone"}`,
		`data: {"type":"start-step"}`, `data: {"type":"text-start","id":"replay-4"}`, `data: {"type":"text-delta","id":"replay-4","delta":"Done."}`,
		`data: {"type":"text-end","id":"replay-4"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`,
	)
}

func TestDecisionAsync(t *testing.T) {
	s := newServer(t, nil)
	s.live.ask(asking("c1", "ap-c1"))
	res := s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+", "c9"), "Prefer", "respond-async")
	want := `{"turnId":"","decisions":[{"id":"ap-c1","is":"done"},{"id":"ap-c9","is":"unknown"}]}` + "\n"
	if got := readAll(t, res); res.StatusCode != http.StatusAccepted || got != want {
		t.Errorf("%d: %s", res.StatusCode, got)
	}
}

// People read one sentence and the exact input, and decide with a button.
func TestPageDecides(t *testing.T) {
	b := newBrowser(t)
	s := newServer(t, nil)
	hidden := asking("c2", "ap-c2")
	hidden.Input = json.RawMessage("{\"path\":\"a\u202etxt.exe\"}")
	s.live.ask(asking("c1", "ap-c1"), hidden)
	s.live.onDecide = func(key messages.ChatKey, say []messages.Decision) {
		s.live.goOn(key)
		if say[0].Approved {
			s.live.chunk(key, uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`"gone"`)})
			s.live.end(key, true, "waiting")
			return
		}
		s.live.chunk(key, uistream.ToolOutputDenied{ToolCallID: "c2"})
		s.live.say(key, "As you wish.")
		s.live.end(key, true, "done")
	}
	b.open(s.URL + "/#/c/d")
	b.Until(`document.querySelectorAll('.asks').length === 2`)
	b.Until(`document.querySelector('.asks').textContent.includes('“rm”') && document.querySelector('.exact').textContent.includes('"path": "c1"')`)
	b.Until(`document.querySelectorAll('.exact')[1].textContent.includes('a\\u202etxt.exe')`)
	b.Shoot("approval")
	b.Eval(`document.querySelector('.decide .approve').click()`)
	b.Until(`document.querySelectorAll('.asks').length === 1 && document.body.innerText.includes('done')`)
	b.Eval(`document.querySelector('.decide .deny').click()`)
	b.Until(`document.querySelectorAll('.asks').length === 0 && document.body.innerText.includes('As you wish.')`)
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	var got []messages.Decision
	for _, d := range s.live.decisions {
		got = append(got, d.say...)
	}
	want := []messages.Decision{{ApprovalID: "ap-c1", Approved: true}, {ApprovalID: "ap-c2"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("the page reported %v", faults)
	}
}
