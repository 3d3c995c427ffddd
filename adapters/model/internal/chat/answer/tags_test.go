package answer

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// heardOf returns the result of a text that arrives in these pieces, with reasoning in brackets.
func heardOf(pieces []string, names ...string) string {
	f := &tagFilter{names: tagNames(names)}
	events := []model.Event{{Kind: model.EventTextStart, ID: "t"}}
	for _, p := range pieces {
		events = append(events, model.Event{Kind: model.EventTextDelta, ID: "t", Delta: p})
	}
	var b strings.Builder
	for _, e := range append(events, model.Event{Kind: model.EventTextEnd, ID: "t"}) {
		for _, e := range f.filter([]model.Event{e}) {
			switch e.Kind {
			case model.EventReasoningStart:
				b.WriteString("[")
			case model.EventReasoningEnd:
				b.WriteString("]")
			case model.EventTextStart:
				b.WriteString("{")
			case model.EventTextEnd:
				b.WriteString("}")
			default:
				b.WriteString(e.Delta)
			}
		}
	}
	return b.String()
}

// Text between tags is reasoning, as in extractReasoningMiddleware of the SDK, in whatever pieces
// it arrives.
func TestReasoningTags(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"before the answer", "<think>hm</think>Yes.", "[hm]{Yes.}"},
		{"none", "a < b and c > d", "{a < b and c > d}"},
		{"alone", "<think>hm</think>", "[hm]"},
		{"empty", "<think></think>Yes.", "{Yes.}"},
		{"never closed", "<think>hm", "[hm]"},
		{"twice", "<think>a</think>b<think>c</think>d", "[a]{b[\nc]\nd}"},
		{"within the answer", "a<think>b</think>c", "{a[b]\nc}"},
		{"another tag within", "<think>a<b></think>c", "[a<b>]{c}"},
		{"half a tag at the end", "Yes.<thi", "{Yes.<thi}"},
		{"half a closing tag at the end", "<think>a</thi", "[a</thi]"},
		{"a longer name", "<thinking>a</thinking>b", "[a]{b}"},
		{"opened by the prompt", "hm <b></think>Yes.</think>", "[hm <b>]{Yes.</think>}"},
		{"opened by the prompt and closed at once", "</think>Yes.", "{Yes.}"},
		{"opened by the prompt and closed at the end", "hm</think>", "[hm]"},
		{"opened by the prompt, then twice", "a</think>b<think>c</think>d", "[a]{b[\nc]\nd}"},
		{"the other one closes nothing", "<think>a</thinking>b</think>c", "[a</thinking>b]{c}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.text); size++ {
				var pieces []string
				for rest := tt.text; rest != ""; {
					n := min(size, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				if got := heardOf(pieces, "think", "<thinking>"); got != tt.want {
					t.Errorf("in pieces of %d: %q, want %q", size, got, tt.want)
				}
			}
		})
	}
	if got := heardOf([]string{"<think>a</think>b"}); got != "{<think>a</think>b}" {
		t.Errorf("without the setting: %q", got)
	}
}

// FuzzReasoningTags checks that no character of an answer is lost, however it is cut.
func FuzzReasoningTags(f *testing.F) {
	f.Add("<think>hm</think>Yes.", 3)
	f.Add("a</think>b<think", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, size%16)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got, whole := heardOf(pieces, "think"), heardOf([]string{text}, "think"); got != whole {
			t.Errorf("in pieces %q, whole %q", got, whole)
		}
	})
}
