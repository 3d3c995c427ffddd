package web

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func viewFixture(ids ...string) platform.ChatView {
	l := platformtest.NewLive()
	l.Seed("web-chat-x", ids...)
	v, err := l.History(context.Background(), "web-chat-x")
	if err != nil {
		return platform.ChatView{}
	}
	return v
}

func TestDecide(t *testing.T) {
	busyView := viewFixture("u1", "a1")
	busyView.Running = true
	queued := viewFixture("u1")
	queued.Running = true
	queued.Waiting = []uimessage.Message{{ID: "u2", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "wait"}}}}
	user := func(id, text string) string {
		return `{"id":"x","messages":[{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}],"trigger":"submit-message"`
	}
	said := func(id, text string) string {
		return `{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}`
	}
	pictured := func(id, text string) string {
		return `{"id":"` + id + `","role":"user","parts":[{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AA=="},{"type":"text","text":"` + text + `"}]}`
	}
	withFile := func(v platform.ChatView) platform.ChatView {
		v.Messages[0].Parts = append(v.Messages[0].Parts, uimessage.Data{Name: "file"})
		return v
	}
	answered := func(id string) string { return `{"id":"` + id + `","role":"assistant","parts":[]}` }
	regenerate := func(list ...string) string {
		return `{"id":"x","messages":[` + strings.Join(list, ",") + `],"trigger":"regenerate-message"}`
	}
	tests := []struct {
		name, body string
		view       platform.ChatView
		do         request.Action
		turn, keep string
		rewind     bool
		refusal    string
	}{
		{"new", user("u9", "hi") + `}`, viewFixture("u1", "a1"), request.New, "u9", "", false, ""},
		{"new in an empty chat", user("u9", "hi") + `}`, platform.ChatView{}, request.New, "u9", "", false, ""},
		{"new during a run", user("u9", "hi") + `}`, busyView, request.New, "u9", "", false, ""},
		{"without id", user("", "hi") + `}`, viewFixture("u1"), request.New, "", "", false, ""},
		{"last message only", `{"id":"x","message":{"id":"u9","role":"user","parts":[{"type":"text","text":"hi"}]}}`, viewFixture("u1", "a1"), request.New, "u9", "", false, ""},
		{"repeat", user("u1", "text of u1") + `}`, viewFixture("u1", "a1"), request.Repeat, "u1", "", false, ""},
		{"repeat of an unanswered turn", user("u1", "text of u1") + `}`, viewFixture("u1"), request.Again, "u1", "", true, ""},
		{"repeat while it waits", user("u2", "wait") + `}`, queued, request.Repeat, "u2", "", false, ""},
		{"edit while it waits", user("u2", "other") + `}`, queued, 0, "", "", false, "busy"},
		{"edit", user("u2", "other") + `,"messageId":"u2"}`, viewFixture("u1", "a1", "u2", "a2"), request.Edit, "u2", "a1", true, ""},
		{"edit of the first", user("u1", "other") + `,"messageId":"u1"}`, viewFixture("u1", "a1"), request.Edit, "u1", "", true, ""},
		{"edit during a run", user("u1", "other") + `}`, busyView, 0, "", "", false, "busy"},
		{"edit of a turn that was cut", `{"id":"x","messages":[` + answered("a1") + "," + said("u2", "other") + `],"messageId":"u2"}`, viewFixture("u1", "a1"), request.Edit, "u2", "", false, ""},
		{"edit of the first turn, which was cut", user("u1", "other") + `,"messageId":"u1"}`, platform.ChatView{}, request.Edit, "u1", "", false, ""},
		{"edit of a turn that was cut, and others followed", `{"id":"x","messages":[` + answered("a1") + "," + said("u2", "other") + `],"messageId":"u2"}`, viewFixture("u1", "a1", "u3", "a3"), 0, "", "", false, "not_found"},
		{"edit of a turn that was cut, during a run", `{"id":"x","messages":[` + answered("a1") + "," + said("u2", "other") + `],"messageId":"u2"}`, busyView, 0, "", "", false, "not_found"},
		{"edit that was taken before", `{"id":"x","messages":[` + answered("a1") + "," + said("u2", "text of u2") + `],"messageId":"u2"}`, viewFixture("u1", "a1", "u2", "a2"), request.Repeat, "u2", "", false, ""},
		{"regenerate a turn that was cut", regenerate(answered("a1"), said("u2", "text of u2")), viewFixture("u1", "a1"), request.Edit, "u2", "a1", true, ""},
		{"regenerate the first turn, which was cut", regenerate(said("u1", "text of u1")), platform.ChatView{}, request.Edit, "u1", "", false, ""},
		{"edit of a compacted turn", user("u0", "other") + `,"messageId":"u0"}`, viewFixture("u1", "a1"), 0, "", "", false, "not_found"},
		{"id of an answer", user("a1", "mine") + `}`, viewFixture("u1", "a1"), 0, "", "", false, "id_taken"},
		{"nothing new", `{"id":"x","messages":[{"id":"a0","role":"assistant","parts":[]}]}`, viewFixture("u1", "a1"), request.Nothing, "", "", false, ""},
		{"regenerate", `{"id":"x","messages":[{"id":"u1","role":"user","parts":[]}],"trigger":"regenerate-message"}`, viewFixture("u1", "a1"), request.Again, "u1", "", true, ""},
		{"regenerate one", `{"id":"x","messages":[],"trigger":"regenerate-message","messageId":"a1"}`, viewFixture("u1", "a1", "u2", "a2"), request.Again, "u1", "", true, ""},
		{"regenerate by its question", `{"id":"x","messages":[],"trigger":"regenerate-message","messageId":"u2"}`, viewFixture("u1", "a1", "u2", "a2"), request.Again, "u2", "a1", true, ""},
		{"regenerate the second of two answers", `{"id":"x","messages":[],"trigger":"regenerate-message","messageId":"a2"}`, viewFixture("u1", "a1", "a2"), request.Again, "u1", "", true, ""},
		{"regenerate with other words", regenerate(said("u1", "other")), viewFixture("u1", "a1"), request.Edit, "u1", "", true, ""},
		{"regenerate a later turn with other words", regenerate(said("u1", "text of u1"), answered("a1"), said("u2", "other")), viewFixture("u1", "a1", "u2", "a2"), request.Edit, "u2", "a1", true, ""},
		{"regenerate with other words in an earlier turn", regenerate(said("u1", "other"), answered("a1"), said("u2", "text of u2")), viewFixture("u1", "a1", "u2", "a2"), request.Edit, "u1", "", true, ""},
		{"regenerate with other words in an earlier turn with files", regenerate(pictured("u1", "other"), answered("a1"), said("u2", "text of u2")), withFile(viewFixture("u1", "a1", "u2", "a2")), 0, "", "", false, "files_stay"},
		{"regenerate after a turn with files", regenerate(pictured("u1", "text of u1"), answered("a1"), said("u2", "text of u2")), withFile(viewFixture("u1", "a1", "u2", "a2")), request.Again, "u2", "a1", true, ""},
		{"regenerate after a turn whose files the client does not show", regenerate(said("u1", "text of u1"), answered("a1"), said("u2", "text of u2")), withFile(viewFixture("u1", "a1", "u2", "a2")), request.Again, "u2", "a1", true, ""},
		{"regenerate the same words", regenerate(said("u1", "text of u1"), answered("a1"), said("u2", "text of u2")), viewFixture("u1", "a1", "u2", "a2"), request.Again, "u2", "a1", true, ""},
		{"regenerate a message of another id", regenerate(said("u1", "text of u1"), answered("a1"), said("u7", "other")), viewFixture("u1", "a1", "u2", "a2"), request.Edit, "u7", "a1", true, ""},
		{"regenerate an unknown message alone", regenerate(said("u7", "other")), viewFixture("u1", "a1"), 0, "", "", false, "not_found"},
		{"regenerate with a part that people cannot send", regenerate(`{"id":"u7","role":"user","parts":[{"type":"data-x","data":1}]}`), viewFixture("u1", "a1"), 0, "", "", false, "bad_part"},
		{"regenerate other words during a run", regenerate(said("u1", "other")), busyView, 0, "", "", false, "busy"},
		{"regenerate what is not there", `{"id":"x","messages":[],"trigger":"regenerate-message","messageId":"a9"}`, viewFixture("u1", "a1"), 0, "", "", false, "not_found"},
		{"regenerate in an empty chat", `{"id":"x","messages":[],"trigger":"regenerate-message"}`, platform.ChatView{}, 0, "", "", false, "not_found"},
		{"regenerate during a run", `{"id":"x","messages":[],"trigger":"regenerate-message"}`, busyView, 0, "", "", false, "busy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, refusal := request.ParseChat([]byte(tt.body))
			if refusal != nil {
				t.Fatalf("parse: %+v", refusal)
			}
			got, refusal := request.Decide(req, tt.view)
			if refusal != nil || tt.refusal != "" {
				if refusal == nil || refusal.Code != tt.refusal {
					t.Fatalf("got refusal %+v, want %q", refusal, tt.refusal)
				}
				return
			}
			if got.Do != tt.do || got.Turn != tt.turn || got.Keep != tt.keep || got.Rewind != tt.rewind {
				t.Errorf("got %+v, want do %d turn %q keep %q rewind %v", got, tt.do, tt.turn, tt.keep, tt.rewind)
			}
		})
	}
}

func TestParseChatRefuses(t *testing.T) {
	tests := []struct{ name, body, code string }{
		{"no JSON", `x`, "bad_json"},
		{"a list", `[]`, "bad_json"},
		{"no message", `{"id":"x","messages":[]}`, "no_message"},
		{"null message", `{"id":"x","messages":[null]}`, "no_message"},
		{"message of another kind", `{"id":"x","messages":[7]}`, "bad_message"},
		{"trigger", `{"id":"x","messages":[],"trigger":"resume"}`, "bad_trigger"},
		{"system", `{"id":"x","messages":[{"id":"1","role":"system","parts":[]}]}`, "bad_role"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, refusal := request.ParseChat([]byte(tt.body)); refusal == nil || refusal.Code != tt.code {
				t.Errorf("got %+v, want %s", refusal, tt.code)
			}
		})
	}
}

// Only texts and files are accepted: nothing that claims a role, a result or an approval.
func TestWordsOf(t *testing.T) {
	tests := []struct {
		name, parts string
		want        request.Words
		code        string
	}{
		{"text", `[{"type":"text","text":" hi ","providerMetadata":{"x":1},"extra":2}]`, request.Words{Text: " hi "}, ""},
		{
			"files before text",
			`[{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AAAA","filename":"a.png"},{"type":"text","text":"see"}]`,
			request.Words{Text: "see", Parts: []uimessage.Part{uimessage.File{MediaType: "image/png", URL: "data:image/png;base64,AAAA", Filename: uimessage.Some("a.png")}}, At: 1},
			"",
		},
		{"two texts stay two", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, request.Words{Text: "a", Parts: []uimessage.Part{uimessage.Text{Text: "b"}}}, ""},
		{"remote file", `[{"type":"file","mediaType":"image/png","url":"http://169.254.169.254/"}]`, request.Words{}, "remote_file"},
		{"tool result", `[{"type":"text","text":"a"},{"type":"tool-x","toolCallId":"1","state":"output-available","input":{},"output":"ok"}]`, request.Words{}, "bad_part"},
		{"data", `[{"type":"data-x","data":1}]`, request.Words{}, "bad_part"},
		{"unknown", `[{"type":"evil"}]`, request.Words{}, "bad_part"},
		{"blank", `[{"type":"text","text":" \n"}]`, request.Words{}, "empty"},
		{"blank with a file", `[{"type":"text","text":" "},{"type":"file","mediaType":"text/plain","url":"data:,x"}]`, request.Words{
			Parts: []uimessage.Part{uimessage.Text{Text: " "}, uimessage.File{MediaType: "text/plain", URL: "data:,x"}},
		}, ""},
		{"none", `[]`, request.Words{}, "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := uimessage.Decode([]byte(`{"id":"1","role":"user","parts":` + tt.parts + `}`))
			stdtest.Must(t, err)
			got, refusal := request.WordsOf("c", m)
			if refusal != nil && refusal.Code != tt.code || refusal == nil && tt.code != "" {
				t.Fatalf("got refusal %+v, want %q", refusal, tt.code)
			}
			stdtest.Diff(t, "words", tt.want, got, cmp.AllowUnexported(request.Words{}))
		})
	}
}

func TestTooDeep(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for body, want := range map[string]bool{
		deep: true, deep[1 : len(deep)-1]: false,
		`{"a":"` + strings.Repeat("[", 500) + `"}`:  false,
		`"\"` + strings.Repeat("[", 500) + `"`:      false,
		strings.Repeat(`[],`, 500):                  false,
		`{"a":"x"` + strings.Repeat(`,"b":[[`, 100): true,
	} {
		if got := tooDeep([]byte(body)); got != want {
			t.Errorf("%.40s: got %v, want %v", body, got, want)
		}
	}
}

// Any body is either refused or decided; what is accepted contains only text and files.
func FuzzChatBody(f *testing.F) {
	f.Add([]byte(submit("x", "u1", "hi")))
	f.Add([]byte(`{"id":"x","messages":[{"id":"u1","role":"user","parts":[{"type":"file","mediaType":"a","url":"data:,"}]}],"messageId":"u1"}`))
	f.Add([]byte(`{"id":"x","messages":[],"trigger":"regenerate-message","messageId":"a1"}`))
	view := viewFixture("u1", "a1", "u2", "a2")
	f.Fuzz(func(t *testing.T, body []byte) {
		if tooDeep(body) {
			return
		}
		req, refusal := request.ParseChat(body)
		if refusal != nil {
			return
		}
		pl, refusal := request.Decide(req, view)
		if refusal != nil {
			return
		}
		var in platform.Inbound
		if pl.Fill(&in, ""); pl.Do != request.Nothing && (in.TurnID == "" || in.IngressID == "") {
			t.Errorf("a plan without ids: %+v", pl)
		}
		for _, part := range in.Parts {
			if _, ok := part.(uimessage.Text); ok {
				continue
			}
			if file, ok := part.(uimessage.File); !ok || !strings.HasPrefix(file.URL, "data:") {
				t.Errorf("a part of type %q came in: %+v", part.Type(), part)
			}
		}
	})
}
