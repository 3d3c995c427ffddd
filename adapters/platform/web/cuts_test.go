package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Readers whose streams were cut get the message later, once each, until a minute after its end.
func TestMissed(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	ended := func(id string, ago time.Duration) uimessage.Message {
		return uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Metadata: uimessage.Metadata{TS: now.Add(-ago).UnixMilli()}.Append(nil)}
	}
	user := func(id string) uimessage.Message { return uimessage.Message{ID: id, Role: uimessage.RoleUser} }
	view := platform.ChatView{Messages: []uimessage.Message{user("u1"), ended("a1", 2*time.Minute), user("u2"), ended("a2", 30*time.Second)}}
	running := platform.ChatView{Messages: view.Messages, Running: true}
	tests := []struct {
		name string
		view platform.ChatView
		cut  cut
		want []string
	}{
		{"by its id", view, cut{message: "a2", at: now.Add(-5 * time.Minute)}, []string{"a2"}},
		{"by its turn", view, cut{turn: "u2", at: now.Add(-5 * time.Minute)}, []string{"a2"}},
		{"ended long ago", view, cut{message: "a1", at: now.Add(-5 * time.Minute)}, nil},
		{"cut a moment ago", view, cut{message: "a1", at: now.Add(-5 * time.Second)}, []string{"a1"}},
		{"under way", running, cut{message: "a2", at: now}, nil},
		{"another one", view, cut{message: "a9", at: now}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, m := range missed(tt.view, []cut{tt.cut}, now) {
				got = append(got, m.ID)
			}
			stdtest.Diff(t, "messages", tt.want, got)
		})
	}
}

func TestCutsAreCountedAndBounded(t *testing.T) {
	c, now := newCuts(), time.Now()
	c.note("web-chat-x", "a1", "u1", now)
	c.note("web-chat-x", "a1", "", now) // another tab, which has resumed
	if n := len(c.take("web-chat-x")); n != 1 {
		t.Errorf("the first reader lacks %d messages, want 1", n)
	}
	c.takeTurn("web-chat-x", "u1") // the other one sends its message again
	if n := len(c.take("web-chat-x")); n != 0 {
		t.Errorf("a third reader lacks %d messages, want none", n)
	}
	for i := range 2 * maxCutChats {
		c.note(messages.ChatKey(fmt.Sprintf("web-chat-%d", i)), "a", "", now.Add(time.Duration(i)))
	}
	for i := range 3 * maxCuts {
		c.note("web-chat-long", fmt.Sprintf("a%d", i), "", now.Add(time.Hour))
	}
	if len(c.chats) > maxCutChats || len(c.chats["web-chat-long"]) > maxCuts {
		t.Errorf("%d chats and %d messages of one are remembered", len(c.chats), len(c.chats["web-chat-long"]))
	}
}

// If a message's text became obsolete, the stream ends with a sentence, and resuming sends the
// complete message.
func TestVoidWords(t *testing.T) {
	s := newServer(t, nil)
	go func() {
		in := s.live.Next(t)
		s.live.Start(in.ChatKey, "r1", "a1")
		s.live.Chunk(in.ChatKey, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "half"})
		s.live.Restart(in.ChatKey)
	}()
	lines := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "m1", "hi"), "Accept", "*/*", "Accept-Language", "zh"))
	lines.want(`data: {"type":"start","messageId":"a1"}`, `data: {"type":"start-step"}`, `data: {"type":"text-start","id":"t"}`,
		`data: {"type":"text-delta","id":"t","delta":"half"}`, `data: {"type":"error","errorText":"模型的回答中途断开，正在重新生成。请刷新聊天查看。"}`,
		`data: {"type":"finish","finishReason":"error"}`, `data: [DONE]`, "")
	s.live.Say(key, "whole")
	s.live.End(key, true, "done")
	again := newSSE(t, s.do(t, "GET", "/api/chat/c1/stream", ""))
	if got := again.next(); !strings.HasPrefix(got, `data: {"type":"start","messageId":"a1"`) {
		t.Errorf("got %s, want the start of the message", got)
	}
	again.want(`data: {"type":"start-step"}`, `data: {"type":"text-start","id":"replay-1"}`, `data: {"type":"text-delta","id":"replay-1","delta":"whole"}`,
		`data: {"type":"text-end","id":"replay-1"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
	if got := s.do(t, "GET", "/api/chat/c1/stream", "").StatusCode; got != 204 {
		t.Errorf("resumed once more: got %d, want 204", got)
	}
}
