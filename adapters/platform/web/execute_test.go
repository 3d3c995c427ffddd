package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

const apiKey = "api-chat-default"

func apiServer(t *testing.T) *server {
	t.Helper()
	return newServer(t, func(o *Options) { o.APIToken = func() string { return "api-token" } })
}

func (s *server) execute(t *testing.T, body string, headers ...string) *reply {
	t.Helper()
	return s.do(t, "POST", executePath, body, append(headers, "Authorization", "Bearer api-token")...)
}

// answerAPI plays a run with a tool call.
func (s *server) answerAPI(in platform.Inbound) {
	s.live.Start(in.ChatKey, "r-"+in.MessageID, "a-"+in.MessageID)
	s.live.Chunk(in.ChatKey, uistream.StartStep{},
		uistream.ToolInputAvailable{ToolCallID: "c1", ToolName: "time_now", Input: json.RawMessage(`{"zone":"UTC"}`)},
		uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`"12:00"`)},
		uistream.FinishStep{})
	s.live.Say(in.ChatKey, "noon for "+in.Sender.ID)
	s.live.End(in.ChatKey, true, "done")
}

func TestExecute(t *testing.T) {
	s := apiServer(t)
	s.live.OnAccept = s.answerAPI
	res := s.execute(t, `{"instructions":"what time is it?","userId":"ann","messageId":"m1"}`)
	var got struct {
		Success          bool
		Output           string
		ToolCalls        []map[string]any
		AssistantMessage map[string]any
	}
	stdtest.Must(t, json.Unmarshal([]byte(readAll(t, res)), &got))
	wantCalls := []map[string]any{{"tool": "time_now", "input": map[string]any{"zone": "UTC"}, "output": "12:00"}}
	if diff := cmp.Diff(wantCalls, got.ToolCalls); diff != "" || !got.Success || got.Output != "noon for ann" || got.AssistantMessage["id"] != "a-m1" {
		t.Errorf("got %+v; calls (-want +got):\n%s", got, diff)
	}
	in := s.live.Next(t)
	if in.ChatKey != apiKey || in.IngressID != "m1" || in.Chat.Type != "api" || in.Sender.ID != "ann" {
		t.Errorf("got inbound %+v", in)
	}
	for _, repeat := range []*reply{
		s.execute(t, `{"instructions":"what time is it?","messageId":"m1"}`),
		s.execute(t, `{"instructions":"what time is it?"}`, "Idempotency-Key", "m1"),
	} {
		if body := readAll(t, repeat); !strings.Contains(body, "noon for ann") {
			t.Errorf("a repeated id answered %s", body)
		}
	}
	wantStatus(t, s.execute(t, `{"instructions":"other words","messageId":"m1"}`), http.StatusUnprocessableEntity, "key_reused")
	if s.live.Unread() != 0 {
		t.Error("a repeated id ran again")
	}
}

func TestExecuteMergedIntoRun(t *testing.T) {
	s := apiServer(t)
	answers := make(chan string, 2)
	ask := func(id string) {
		go func() { answers <- readAll(t, s.execute(t, `{"instructions":"go","messageId":"`+id+`"}`)) }()
		s.live.Next(t)
	}
	ask("m1")
	s.live.Start(apiKey, "r1", "a1")
	s.live.Say(apiKey, "one")
	ask("m2")
	s.live.End(apiKey, false, "")
	s.live.Start(apiKey, "r1", "a2")
	s.live.Say(apiKey, "two")
	s.live.End(apiKey, true, "done")
	for range 2 {
		if got := <-answers; !strings.Contains(got, `"output":"two"`) || !strings.Contains(got, `"success":true`) {
			t.Errorf("got %s, want the last message of the run", got)
		}
	}
}

func TestExecuteOutcomes(t *testing.T) {
	tests := []struct {
		name, want string
		play       func(s *server)
	}{
		{"failed", `"success":false,"output":"half","error":"failed"`, func(s *server) {
			s.live.Start(apiKey, "r1", "a1")
			s.live.Say(apiKey, "half")
			s.live.End(apiKey, true, "failed")
		}},
		{"dropped", `"error":"The turn ended without an answer."`, func(s *server) {
			s.live.Lock()
			defer s.live.Unlock()
			s.live.Chat(apiKey).Send(platform.Frame{Kind: platform.FrameSettled, Settled: []string{"u:" + apiKey + ":m1"}})
		}},
		{"watch ends in between", `"output":"late"`, func(s *server) {
			s.live.Start(apiKey, "r1", "a1")
			s.live.Say(apiKey, "late")
			s.live.DropWatchers(apiKey)
			s.live.End(apiKey, true, "done")
		}},
		{"said by the tool", `"output":"through the tool"`, func(s *server) {
			s.live.Start(apiKey, "r1", "a1")
			s.live.Chunk(apiKey, uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "chat_send", Input: json.RawMessage(`{"text":"through the tool"}`)},
				uistream.ToolOutputAvailable{ToolCallID: "c", Output: json.RawMessage(`"ok"`)})
			s.live.End(apiKey, true, "done")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := apiServer(t)
			answer := make(chan string, 1)
			go func() { answer <- readAll(t, s.execute(t, `{"instructions":"go","messageId":"m1"}`)) }()
			s.live.Next(t)
			tt.play(s)
			if got := <-answer; !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The sentence about a failure is in the language that the program asks for, like a refusal.
func TestExecuteFailsInTheReadersLanguage(t *testing.T) {
	for language, want := range map[string]string{"zh-CN": `"error":"没有得到回答。"`, "en": `"error":"There is no answer."`, "": `"error":"There is no answer."`} {
		s := newServer(t, func(o *Options) {
			o.APIToken = func() string { return "api-token" }
			o.Failure = func(string) (string, string) { return "There is no answer.", "没有得到回答。" }
		})
		answer := make(chan string, 1)
		go func() {
			answer <- readAll(t, s.execute(t, `{"instructions":"go","messageId":"m1"}`, "Accept-Language", language))
		}()
		s.live.Next(t)
		s.live.Start(apiKey, "r1", "a1")
		s.live.End(apiKey, true, "failed")
		if got := <-answer; !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", language, got, want)
		}
	}
}

// A client that disconnects does not stop the run, and gets its result later.
func TestExecuteClientGone(t *testing.T) {
	s := apiServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+executePath, strings.NewReader(`{"instructions":"go","messageId":"m1"}`))
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer api-token")
	gone := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		gone <- err
	}()
	in := s.live.Next(t)
	cancel()
	if err := <-gone; err == nil {
		t.Error("the call came back")
	}
	s.answerAPI(in)
	if len(s.live.Stops) != 0 {
		t.Error("the run was stopped")
	}
	if got := readAll(t, s.execute(t, `{"instructions":"go","messageId":"m1"}`)); !strings.Contains(got, "noon for") {
		t.Errorf("asked again: %s", got)
	}
}

func TestExecuteRefuses(t *testing.T) {
	s := apiServer(t)
	for body, code := range map[string]string{
		`[]`: "bad_json", `{"instructions":"  "}`: "empty", `{"instructions":"x","chatId":".."}`: "bad_chat_id",
		`{"instructions":"x","messageId":"a\u0000"}`: "bad_message_id", `{"instructions":"x","userId":"a\u001b[31m"}`: "bad_user_id",
		`{"instructions":"x","actorId":"` + strings.Repeat("x", 300) + `"}`: "bad_user_id",
	} {
		wantStatus(t, s.execute(t, body), 400, code)
	}
	closed := newServer(t, nil)
	if got := readAll(t, closed.do(t, "POST", executePath, `{"instructions":"x"}`)); !strings.Contains(got, "adapters.api.token") {
		t.Errorf("without a token of the API: %s", got)
	}
	s.p.Close()
	wantStatus(t, s.execute(t, `{"instructions":"x","messageId":"later"}`), 503, "unavailable")
}

// An answer that was cut off says so, as it does on the page.
func TestExecuteSaysThatAnAnswerIsIncomplete(t *testing.T) {
	s := apiServer(t)
	s.live.OnAccept = func(in platform.Inbound) {
		s.answerAPI(in)
		s.live.Lock()
		defer s.live.Unlock()
		m := &s.live.Chat(in.ChatKey).History[1]
		meta, _ := uimessage.DecodeMetadata(m.Metadata)
		m.Metadata = meta.WithNotice("The answer was cut.").Raw()
	}
	if got := readAll(t, s.execute(t, `{"instructions":"go","messageId":"m1"}`)); !strings.Contains(got, `"output":"noon for api\n\nThe answer was cut."`) {
		t.Errorf("got %s", got)
	}
}
