package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
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
func ask(l *platformtest.Live, calls ...uimessage.Tool) {
	l.Seed(decideKey, "u1")
	m := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}, uimessage.Text{Text: "May I?", State: uimessage.TextDone}}}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	l.Lock()
	defer l.Unlock()
	l.Chat(decideKey).History = append(l.Chat(decideKey).History, m)
}

// goOn continues the last message, like a run after a decision.
func goOn(l *platformtest.Live, key messages.ChatKey) {
	l.Lock()
	defer l.Unlock()
	c := l.Chat(key)
	last := c.History[len(c.History)-1]
	c.History = c.History[:len(c.History)-1]
	c.Running, c.Run, c.Message, c.Chunks = true, "run-2", last.ID, uistream.Replay(last)
	c.Send(platform.Frame{Kind: platform.FrameStart, ChatKey: key, RunID: c.Run, MessageID: last.ID, Chunks: slices.Clone(c.Chunks), Replay: true})
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
	stdtest.Must(t, err)
	return string(b)
}

// The client of the AI SDK sends its message back with the answers; the resulting stream continues
// this very message, without what the client already has.
func TestDecisionContinuesTheMessage(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	s.live.OnDecide = func(key messages.ChatKey, _ []messages.Decision) {
		goOn(s.live, key)
		s.live.Chunk(key, uistream.Start{MessageID: uimessage.Some("a1")}, uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`"gone"`)})
		s.live.Say(key, "Done.")
		s.live.End(key, true, "done")
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
	want := []platformtest.Decided{{By: platform.Person{ID: "owner"}, Say: []messages.Decision{{ApprovalID: "ap-c1", Approved: true}}}}
	stdtest.Diff(t, "decided", want, s.live.Decisions)
	if s.live.Unread() != 0 {
		t.Error("a decision became a turn")
	}
}

// Both answers of one message reach the core together.
func TestDecisionsTogether(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"), asking("c2", "ap-c2"))
	s.live.OnDecide = func(key messages.ChatKey, _ []messages.Decision) {
		goOn(s.live, key)
		s.live.Chunk(key, uistream.ToolOutputDenied{ToolCallID: "c2"}, uistream.ToolOutputError{ToolCallID: "c1", ErrorText: "locked"})
		s.live.End(key, true, "done")
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
	say := s.live.Decisions[0].Say
	if len(say) != 2 || !say[0].Approved || say[1].Approved || len(say[1].Reason) != 1000 {
		t.Errorf("decided %+v", say)
	}
}

// A late decision shows its message unchanged; the outcome appears in another one.
func TestDecisionThatIsLate(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	s.live.Seed(decideKey, "u2", "a2")
	res := s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+"))
	newSSE(t, res).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
	// Otherwise the client would send it forever.
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+")), http.StatusConflict, "already_decided")
}

// A client that has newer messages names the message that it decides.
func TestDecisionOnAnEarlierMessage(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	s.live.Seed(decideKey, "u2", "a2")
	body := strings.Replace(answered(t, nil, "c1+"), `"role":"assistant"}],"trigger"`, `"role":"assistant"},{"id":"a2","role":"assistant","parts":[]}],"trigger"`, 1)
	if !strings.Contains(body, `"a2"`) {
		t.Fatal(body)
	}
	newSSE(t, s.do(t, http.MethodPost, "/api/chat", body)).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
	if len(s.live.Decisions) != 1 {
		t.Errorf("decided %+v", s.live.Decisions)
	}
}

func TestDecisionsThatDoNotCount(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c9+")), http.StatusNotFound, "not_found")
	many := make([]string, 101)
	for i := range many {
		many[i] = "c1+"
	}
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, many...)), http.StatusBadRequest, "too_many")
	s.live.DecideErr = platform.ErrUnavailable
	wantStatus(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+")), http.StatusServiceUnavailable, "unavailable")
	s.live.DecideErr = nil

	// Only answers count: any other state decides nothing.
	for _, state := range []string{"output-available", "output-denied", "approval-requested"} {
		n := len(s.live.Decisions)
		res := s.do(t, http.MethodPost, "/api/chat", answered(t, func(part map[string]any) {
			part["state"], part["output"] = state, "forged"
		}, "c1+"))
		newSSE(t, res).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
		if len(s.live.Decisions) != n {
			t.Errorf("state %s decided: %+v", state, s.live.Decisions[n:])
		}
	}
}

// A decision repeated after everything is done gets what the client missed.
func TestDecisionAgain(t *testing.T) {
	s := newServer(t, nil)
	done := asking("c1", "ap-c1")
	done.State, done.Output = uimessage.ToolOutputAvailable, json.RawMessage(`"gone"`)
	ask(s.live, done)
	s.live.Lock()
	h := s.live.Chat(decideKey).History
	h[1].Parts = append(h[1].Parts, uimessage.StepStart{}, uimessage.Text{Text: "Done."})
	s.live.Unlock()
	newSSE(t, s.do(t, http.MethodPost, "/api/chat", answered(t, nil, "c1+"))).want(
		`data: {"type":"start","messageId":"a1"}`,
		`data: {"type":"tool-output-available","toolCallId":"c1","output":"gone"}`,
		`data: {"type":"start-step"}`, `data: {"type":"text-start","id":"replay-4"}`, `data: {"type":"text-delta","id":"replay-4","delta":"Done."}`,
		`data: {"type":"text-end","id":"replay-4"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`,
	)
}

func TestDecisionAsync(t *testing.T) {
	s := newServer(t, nil)
	ask(s.live, asking("c1", "ap-c1"))
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
	ask(s.live, asking("c1", "ap-c1"), hidden)
	s.live.OnDecide = func(key messages.ChatKey, say []messages.Decision) {
		goOn(s.live, key)
		if say[0].Approved {
			s.live.Chunk(key, uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`"gone"`)})
			s.live.End(key, true, "waiting")
			return
		}
		s.live.Chunk(key, uistream.ToolOutputDenied{ToolCallID: "c2"})
		s.live.Say(key, "As you wish.")
		s.live.End(key, true, "done")
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
	s.live.Lock()
	defer s.live.Unlock()
	var got []messages.Decision
	for _, d := range s.live.Decisions {
		got = append(got, d.Say...)
	}
	want := []messages.Decision{{ApprovalID: "ap-c1", Approved: true}, {ApprovalID: "ap-c2"}}
	stdtest.Diff(t, "decided", want, got)
	if faults := b.Faults(); len(faults) > 0 {
		t.Errorf("the page reported %v", faults)
	}
}
