package prompt

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func says(role modelmessage.Role, text string) modelmessage.Message {
	return modelmessage.Message{Role: role, Parts: []modelmessage.Part{modelmessage.Text{Text: text}}}
}

func called(id string, o modelmessage.Output) []modelmessage.Message {
	return []modelmessage.Message{
		{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: id, ToolName: "look", Input: json.RawMessage("{}")}}},
		{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: id, ToolName: "look", Output: o}}},
	}
}

func jsonOutput(n int, whole string) modelmessage.Output {
	b, _ := json.Marshal(map[string]any{"head": strings.Repeat("x", n), "whole": whole}) // plain members
	return modelmessage.Output{Type: modelmessage.OutputJSON, JSON: b}
}

// outline is a short form of a conversation.
func outline(list []modelmessage.Message) []string {
	var out []string
	for _, m := range list {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case modelmessage.Text:
				out = append(out, string(m.Role)+" "+strings.TrimRight(p.Text, "."))
			case modelmessage.ToolCall:
				out = append(out, "call "+p.ToolCallID)
			case modelmessage.ToolResult:
				line := "result " + p.ToolCallID
				if text := p.Output.Text + string(p.Output.JSON); strings.Contains(text, noteLeft) {
					line += " left out"
					if strings.Contains(text, `"whole":"results/`) {
						line += ", whole kept"
					}
				}
				out = append(out, line)
			default:
			}
		}
	}
	return out
}

func TestTrim(t *testing.T) {
	long := strings.Repeat(".", 2000)
	user, bot := modelmessage.RoleUser, modelmessage.RoleAssistant
	var old []modelmessage.Message
	old = append(old, says(user, "one"))
	old = append(old, called("c1", jsonOutput(12_000, "results/1.txt"))...)
	old = append(old, says(bot, "first"), says(user, "two"+long), says(bot, "second"+long), says(user, "three"))
	under := append(append([]modelmessage.Message(nil), old...), called("c2", modelmessage.Output{Type: modelmessage.OutputText, Text: strings.Repeat("y", 30_000)})...)
	merged := append(append([]modelmessage.Message(nil), old...), says(user, "four"), says(user, "five"))
	for _, tt := range []struct {
		name          string
		list          []modelmessage.Message
		second, third []string // nil if nothing is left to try
	}{
		{
			"outputs first, then turns", old,
			[]string{"user one", "call c1", "result c1 left out, whole kept", "assistant first", "user two", "assistant second", "user three"},
			[]string{"user three"},
		},
		{
			"the newest outcome is kept as long as it can be", under,
			[]string{"user three", "call c2", "result c2 left out"},
			nil,
		},
		{
			"turns that wait together stay together", merged,
			[]string{"user one", "call c1", "result c1 left out, whole kept", "assistant first", "user two", "assistant second", "user three", "user four", "user five"},
			[]string{"user three", "user four", "user five"},
		},
		{"one turn has nothing to leave out", []modelmessage.Message{says(user, "hi"+long)}, nil, nil},
		{"nothing", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := outline(tt.list)
			var trim Trim
			for i, want := range [][]string{tt.second, tt.third} {
				next, ok := trim.Further(tt.list, []int{2, 8}[i])
				if ok != (want != nil) {
					t.Fatalf("try %d: something to leave out: %t", i+2, ok)
				}
				if !ok {
					return
				}
				trim = next
				stdtest.Diff(t, fmt.Sprintf("try %d", i+2), want, outline(trim.Apply(tt.list)))
			}
			if diff := cmp.Diff(before, outline(tt.list)); diff != "" {
				t.Errorf("the conversation itself changed:\n%s", diff)
			}
		})
	}
}

// For any conversation: the result is a request that a strict provider accepts, the newest turn is
// unchanged, the request is smaller, and later requests of the run extend it.
func TestRL5TrimKeepsRequestsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		text := func() string {
			n++
			return fmt.Sprint(n, " ", strings.Repeat("w", rapid.IntRange(0, 600).Draw(t, "size")))
		}
		step := func() []modelmessage.Message {
			n++
			o := jsonOutput(rapid.IntRange(0, 4000).Draw(t, "output"), "results/x")
			if rapid.Bool().Draw(t, "as text") {
				o = modelmessage.Output{Type: modelmessage.OutputErrorText, Text: strings.Repeat("字", rapid.IntRange(1, 1500).Draw(t, "error"))}
			}
			return called(fmt.Sprint("c", n), o)
		}
		var list []modelmessage.Message
		for range rapid.IntRange(0, 8).Draw(t, "turns") {
			list = append(list, says(modelmessage.RoleUser, text()))
			for range rapid.IntRange(0, 3).Draw(t, "steps") {
				list = append(list, step()...)
			}
			if rapid.Bool().Draw(t, "answered") {
				list = append(list, says(modelmessage.RoleAssistant, text()))
			}
		}
		newest := says(modelmessage.RoleUser, text())
		list = append(list, newest)
		for range rapid.IntRange(0, 3).Draw(t, "steps under way") {
			list = append(list, step()...)
		}
		var trim Trim
		for try := range 2 {
			next, ok := trim.Further(list, []int{2, 8}[try])
			if !ok {
				return
			}
			sent := next.Apply(list)
			if err := modeltest.Strict(model.Request{Messages: sent}); err != nil {
				t.Fatalf("try %d: %v", try+2, err)
			}
			if size(sent) >= size(trim.Apply(list)) {
				t.Fatalf("try %d has %d bytes, the one before %d", try+2, size(sent), size(trim.Apply(list)))
			}
			if sent[0].Role != modelmessage.RoleUser || !strings.Contains(fmt.Sprint(sent), fmt.Sprint(newest.Parts)) {
				t.Fatal("the newest turn is not as it was")
			}
			trim = next
			grown := trim.Apply(append(append([]modelmessage.Message(nil), list...), step()...))
			if !reflect.DeepEqual(sent, grown[:len(sent)]) {
				t.Fatalf("the next request does not extend this one:\n%s", cmp.Diff(sent, grown[:len(sent)]))
			}
		}
	})
}
