package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// history draws conversations in which several services have answered.
type history struct {
	*rapid.T
	items int
}

func (h *history) one(of ...string) string { return rapid.SampledFrom(of).Draw(h.T, "one") }

func (h *history) some(least, most int) int { return rapid.IntRange(least, most).Draw(h.T, "some") }

// thought is one reasoning item in its parts, or reasoning of another service.
func (h *history) thought() (parts []modelmessage.Part) {
	h.items++
	id, encrypted := fmt.Sprintf("rs_%d", h.items), h.one("gAAA", "gAAA", "")
	switch h.one("ours", "ours", "ours", "anthropic", "none", "broken") {
	case "anthropic":
		return append(parts, modelmessage.Reasoning{Text: "hm", ProviderOptions: json.RawMessage(`{"anthropic":{"signature":"s"}}`)})
	case "none":
		return append(parts, modelmessage.Reasoning{Text: "hm"})
	case "broken":
		return append(parts, modelmessage.Reasoning{Text: "hm", ProviderOptions: json.RawMessage(h.one(`null`, `{"openai":null}`, `{"openai":{"itemId":1}}`, `{"openai":{"reasoningEncryptedContent":"gAAA"}}`))})
	}
	for range h.some(0, 2) {
		parts = append(parts, modelmessage.Reasoning{Text: h.one("", "hm"), ProviderOptions: metadata("itemId", id)})
	}
	return append(parts, modelmessage.Reasoning{Text: h.one("", "hm"), ProviderOptions: metadata("itemId", id, "reasoningEncryptedContent", encrypted)})
}

// step is what a model said, followed by the results of its calls.
func (h *history) step() []modelmessage.Message {
	said, results := []modelmessage.Part{}, []modelmessage.Part{}
	for range h.some(0, 4) {
		switch h.one("thought", "text", "call") {
		case "thought":
			said = append(said, h.thought()...)
		case "text":
			h.items++
			said = append(said, modelmessage.Text{Text: h.one("b", "", " "), ProviderOptions: metadata("itemId", h.one("", fmt.Sprintf("msg_%d", h.items)), "phase", h.one("", "commentary"))})
		case "call":
			h.items++
			id := h.one("call_", "functions.t:", "toolu_"+strings.Repeat("0", 80), "é|") + fmt.Sprint(h.items)
			said = append(said, modelmessage.ToolCall{ToolCallID: id, ToolName: "t", Input: json.RawMessage(h.one(`{"a": 1}`, ``, `{"a`, `[]`)), ProviderOptions: metadata("itemId", h.one("", fmt.Sprintf("fc_%d", h.items)))})
			results = append(results, modelmessage.ToolResult{ToolCallID: id, ToolName: "t", Output: rapid.SampledFrom(outputs).Draw(h.T, "output")})
		}
	}
	out := []modelmessage.Message{{Role: modelmessage.RoleAssistant, Parts: said}}
	if len(results) > 0 {
		slices.Reverse(results)
		out = append(out, modelmessage.Message{Role: modelmessage.RoleTool, Parts: results})
	}
	return out
}

var outputs = []modelmessage.Output{
	{Type: modelmessage.OutputText},
	{Type: modelmessage.OutputErrorText, Text: "no"},
	{Type: modelmessage.OutputJSON, JSON: json.RawMessage(`{"a": [1]}`)},
	{Type: modelmessage.OutputExecutionDenied},
	{Type: modelmessage.OutputContent, JSON: json.RawMessage(`[{"type":"text","text":"x"},{"type":"image-data","mediaType":"image/png","data":"AAAA"},{"type":"file-data","mediaType":"a/b","data":"AAAA"}]`)},
	{Type: modelmessage.OutputContent, JSON: json.RawMessage(`[]`)},
}

func (h *history) question() modelmessage.Message {
	name := h.one("", "x")
	file := func(kind, data string) modelmessage.Part {
		return modelmessage.File{MediaType: kind, Data: data, Filename: uimessage.Some(name)}
	}
	return modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: "a"}, rapid.SampledFrom([]modelmessage.Part{
		modelmessage.Text{},
		modelmessage.Text{Text: "more"},
		modelmessage.Image{Image: "iVBORw0KGgo="},
		modelmessage.Image{Image: "https://a.test/x", MediaType: "image/png"},
		file("image/tiff", "AAAA"), file("application/pdf", "AAAA"), file("application/pdf", "https://a.test/x"), file("application/msword", "AAAA"), file("text/csv", "AAAA"), file("a/b", ""),
	}).Draw(h.T, "part")}}
}

// trimmed returns a part of a conversation: from a question on, possibly after a summary, and without some of the
// model's thinking and answers.
func (h *history) trimmed(list []modelmessage.Message) (out []modelmessage.Message) {
	from := h.some(0, len(list)-1)
	for list[from].Role != modelmessage.RoleUser {
		from--
	}
	if from > 0 && rapid.Bool().Draw(h.T, "summary") {
		out = append(out, modelmessage.Message{Role: modelmessage.RoleAssistant, Text: "so far"})
	}
	for _, m := range list[from:] {
		if m.Role == modelmessage.RoleAssistant {
			m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p modelmessage.Part) bool {
				_, isCall := p.(modelmessage.ToolCall)
				return !isCall && h.some(0, 9) == 0
			})
		}
		out = append(out, m)
	}
	return out
}

// TestAnyHistoryIsAccepted writes conversations of several services, trimmed at any place and with
// any reasoning refused: the service accepts all of them, and what is sent of the reasoning is what
// the parts say.
func TestAnyHistoryIsAccepted(t *testing.T) {
	sent := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{T: rt}
		list := []modelmessage.Message{}
		for range h.some(1, 4) {
			list = append(list, h.question())
			for range h.some(0, 3) {
				list = append(list, h.step()...)
			}
		}
		var o Options
		refused := refusing{h.one("", include), fmt.Sprintf("rs_%d", h.some(1, 9)), fmt.Sprintf("rs_%d", h.some(1, 9))}
		if o.Prompter.Sight = refused; refused[0] == "" {
			o.Efforts.Thinking = thinking(h.one("", "low"), h.one("", "auto"))
		}
		req := model.Request{Messages: h.trimmed(list), Tools: []model.ToolSpec{{Name: "t"}}, Memo: new(model.Memo)}
		p := newProtocol(o)
		earlier := req
		if earlier.Messages = req.Messages[:h.some(1, len(req.Messages))]; protocol.CheckResults(earlier.Messages) == nil {
			_, _ = p.Write(t.Context(), earlier) // fills the memo
		}
		body, err := p.Write(t.Context(), req)
		stdtest.Must(rt, err)
		if err := responsestest.StrictBody([]byte(joined(body))); err != nil {
			rt.Fatalf("%v\n%s", err, joined(body))
		}
		want := expected(req.Messages, refused)
		sent += len(want)
		if diff := gocmp.Diff(want, reasoningIn(rt, joined(body))); diff != "" {
			rt.Fatalf("reasoning (-want +got):\n%s", diff)
		}
	})
	if sent == 0 {
		t.Error("no history had reasoning that is sent")
	}
}

// expected are the ids and summaries of the reasoning that has its content, is not refused, and is
// followed by a text or call in its message.
func expected(list []modelmessage.Message, refused refusing) (out []string) {
	for _, m := range list {
		texts, last := map[string]string{}, -1
		for i, part := range m.Parts {
			switch p := part.(type) {
			case modelmessage.Reasoning:
				texts[own(p.ProviderOptions, "itemId")] += p.Text
			case modelmessage.Text:
				if p.Text != "" {
					last = i
				}
			case modelmessage.ToolCall:
				last = i
			default:
			}
		}
		for i, part := range m.Parts {
			p, ok := part.(modelmessage.Reasoning)
			if !ok || own(p.ProviderOptions, "reasoningEncryptedContent") == "" || i > last {
				continue
			}
			if id := own(p.ProviderOptions, "itemId"); id != "" && refused.TakesThought(id) {
				out = append(out, id+" "+texts[id])
			}
		}
	}
	return out
}

func reasoningIn(t *rapid.T, body string) (out []string) {
	var read struct {
		Input []struct {
			Type, ID string
			Summary  []struct{ Text string }
		}
	}
	stdtest.Must(t, json.Unmarshal([]byte(body), &read))
	for _, item := range read.Input {
		if item.Type == "reasoning" {
			text := ""
			for _, s := range item.Summary {
				text += s.Text
			}
			out = append(out, item.ID+" "+text)
		}
	}
	return out
}
