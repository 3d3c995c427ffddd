package web

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

const key = messages.ChatKey("web-chat-c1")

func TestPostStreamsTheAnswer(t *testing.T) {
	s := newServer(t, nil)
	res := s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi"))
	want := map[string]string{
		"Content-Type": "text/event-stream", "X-Vercel-Ai-Ui-Message-Stream": "v1", "X-Accel-Buffering": "no",
		"Cache-Control": "no-cache, no-store, no-transform",
	}
	for name, value := range want {
		if got := res.Header.Get(name); got != value {
			t.Errorf("header %s: got %q, want %q", name, got, value)
		}
	}
	stream := newSSE(t, res)
	s.live.Start(key, "r1", "a1")
	stream.want(`data: {"type":"start","messageId":"a1"}`)
	s.live.Chunk(key, uistream.Start{Metadata: json.RawMessage(`{"demo":true}`)}, uistream.StartStep{}, uistream.TextStart{ID: "t"})
	s.live.Chunk(key, uistream.TextDelta{ID: "t", Delta: "<b>"}, uistream.TextEnd{ID: "t"}, uistream.FinishStep{}, uistream.Finish{Reason: uistream.FinishStop})
	s.live.End(key, true, "done")
	stream.want(
		`data: {"type":"message-metadata","messageMetadata":{"demo":true}}`,
		`data: {"type":"start-step"}`, `data: {"type":"text-start","id":"t"}`, `data: {"type":"text-delta","id":"t","delta":"<b>"}`,
		`data: {"type":"text-end","id":"t"}`, `data: {"type":"finish-step"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
	in := s.live.Next(t)
	got := platform.Inbound{ChatKey: in.ChatKey, IngressID: in.IngressID, TurnID: in.TurnID, Text: in.Text, Sender: in.Sender, Gate: in.Gate, Chat: in.Chat}
	if diff := cmp.Diff(platform.Inbound{
		ChatKey: key, IngressID: "u1", TurnID: "u1", Text: "hi", Sender: platform.Person{ID: "owner"},
		Gate: platform.Gate{Open: true, Reason: "private"}, Chat: platform.ChatInfo{ID: "c1", Type: "web"},
	}, got); diff != "" || in.RequestID == "" {
		t.Errorf("inbound (-want +got):\n%s", diff)
	}
}

// A message sent during a run waits, with comments, for the message that sees it.
func TestPostDuringRunMerges(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Heartbeat = time.Millisecond })
	first := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "one")))
	s.live.Start(key, "r1", "a1")
	first.want(`data: {"type":"start","messageId":"a1"}`)
	second := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u2", "two")))
	for line := ""; line != ": waiting"; { // a comment while there is nothing to send
		line = second.any()
	}
	s.live.Say(key, "x")
	s.live.End(key, false, "")
	s.live.Start(key, "r1", "a2")
	s.live.End(key, true, "done")
	for range 5 {
		first.next()
	}
	first.want(`data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
	second.wantStart("a2")
	second.want(`data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
}

func TestPostedAgain(t *testing.T) {
	s := newServer(t, nil)
	s.live.OnAccept = s.live.Echo
	first := readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi")))
	s.live.Next(t)
	again := readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi")))
	rebuild := func(body string) string {
		var text strings.Builder
		for line := range strings.Lines(body) {
			if _, delta, ok := strings.Cut(line, `"delta":"`); ok {
				text.WriteString(strings.TrimSuffix(strings.TrimSpace(delta), `"}`))
			}
		}
		return text.String()
	}
	if rebuild(first) != "You said: hi" || rebuild(again) != rebuild(first) {
		t.Errorf("got %q and %q, want the same answer twice", rebuild(first), rebuild(again))
	}
	if s.live.Unread() != 0 {
		t.Error("the repeated message was taken again")
	}
}

func TestPostedAgainWhileRunning(t *testing.T) {
	s := newServer(t, nil)
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi"), "Prefer", "respond-async"))
	s.live.Start(key, "r1", "a1")
	stream := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi")))
	stream.want(`data: {"type":"start","messageId":"a1"}`)
	s.live.End(key, true, "done")
	stream.want(`data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
}

func TestNothingNew(t *testing.T) {
	s := newServer(t, nil)
	s.live.Seed(key, "u1", "a1")
	body := `{"id":"c1","messages":[{"id":"u1","role":"user","parts":[]},{"id":"a1","role":"assistant","parts":[]}],"trigger":"submit-message","messageId":"a1"}`
	newSSE(t, s.do(t, "POST", "/api/chat", body)).want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`)
}

func TestRegenerateAndEdit(t *testing.T) {
	s := newServer(t, nil)
	s.live.OnAccept = s.live.Echo
	s.live.Seed(key, "u1", "a1", "u2", "a2")
	body := readAll(t, s.do(t, "POST", "/api/chat", `{"id":"c1","messages":[{"id":"u2","role":"user","parts":[]}],"trigger":"regenerate-message"}`))
	in := s.live.Next(t)
	if in.TurnID != "u2" || in.IngressID == "u2" || in.Text != "text of u2" || !strings.Contains(body, "You said: text of u2") {
		t.Errorf("regenerate: got turn %q ingress %q text %q", in.TurnID, in.IngressID, in.Text)
	}
	edit := strings.TrimSuffix(submit("c1", "u1", "new words"), "}") + `,"messageId":"u1"}`
	body = readAll(t, s.do(t, "POST", "/api/chat", edit))
	in = s.live.Next(t)
	if in.TurnID != "u1" || in.IngressID == "u1" || in.Text != "new words" || !strings.Contains(body, "You said: new words") {
		t.Errorf("edit: got turn %q ingress %q text %q", in.TurnID, in.IngressID, in.Text)
	}
	stdtest.Diff(t, "rewinds", []string{"a1", ""}, s.live.Rewound)
	view := readAll(t, s.do(t, "GET", "/api/chat/c1", ""))
	if strings.Contains(view, "u2") || !strings.Contains(view, "new words") {
		t.Errorf("history after the edit: %s", view)
	}
}

// looked counts the histories that were read.
type looked struct {
	platform.Live
	n      atomic.Int32
	signal func()
}

func (l *looked) History(ctx context.Context, key messages.ChatKey) (platform.ChatView, error) {
	defer l.signal()
	defer l.n.Add(1)
	return l.Live.History(ctx, key)
}

// Two windows send the same edit at once: the second one waits for the answer to the first.
func TestEditSentTwiceAtOnce(t *testing.T) {
	live := new(looked)
	s := newServer(t, func(o *Options) {
		live.Live = o.Live
		o.Live = live
	})
	live.signal = s.live.Signal
	s.live.Seed(key, "u1", "a1")
	lock := &s.p.rewinds[maphash.String(s.p.seed, string(key))%uint64(len(s.p.rewinds))]
	lock.Lock()
	edit := strings.TrimSuffix(submit("c1", "u1", "new words"), "}") + `,"messageId":"u1"}`
	answers := make(chan string, 2)
	for range 2 {
		go func() { answers <- readAll(t, s.do(t, "POST", "/api/chat", edit, "Prefer", "respond-async")) }()
	}
	s.live.Await(t, "both to read the history", func() bool { return live.n.Load() == 2 })
	lock.Unlock()
	for range 2 {
		if got := <-answers; strings.TrimSpace(got) != `{"turnId":"u1"}` {
			t.Errorf("got %s", got)
		}
	}
	if taken := s.live.Accepted(); len(taken) != 1 || taken[0].Text != "new words" {
		t.Errorf("taken: %+v", taken)
	}
}

func TestRefusedPosts(t *testing.T) {
	s := newServer(t, nil)
	s.live.Seed(key, "u1", "a1")
	s.live.Start(key, "r1", "a2")
	tests := []struct {
		name, body string
		status     int
		code       string
	}{
		{"edit during a run", submit("c1", "u1", "other"), 409, "busy"},
		{"regenerate during a run", `{"id":"c1","messages":[],"trigger":"regenerate-message"}`, 409, "busy"},
		{"id of an answer", submit("c1", "a1", "x"), 409, "id_taken"},
		{"no chat", submit("", "m", "x"), 400, "bad_chat_id"},
		{"dots", submit("..", "m", "x"), 400, "bad_chat_id"},
		{"control character", submit("a\x00b", "m", "x"), 400, "bad_chat_id"},
		{"long chat id", submit(strings.Repeat("x", 300), "m", "x"), 400, "bad_chat_id"},
		{"long message id", submit("c1", strings.Repeat("x", 300), "x"), 400, "bad_message_id"},
		{"empty", submit("c1", "m", ""), 400, "empty"},
		{"blank", submit("c1", "m", " \n\u3000"), 400, "empty"},
		{"deep", `{"id":"c1","messages":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, 400, "too_deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantStatus(t, s.do(t, "POST", "/api/chat", tt.body), tt.status, tt.code) })
	}
	t.Run("form", func(t *testing.T) {
		wantStatus(t, s.do(t, "POST", "/api/chat", submit("c1", "m", "x"), "Content-Type", "text/plain"), 415, "not_json")
	})
	t.Run("method", func(t *testing.T) {
		if got := s.do(t, "DELETE", "/api/chat", ""); got.StatusCode == 200 {
			t.Error("DELETE is served")
		}
	})
	t.Run("declined", func(t *testing.T) {
		s.live.Decline = "lane_full"
		defer func() { s.live.Decline = "" }()
		wantStatus(t, s.do(t, "POST", "/api/chat", submit("c1", "m", "x")), 429, "declined")
	})
	t.Run("unavailable", func(t *testing.T) {
		s.live.Refuse(func(platform.Inbound) error { return platform.ErrUnavailable })
		res := s.do(t, "POST", "/api/chat", submit("c1", "m", "x"))
		if res.Header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		wantStatus(t, res, 503, "unavailable")
	})
}

func TestPostOfDroppedTurn(t *testing.T) {
	s := newServer(t, nil)
	s.live.Start(key, "r1", "a1")
	stream := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u2", "two")))
	s.live.Next(t)
	s.live.Lock()
	c := s.live.Chat(key)
	c.Waiting = nil
	c.Send(platform.Frame{Kind: platform.FrameSettled, Settled: []string{"u2"}})
	s.live.Unlock()
	stream.want(`data: {"type":"abort"}`, `data: [DONE]`, "")
}

// A closed connection never stops a run; resume sends the whole message.
func TestResume(t *testing.T) {
	s := newServer(t, nil)
	if res := s.do(t, "GET", "/api/chat/c1/stream", ""); res.StatusCode != 204 {
		t.Errorf("unknown chat: got %d, want 204", res.StatusCode)
	}
	res := s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi"))
	stream := newSSE(t, res)
	s.live.Start(key, "r1", "a1")
	stream.want(`data: {"type":"start","messageId":"a1"}`)
	s.live.Chunk(key, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "half"})
	stream.want(`data: {"type":"start-step"}`)
	res.close()
	s.awaitCut(t)
	if len(s.live.Stops) != 0 {
		t.Error("closing the connection stopped the run")
	}
	resumed := newSSE(t, s.do(t, "GET", "/api/chat/c1/stream", ""))
	resumed.want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"start-step"}`, `data: {"type":"text-start","id":"t"}`,
		`data: {"type":"text-delta","id":"t","delta":"half"}`)
	s.live.Chunk(key, uistream.TextDelta{ID: "t", Delta: " more"})
	s.live.End(key, true, "done")
	resumed.want(`data: {"type":"text-delta","id":"t","delta":" more"}`, `data: {"type":"text-end","id":"t"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
	if res := s.do(t, "GET", "/api/chat/c1/stream", ""); res.StatusCode != 204 {
		t.Errorf("after the run: got %d, want 204", res.StatusCode)
	}
}

// awaitCut waits until the server has noticed that a reader has disconnected.
func (s *server) awaitCut(t *testing.T) {
	t.Helper()
	noticed := func() bool {
		s.p.cuts.mu.Lock()
		defer s.p.cuts.mu.Unlock()
		return len(s.p.cuts.chats[key]) > 0
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !noticed() {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the server did not notice that the reader is gone")
		}
	}
}

// The ids of DefaultChatTransport survive escaping in the path.
func TestEscapedChatID(t *testing.T) {
	s := newServer(t, nil)
	s.live.Seed("web-chat-chat/1 ü?", "u1", "a1")
	if got := readAll(t, s.do(t, "GET", "/api/chat/chat%2F1%20%C3%BC%3F", "")); !strings.Contains(got, "text of a1") {
		t.Errorf("got %s, want the history", got)
	}
}

// WE9: no id reaches a chat of another platform.
func TestWE9OtherChatsAreOutOfReach(t *testing.T) {
	s := newServer(t, nil)
	s.live.Seed("telegram-chat-1", "u1", "a1")
	for _, id := range []string{"telegram-chat-1", "..%2Ftelegram-chat-1", "1", "%2e%2e", "x%00y", "%EF%BF%BD"} {
		for _, rest := range []string{"", "/view"} {
			if res := s.do(t, "GET", "/api/chat/"+id+rest, ""); res.StatusCode != 404 && res.StatusCode != 400 && res.StatusCode != 307 {
				t.Errorf("%s%s: got %d: %s", id, rest, res.StatusCode, readAll(t, res))
			}
		}
	}
}

func TestHistoryViewStopInfo(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Chats = func(context.Context, int) ([]ChatSummary, error) { return []ChatSummary{{ID: "c1", Title: "One"}}, nil }
	})
	s.live.Seed(key, "u1", "a1")
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u2", "two"), "Prefer", "respond-async"))
	s.live.Start(key, "r1", "a2")
	s.live.Say(key, "half")
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u3", "three"), "Prefer", "respond-async"))

	var list []uimessage.Message
	stdtest.Must(t, json.Unmarshal([]byte(readAll(t, s.do(t, "GET", "/api/chat/c1", ""))), &list))
	stdtest.Diff(t, "history", []string{"u1", "a1", "u2", "u3"}, idsOf(list))
	var view struct {
		Messages, Waiting []uimessage.Message
		Running           bool
	}
	stdtest.Must(t, json.Unmarshal([]byte(readAll(t, s.do(t, "GET", "/api/chat/c1/view", ""))), &view))
	if diff := cmp.Diff([]string{"u1", "a1", "u2", "a2"}, idsOf(view.Messages)); diff != "" || !view.Running || len(view.Waiting) != 1 {
		t.Errorf("view %v (-want +got):\n%s", view, diff)
	}
	for _, body := range []string{"", `{"all":true}`} {
		if got := s.do(t, "POST", "/api/chat/c1/stop", body); got.StatusCode != 200 {
			t.Errorf("stop: got %d", got.StatusCode)
		}
	}
	stdtest.Diff(t, "stops", []bool{false, true}, s.live.Stops)
	if got := readAll(t, s.do(t, "GET", "/api/info", "")); !strings.Contains(got, `"demo":true`) || !strings.Contains(got, "show streaming") {
		t.Errorf("info: %s", got)
	}
	if got := readAll(t, s.do(t, "GET", "/api/info", "", "Accept-Language", "zh-CN,zh;q=0.9")); !strings.Contains(got, "流式演示") {
		t.Errorf("info in Chinese: %s", got)
	}
	if got := readAll(t, s.do(t, "GET", "/api/chats", "")); !strings.Contains(got, `"title":"One"`) {
		t.Errorf("chats: %s", got)
	}
	wantStatus(t, s.do(t, "GET", "/api/chat/other", ""), http.StatusNotFound, "not_found")
}

func idsOf(list []uimessage.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

// A message that began and ended before the watch started is found in the history.
func TestPostWhoseFramesWereMissed(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Heartbeat = 20 * time.Millisecond })
	stream := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi")))
	s.live.Next(t)
	s.live.Deaf = true
	s.live.Start(key, "r1", "a1")
	s.live.End(key, true, "done")
	stream.want(`data: {"type":"start","messageId":"a1"`+`,"messageMetadata":{"chatKey":"web-chat-c1","runId":"r1","demo":true,"result":"done","fates":[{"id":"u1","fate":"answered","runId":"r1"}]}}`,
		`data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
}

func TestResumeWhoseFramesWereMissed(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Heartbeat = 20 * time.Millisecond })
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "hi"), "Prefer", "respond-async"))
	stream := newSSE(t, s.do(t, "GET", "/api/chat/c1/stream", ""))
	s.live.Deaf = true
	s.live.Start(key, "r1", "a1")
	s.live.End(key, true, "done")
	stream.want(`data: [DONE]`, "")
}
