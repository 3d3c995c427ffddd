package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// hostChat writes bodies like chats.
func hostChat(o Options) *Protocol {
	o.Model = "m"
	o.Prompter.TakesLink = func(mediaType, link string) bool {
		return strings.HasPrefix(mediaType, "image/") && strings.HasPrefix(link, "http")
	}
	return New(o)
}

// text returns a body without its end, which is only the brackets.
func text(b protocol.Body) string { return string(bytes.Join(b.Pieces[:2], nil)) }

func closed(b protocol.Body) []byte { return bytes.Join(b.Pieces, nil) }

func written(t *testing.T, w *Protocol, messages string) string {
	t.Helper()
	var req model.Request
	stdtest.Must(t, json.Unmarshal([]byte(messages), &req.Messages))
	body, err := w.Write(t.Context(), req)
	stdtest.Must(t, err)
	_, array, _ := strings.Cut(string(closed(body)), `"messages":`)
	return strings.TrimSuffix(array, "}")
}

// TestHostMessages shows the bytes where chats differ from the SDK, or where a detail matters.
func TestHostMessages(t *testing.T) {
	tests := []struct{ name, messages, want string }{
		{"text", `[{"role":"user","content":"a\u2028<b>\u0007"}]`, "[{\"role\":\"user\",\"content\":\"a\u2028<b>\\u0007\"}]"},
		{"empty user turn", `[{"role":"user","content":[]},{"role":"user","content":""},{"role":"user","content":"a"}]`, `[{"role":"user","content":"a"}]`},
		{"empty answer", `[{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"assistant","content":[{"type":"reasoning","text":"r"}]}]`, `[{"role":"user","content":"a"}]`},
		{"empty system", `[{"role":"system","content":""},{"role":"user","content":"a"}]`, `[{"role":"user","content":"a"}]`},
		{"header part and text", `[{"role":"user","content":[{"type":"text","text":"{}"},{"type":"text","text":"a"}]}]`, `[{"role":"user","content":[{"type":"text","text":"{}"},{"type":"text","text":"a"}]}]`},
		{
			"missing arguments", `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t"}]},` + answerC + `]`,
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]`,
		},
		{
			"arguments keep their order and lose their space", `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{ "b" : "x \" \\ \n\u00e9", "a" : [ 1 , 2.50 ] }}]},` + answerC + `]`,
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{\"b\":\"x \\\" \\\\ \\n\\u00e9\",\"a\":[1,2.50]}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]`,
		},
		{"empty result", `[` + callC + `,{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":""}}]}]`, `[` + wireC + `,{"role":"tool","tool_call_id":"c","content":"(empty result)"}]`},
		{"denied", `[` + callC + `,{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"execution-denied"}}]}]`, `[` + wireC + `,{"role":"tool","tool_call_id":"c","content":"Tool call execution denied."}]`},
		{"denied for a reason", `[` + callC + `,{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"execution-denied","reason":"no"}}]}]`, `[` + wireC + `,{"role":"tool","tool_call_id":"c","content":"no"}]`},
		{
			"file that cannot be sent", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","mediaType":"application/zip","filename":"z.zip","data":"AAAA"}]}]`,
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"[z.zip (application/zip) cannot be shown to this model]"}]}]`,
		},
		{"linked image", `[{"role":"user","content":[{"type":"image","image":"https://a.test/x.png","mediaType":"image/png"}]}]`, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.test/x.png"}}]}]`},
		{"image by its bytes", `[{"role":"user","content":[{"type":"image","image":"iVBORw0KGgo="}]}]`, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]`},
		{"text file with a mark", `[{"role":"user","content":[{"type":"file","mediaType":"text/csv","data":"77u/YSxi"}]}]`, `[{"role":"user","content":[{"type":"text","text":"a,b"}]}]`},
		{"linked pdf", `[{"role":"user","content":[{"type":"file","mediaType":"application/pdf","data":"https://a.test/x.pdf"}]}]`, `[{"role":"user","content":[{"type":"text","text":"[file (application/pdf) cannot be shown to this model]"}]}]`},
		{"reserved options", `[{"role":"user","content":[{"type":"text","text":"a","providerOptions":{"openaiCompatible":{"role":"system","x":1}}}]}]`, `[{"role":"user","content":"a","x":1}]`},
		{
			"thought signature", `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{},"providerOptions":{"google":{"thoughtSignature":"s"}}}]},` + answerC + `]`,
			`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},{"role":"tool","tool_call_id":"c","content":"x"}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := gocmp.Diff(tt.want, written(t, hostChat(Options{}), tt.messages)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	callC   = `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}`
	answerC = `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":"x"}}]}`
	wireC   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]}`
)

func TestReasoningIsSentBack(t *testing.T) {
	in := `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"reasoning","text":"r"},{"type":"text","text":"b"}]}]`
	if got := written(t, hostChat(Options{}), in); !strings.Contains(got, `"reasoning_content":"r"`) {
		t.Errorf("no reasoning in %s", got)
	}
}

// TestDownloads checks that links are downloaded if the model does not load them itself.
func TestDownloads(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","mediaType":"application/pdf","data":"https://a.test/x.pdf"}]}]`
	w := hostChat(Options{})
	w.opts.Prompter.Download = func(context.Context, string) ([]byte, string, error) {
		return []byte{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 1, 2, 3}, "image/png", nil
	}
	if got := written(t, w, in); !strings.Contains(got, `"file_data":"data:application/pdf;base64,iVBORw0KGgoBAgM="`) {
		t.Errorf("the file is not in %s", got)
	}
	w.opts.Prompter.Download = func(context.Context, string) ([]byte, string, error) { return nil, "", errors.New("gone") }
	var req model.Request
	stdtest.Must(t, json.Unmarshal([]byte(in), &req.Messages))
	if _, err := w.Write(t.Context(), req); err == nil {
		t.Error("a failed download went unnoticed")
	}
}

func TestHead(t *testing.T) {
	req := model.Request{System: "s", ToolChoice: "tool:b", MaxOutputTokens: 9, Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "hi"}}, Tools: []model.ToolSpec{
		{Name: "b", InputSchema: json.RawMessage(`{ "type": "object", "title": "a \" b" }`)}, {Name: "a", Description: "d"},
	}}
	s := Options{
		MaxTokensField: "max_completion_tokens",
		Options: protocol.Options{
			MaxOutputTokens: 5,
			Members: []protocol.Member{
				{Name: "temperature", Value: []byte("0")},
				{Name: "top_p", Value: []byte("0.25")},
				{Name: "stop", Value: []byte(`["x", "y"]`)},
				{Name: "seed", Value: []byte("1099511627776")},
				{Name: "reasoning_effort", Value: []byte(`"low"`)},
				{Name: "alpha", Value: json.RawMessage(`{"k": true}`)},
				{Name: "zeta", Value: json.RawMessage(`[1, 2]`)},
				{Name: "parallel_tool_calls", Value: []byte("false")},
			},
		},
	}
	body, err := hostChat(s).Write(t.Context(), req)
	stdtest.Must(t, err)
	want := `{"model":"m","max_completion_tokens":9,"temperature":0,"top_p":0.25,"stop":["x","y"],"seed":1099511627776,"reasoning_effort":"low",` +
		`"alpha":{"k":true},"zeta":[1,2],"parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"b","parameters":{"type":"object","title":"a \" b"}}},{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object","properties":{}}}}],` +
		`"tool_choice":{"type":"function","function":{"name":"b"}},"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`
	if diff := gocmp.Diff(want, string(closed(body))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

// TestStablePrefix grows a chat turn by turn: every request begins with the bytes of the previous
// one, is the same with and without a memo, and is strictly valid.
func TestStablePrefix(t *testing.T) {
	all := benchHistory(8)
	kept, fresh := hostChat(Options{}), hostChat(Options{})
	memo := new(model.Memo)
	var before string
	for n := 1; n <= len(all.Messages); n++ {
		req := all
		req.Messages = all.Messages[:n]
		if protocol.CheckResults(req.Messages) != nil {
			continue
		}
		anew, err := fresh.Write(t.Context(), req)
		stdtest.Must(t, err)
		req.Memo = memo
		grown, err := kept.Write(t.Context(), req)
		stdtest.Must(t, err)
		if text(grown) != text(anew) {
			t.Fatalf("with %d messages the memo changes the request:\n%s\n%s", n, text(anew), text(grown))
		}
		if !strings.HasPrefix(text(grown), before) {
			t.Fatalf("with %d messages the request does not begin with the one before", n)
		}
		before = text(grown)
		if err := modeltest.StrictBody(closed(grown)); err != nil {
			t.Fatalf("with %d messages: %v", n, err)
		}
	}
}

// TestMemoForgets changes what a memo was made from: no old data may appear, and bytes being sent
// must not change.
func TestMemoForgets(t *testing.T) {
	base := benchHistory(4)
	edits := map[string]func(*model.Request){
		"system": func(r *model.Request) { r.System = "other" },
		"tools":  func(r *model.Request) { r.Tools = r.Tools[:3] },
		"choice": func(r *model.Request) { r.ToolChoice = "none" },
		"limit":  func(r *model.Request) { r.MaxOutputTokens = 7 },
		"first message": func(r *model.Request) {
			r.Messages[0] = modelmessage.Message{Role: modelmessage.RoleUser, Text: "summary"}
		},
		"last message": func(r *model.Request) {
			r.Messages[len(r.Messages)-1].Parts = []modelmessage.Part{modelmessage.Text{Text: "edited"}}
		},
		"fewer messages": func(r *model.Request) { r.Messages = r.Messages[:4] },
		"same":           func(*model.Request) {},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			w, fresh := hostChat(Options{}), hostChat(Options{})
			req := base
			req.Memo = new(model.Memo)
			sent, err := w.Write(t.Context(), req)
			stdtest.Must(t, err)
			copied := text(sent)
			req.Messages = append([]modelmessage.Message(nil), base.Messages...)
			edit(&req)
			got, err := w.Write(t.Context(), req)
			stdtest.Must(t, err)
			req.Memo = nil
			want, err := fresh.Write(t.Context(), req)
			stdtest.Must(t, err)
			if text(got) != text(want) {
				t.Errorf("the memo gave\n%s\nwant\n%s", text(got), text(want))
			}
			if text(sent) != copied {
				t.Error("bytes that were sent have changed")
			}
		})
	}
}
