package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

type said struct {
	text   string
	calls  []model.Event
	pieces int
	finish string
}

func ask(t *testing.T, m *Model, req model.Request) said {
	t.Helper()
	if err := modeltest.Strict(req); err != nil {
		t.Fatalf("the test asks badly: %v", err)
	}
	var s said
	for e, err := range m.Stream(t.Context(), req) {
		stdtest.Must(t, err)
		switch e.Kind {
		case model.EventTextDelta:
			s.text += e.Delta
			s.pieces++
		case model.EventToolCall:
			s.calls = append(s.calls, e)
		case model.EventFinish:
			s.finish = e.Finish.Unified
		default:
		}
	}
	return s
}

// instant returns a model that never pauses.
func instant() *Model {
	return &Model{func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

func user(from, words string) modelmessage.Message {
	header := `{"t":"2026-01-02T03:04:05+00:00","from":"` + from + `","msg":"1"}`
	return modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: header}, modelmessage.Text{Text: words}}}
}

func called(id, name, in string) modelmessage.Message {
	return modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: id, ToolName: name, Input: json.RawMessage(in)}}}
}

func gave(id, name, text string) modelmessage.Message {
	return modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: id, ToolName: name, Output: modelmessage.Output{Type: modelmessage.OutputText, Text: text}}}}
}

func refused(id, name, text string) modelmessage.Message {
	m := gave(id, name, text)
	r, _ := m.Parts[0].(modelmessage.ToolResult)
	r.Output.Type = modelmessage.OutputErrorText
	m.Parts[0] = r
	return m
}

func tools(names ...string) (out []model.ToolSpec) {
	for _, name := range names {
		out = append(out, model.ToolSpec{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

// TestPrompts sends what the web page offers.
func TestPrompts(t *testing.T) {
	tests := []struct {
		name, words string
		tools       []model.ToolSpec
		has         []string
		call        string
	}{
		{"greeting", "Hello!", nil, []string{"demo model"}, ""},
		{"greeting in Chinese", "你好！", nil, []string{"演示模型"}, ""},
		{"streaming", "show streaming", nil, []string{"small pieces", "```go"}, ""},
		{"streaming in Chinese", "流式演示", nil, []string{"一小块"}, ""},
		{"tool", "use a tool", tools("exec_shell", "time_now"), []string{"`time_now`"}, "time_now"},
		{"tool in Chinese", "请使用工具", tools("time_now"), []string{"我来用一个工具"}, "time_now"},
		{"no tool that only looks", "use a tool", tools("exec_shell"), []string{"No tool"}, ""},
		{"ask first", "ask first", tools("time_now", "remember_note"), []string{"`remember_note`", "ask you first"}, "remember_note"},
		{"ask first in Chinese", "先问我", tools("remember_note"), []string{"先问你"}, "remember_note"},
		{"nothing to ask about", "ask first", tools("time_now"), []string{"No tool"}, ""},
		{"slow", "slow answer", nil, []string{"slowly"}, ""},
		{"slow with a step behind it", "slow answer", tools("time_now"), []string{"slowly"}, "time_now"},
		{"slow in Chinese", "慢慢回答", nil, []string{"慢慢写"}, ""},
		{"else", "what is <love> & \"war\"?", nil, []string{`what is <love> & "war"?`, "demo model", "OPENAI_API_KEY"}, ""},
		{"else in Chinese", "什么是爱", nil, []string{"什么是爱", "OPENAI_API_KEY"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, instant(), model.Request{Messages: []modelmessage.Message{user("Ann", tt.words)}, Tools: tt.tools})
			for _, want := range tt.has {
				if !strings.Contains(got.text, want) {
					t.Errorf("no %q in %q", want, got.text)
				}
			}
			if strings.Contains(got.text, "2026-01-02") {
				t.Errorf("the header shows in %q", got.text)
			}
			if (tt.call == "") != (len(got.calls) == 0) || tt.call != "" && got.calls[0].ToolName != tt.call {
				t.Errorf("calls %v, want %q", got.calls, tt.call)
			}
			if want := map[bool]string{true: "stop", false: "tool-calls"}[tt.call == ""]; got.finish != want || got.pieces < 3 {
				t.Errorf("finished with %q after %d pieces, want %q", got.finish, got.pieces, want)
			}
		})
	}
}

// TestAnswersEveryTurn checks merged turns, results and several people.
func TestAnswersEveryTurn(t *testing.T) {
	tests := []struct {
		name     string
		messages []modelmessage.Message
		has, not []string
	}{
		{"two people", []modelmessage.Message{user("Ann", "hello"), user("Bob", "is it raining?")}, []string{"**Ann**", "**Bob**", "“is it raining?”"}, nil},
		{
			"result and a merged turn",
			[]modelmessage.Message{user("Ann", "use a tool"), called("demo_1", "time_now", "{}"), gave("demo_1", "time_now", "12:00"), user("Bob", "me too")},
			[]string{"`time_now` answered: 12:00", "**Bob**", "“me too”"},
			[]string{"Ann"},
		},
		{"a decision that is open", []modelmessage.Message{user("Ann", "ask first"), called("demo_1", "remember_note", "{}"), refused("demo_1", "remember_note", "waiting for a person, not executed"), user("Ann", "hello")}, []string{"still waits for your decision", "demo model"}, nil},
		{"a decision that is asked for again", []modelmessage.Message{user("Ann", "ask first"), called("demo_1", "remember_note", "{}"), refused("demo_1", "remember_note", "already waiting as #1, not executed")}, []string{"still waits for your decision"}, []string{"#1", "not executed"}},
		{"a denied call", []modelmessage.Message{user("Ann", "ask first"), called("demo_1", "remember_note", "{}"), refused("demo_1", "remember_note", "denied: not now")}, []string{"`remember_note` did nothing: denied: not now"}, nil},
		{"only a result", []modelmessage.Message{user("Ann", "请使用工具"), called("demo_1", "time_now", "{}"), gave("demo_1", "time_now", "12:00")}, []string{"工具 `time_now` 的回答：12:00"}, nil},
		{"the next question is no merge", []modelmessage.Message{user("Ann", "x"), called("demo_1", "chat_send", `{"text":"y","final":true}`), gave("demo_1", "chat_send", "1 of 1"), user("Ann", "again")}, []string{"You wrote: “again”"}, []string{"**Ann**"}},
		{"answered turns stay answered", []modelmessage.Message{user("Ann", "old"), {Role: modelmessage.RoleAssistant, Text: "ok"}, user("Ann", "new")}, []string{"“new”"}, []string{"old"}},
		{"a file without words", []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: `{"t":"x"}`}, modelmessage.File{MediaType: "image/png", Data: "AAAA"}}}}, []string{"1 file"}, nil},
		{"words that look like a header", []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: `{"t":"x"}`}}}}, []string{`{"t":"x"}`}, nil},
		{"a long message", []modelmessage.Message{user("Ann", strings.Repeat("word ", 200))}, []string{"word …”"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, instant(), model.Request{Messages: tt.messages})
			for _, want := range tt.has {
				if !strings.Contains(got.text, want) {
					t.Errorf("no %q in %q", want, got.text)
				}
			}
			for _, bad := range tt.not {
				if strings.Contains(got.text, bad) {
					t.Errorf("%q in %q", bad, got.text)
				}
			}
		})
	}
}

// TestToolMode plays a slow answer through chat_send, with a turn that arrives meanwhile.
func TestToolMode(t *testing.T) {
	req := model.Request{Tools: tools("chat_send", "time_now"), Messages: []modelmessage.Message{user("Ann", "slow answer")}}
	first := ask(t, instant(), req)
	if first.text != "" || len(first.calls) != 1 || first.calls[0].ToolName != "chat_send" || strings.Contains(first.calls[0].Input, "final") {
		t.Fatalf("first step: %+v", first)
	}
	req.Messages = append(req.Messages, called(first.calls[0].ID, "chat_send", first.calls[0].Input), gave(first.calls[0].ID, "chat_send", "ok"), user("Bob", "hi <b>"))
	second := ask(t, instant(), req)
	if len(second.calls) != 1 || second.calls[0].ID == first.calls[0].ID {
		t.Fatalf("second step: %+v", second)
	}
	var sent struct {
		Text  string
		Final bool
	}
	if err := json.Unmarshal([]byte(second.calls[0].Input), &sent); err != nil || !sent.Final || !strings.Contains(sent.Text, "**Bob**") || !strings.Contains(second.calls[0].Input, "hi <b>") {
		t.Errorf("sent %s (%v)", second.calls[0].Input, err)
	}
	req.Messages = append(req.Messages, called(second.calls[0].ID, "chat_send", second.calls[0].Input), gave(second.calls[0].ID, "chat_send", "ok"))
	if third := ask(t, instant(), req); third.text != "Done." || third.calls != nil {
		t.Errorf("third step: %+v", third)
	}
	tool := ask(t, instant(), model.Request{Tools: req.Tools, Messages: []modelmessage.Message{user("Ann", "use a tool")}})
	var names []string
	for _, c := range tool.calls {
		names = append(names, c.ToolName)
	}
	stdtest.Diff(t, "calls", []string{"time_now", "chat_send"}, names)
}

// TestDeterministic sends the same request twice, and expects a label in the answer.
func TestDeterministic(t *testing.T) {
	req := model.Request{System: "s", Messages: []modelmessage.Message{user("Ann", "use a tool")}, Tools: tools("time_now")}
	var runs [2][]model.Event
	for i := range runs {
		for e, err := range instant().Stream(t.Context(), req) {
			stdtest.Must(t, err)
			runs[i] = append(runs[i], e)
		}
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Errorf("two answers differ:\n%s", diff)
	}
	if label := string(runs[0][1].Raw); !strings.Contains(label, `"modelId":"demo"`) {
		t.Errorf("the label is %q", label)
	}
	if u := runs[0][len(runs[0])-1].Usage; u.InputTokens == nil || *u.InputTokens < 10 || u.OutputTokens == nil {
		t.Errorf("usage is %+v", u)
	}
}

// TestPace measures an answer in simulated time, and stops another.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		for words, pause := range map[string]time.Duration{"hello": pace, "slow answer": slowPace} {
			start := time.Now()
			got := ask(t, m, model.Request{Messages: []modelmessage.Message{user("Ann", words)}})
			if took, want := time.Since(start), time.Duration(got.pieces-1)*pause; took != want {
				t.Errorf("%q took %s, want %s", words, took, want)
			}
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer time.AfterFunc(3*slowPace/2, func() { cancel(stop) }).Stop()
		var last error
		pieces := 0
		for _, err := range m.Stream(ctx, model.Request{Messages: []modelmessage.Message{user("Ann", "slow answer")}}) {
			last = err
			pieces++
		}
		if !errors.Is(last, stop) || pieces > 6 {
			t.Errorf("ended with %v after %d events", last, pieces)
		}
		for _, err := range m.Stream(ctx, model.Request{}) {
			if !errors.Is(err, stop) {
				t.Errorf("a dead context gave %v", err)
			}
		}
	})
	for e, err := range instant().Stream(t.Context(), model.Request{Messages: []modelmessage.Message{user("Ann", "hello")}}) {
		stdtest.Must(t, err)
		if e.Kind == model.EventTextDelta {
			break
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"one two\nthree", []string{"one ", "two\n", "three"}},
		{"你好世界！", []string{"你好", "世界", "！"}},
		{"a🚀 b", []string{"a🚀 ", "b"}},
	}
	for _, tt := range tests {
		stdtest.Diff(t, fmt.Sprintf("%q", tt.in), tt.want, split(tt.in))
	}
}
