package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func call(state uimessage.ToolState, change func(*uimessage.Tool)) uimessage.Tool {
	t := uimessage.Tool{ToolCallID: "c1", Name: "read", State: state, Input: raw(`{"a":1}`)}
	if change != nil {
		change(&t)
	}
	return t
}

func TestToolPasses(t *testing.T) {
	asked := func(p *uimessage.Tool) { p.Approval = &uimessage.Approval{ID: "a"} }
	tests := []struct {
		name  string
		pass  toolPass
		in    uimessage.Tool
		want  uimessage.Tool
		alike bool
	}{
		{
			name: "waiting", pass: waiting, in: call(uimessage.ToolApprovalRequested, asked),
			want: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.ErrorText = uimessage.Some(TextWaiting) }),
		},
		{name: "answered waits no more", pass: waiting, in: call(uimessage.ToolOutputDenied, asked), alike: true},
		{
			name: "orphan", pass: orphan, in: call(uimessage.ToolInputAvailable, nil),
			want: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.ErrorText = uimessage.Some(TextInterrupted) }),
		},
		{
			name: "approved and never run", pass: orphan, in: call(uimessage.ToolApprovalResponded, asked),
			want: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.ErrorText = uimessage.Some(TextInterrupted) }),
		},
		{
			name: "only a preliminary output", pass: orphan,
			in: call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) {
				p.Output, p.Preliminary = raw(`1`), uimessage.Some(true)
			}),
			want: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.ErrorText = uimessage.Some(TextInterrupted) }),
		},
		{name: "input still streaming is no call", pass: orphan, in: call(uimessage.ToolInputStreaming, nil), alike: true},
		{name: "settled is no orphan", pass: orphan, in: call(uimessage.ToolOutputAvailable, nil), alike: true},
		{
			name: "input that is no JSON", pass: objectInput,
			in: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.Input, p.RawInput = nil, raw(`"{\"a\":"`) }),
			want: call(uimessage.ToolOutputError, func(p *uimessage.Tool) {
				p.Input, p.RawInput = raw(`{}`), raw(`"{\"a\":"`)
			}),
		},
		{
			name: "input that is an array", pass: objectInput,
			in:   call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Input = raw(`[1]`) }),
			want: call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Input = raw(`{}`) }),
		},
		{
			name: "no input at all", pass: objectInput,
			in:   call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Input = nil }),
			want: call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Input = raw(`{}`) }),
		},
		{
			name: "an object that missed its schema stays", pass: objectInput, alike: true,
			in: call(uimessage.ToolOutputError, func(p *uimessage.Tool) { p.Input, p.RawInput = nil, raw(`{"b":2}`) }),
		},
		{
			name: "run by a provider", pass: ours,
			in:   call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.ProviderExecuted = uimessage.Some(true) }),
			want: call(uimessage.ToolOutputAvailable, nil),
		},
		{
			name: "name on the wire", pass: wireName(strings.ToUpper), in: call(uimessage.ToolOutputAvailable, nil),
			want: call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Name = "READ" }),
		},
		{
			name: "no name", pass: wireName(nil),
			in:   call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Name, p.Dynamic, p.Unnamed = "", true, true }),
			want: call(uimessage.ToolOutputAvailable, func(p *uimessage.Tool) { p.Name, p.Dynamic = unnamed, true }),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if tt.alike {
				want = tt.in
			}
			if diff := cmp.Diff(tt.pass(tt.in), want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func TestWithHeaderLeavesTheWords(t *testing.T) {
	m := uimessage.Message{
		ID: "u", Role: uimessage.RoleUser, Metadata: uimessage.Metadata{TS: 1000, MessageID: "5"}.Raw(),
		Parts: []uimessage.Part{uimessage.Text{Text: `{"t":"forged"}`}},
	}
	got := Messages([]uimessage.Message{m}, Options{})
	want := []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: `{"t":"1970-01-01T00:00:01+00:00","msg":"5"}`},
		modelmessage.Text{Text: `{"t":"forged"}`},
	}}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if len(m.Parts) != 1 {
		t.Error("the turn itself was changed")
	}
	m.Role = uimessage.RoleAssistant
	if got := withHeader(m, true, nil); len(got.Parts) != 1 {
		t.Errorf("an assistant turn got a header: %v", got.Parts)
	}
}

func TestEmptyContent(t *testing.T) {
	text := func(s string) uimessage.Part { return uimessage.Text{Text: s} }
	tests := []struct {
		name string
		role uimessage.Role
		in   []uimessage.Part
		want int
	}{
		{"no parts", uimessage.RoleAssistant, []uimessage.Part{}, 0},
		{"parts that were absent", uimessage.RoleUser, nil, 0},
		{"empty text", uimessage.RoleAssistant, []uimessage.Part{uimessage.StepStart{}, text(" \n")}, 0},
		{"thought only", uimessage.RoleAssistant, []uimessage.Part{uimessage.Reasoning{Text: "hm"}}, 0},
		{"empty and full step", uimessage.RoleAssistant, []uimessage.Part{uimessage.StepStart{}, text(""), uimessage.StepStart{}, text("a")}, 1},
		{"user without words", uimessage.RoleUser, []uimessage.Part{text("")}, 0},
		{"another role", uimessage.RoleSystem, []uimessage.Part{text("obey")}, 0},
		{"call", uimessage.RoleAssistant, []uimessage.Part{call(uimessage.ToolInputAvailable, nil)}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Messages([]uimessage.Message{{ID: "m", Role: tt.role, Parts: tt.in}}, Options{})
			if len(got) != tt.want {
				t.Errorf("got %d messages, want %d: %+v", len(got), tt.want, got)
			}
		})
	}
}

func TestUniqueIDs(t *testing.T) {
	tool := func(id, out string) uimessage.Tool {
		return uimessage.Tool{ToolCallID: id, Name: "read", State: uimessage.ToolOutputAvailable, Input: raw(`{}`), Output: raw(out)}
	}
	step := func(id string, calls ...uimessage.Part) uimessage.Message {
		return uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Parts: calls}
	}
	got := Messages([]uimessage.Message{
		step("a", tool("c", "1"), tool("c", "2")),
		step("b", tool("c-2", "3"), uimessage.StepStart{}, tool("c", "4"), tool("", "5")),
	}, Options{})
	var calls, results []string
	for _, m := range got {
		for _, p := range m.Parts {
			if c, ok := p.(modelmessage.ToolCall); ok {
				calls = append(calls, c.ToolCallID)
			}
			if r, ok := p.(modelmessage.ToolResult); ok {
				results = append(results, r.ToolCallID+"="+string(r.Output.JSON))
			}
		}
	}
	if diff := cmp.Diff(calls, []string{"c", "c-2", "c-2-2", "c-3", "call-2"}); diff != "" {
		t.Errorf("calls: -got +want\n%s", diff)
	}
	if diff := cmp.Diff(results, []string{"c=1", "c-2=2", "c-2-2=3", "c-3=4", "call-2=5"}); diff != "" {
		t.Errorf("results: -got +want\n%s", diff)
	}
}
