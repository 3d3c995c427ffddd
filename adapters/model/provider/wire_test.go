package provider

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// hostWriter writes bodies like chats.
func hostWriter(s Settings) *bodyWriter {
	o := Options{}
	o.setDefaults()
	return newWriter(&o, Endpoint{Model: "m", Settings: s})
}

// written returns the messages array of a body.
func written(t *testing.T, w *bodyWriter, messages string) string {
	t.Helper()
	var req model.Request
	if err := json.Unmarshal([]byte(messages), &req.Messages); err != nil {
		t.Fatal(err)
	}
	body, err := w.write(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
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
			if diff := gocmp.Diff(tt.want, written(t, hostWriter(Settings{}), tt.messages)); diff != "" {
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
	if got := written(t, hostWriter(Settings{}), in); !strings.Contains(got, `"reasoning_content":"r"`) {
		t.Errorf("no reasoning in %s", got)
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	tests := []struct {
		name, messages string
		want           error
	}{
		{"none", `[]`, errNoMessages},
		{"nothing said", `[{"role":"user","content":""}]`, errNoMessages},
		{"open call", `[` + callC + `]`, errMissingResult},
		{"open call before a question", `[` + callC + `,{"role":"user","content":"a"},` + answerC + `]`, errMissingResult},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var req model.Request
			if err := json.Unmarshal([]byte(tt.messages), &req.Messages); err != nil {
				t.Fatal(err)
			}
			m := newModel(t, Options{Transport: answers{status: 200}, Fallbacks: []Endpoint{{Model: "n"}}})
			_, _, err := said(t.Context(), m, req)
			if model.ReasonOf(err) != model.ReasonInternal || !errors.Is(err, tt.want) {
				t.Errorf("failed with %v, want internal with %v", err, tt.want)
			}
		})
	}
}

// TestDownloads checks that links are downloaded if the model does not load them itself.
func TestDownloads(t *testing.T) {
	in := `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"file","mediaType":"application/pdf","data":"https://a.test/x.pdf"}]}]`
	w := hostWriter(Settings{})
	w.download = fakeDownload
	if got := written(t, w, in); !strings.Contains(got, `"file_data":"data:application/pdf;base64,iVBORw0KGgoBAgM="`) {
		t.Errorf("the file is not in %s", got)
	}
	w.download = func(context.Context, string) ([]byte, string, error) { return nil, "", errors.New("gone") }
	var req model.Request
	if err := json.Unmarshal([]byte(in), &req.Messages); err != nil {
		t.Fatal(err)
	}
	if _, err := w.write(t.Context(), req); err == nil {
		t.Error("a failed download went unnoticed")
	}
}

func TestHead(t *testing.T) {
	req := model.Request{System: "s", ToolChoice: "tool:b", MaxOutputTokens: 9, Messages: hello().Messages, Tools: []model.ToolSpec{
		{Name: "b", InputSchema: json.RawMessage(`{ "type": "object", "title": "a \" b" }`)}, {Name: "a", Description: "d"},
	}}
	s := Settings{
		MaxTokensField: "max_completion_tokens", MaxOutputTokens: 5,
		Members: []Member{
			{"temperature", []byte("0")},
			{"top_p", []byte("0.25")},
			{"stop", []byte(`["x", "y"]`)},
			{"seed", []byte("1099511627776")},
			{"reasoning_effort", []byte(`"low"`)},
			{"alpha", json.RawMessage(`{"k": true}`)},
			{"zeta", json.RawMessage(`[1, 2]`)},
			{"parallel_tool_calls", []byte("false")},
		},
	}
	body, err := hostWriter(s).write(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
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
	kept, fresh := hostWriter(Settings{}), hostWriter(Settings{})
	memo := new(model.Memo)
	var before string
	for n := 1; n <= len(all.Messages); n++ {
		req := all
		req.Messages = all.Messages[:n]
		if checkResults(req.Messages) != nil {
			continue
		}
		anew, err := fresh.write(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		req.Memo = memo
		grown, err := kept.write(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if grown.text() != anew.text() {
			t.Fatalf("with %d messages the memo changes the request:\n%s\n%s", n, anew.text(), grown.text())
		}
		if !strings.HasPrefix(grown.text(), before) {
			t.Fatalf("with %d messages the request does not begin with the one before", n)
		}
		before = grown.text()
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
			w, fresh := hostWriter(Settings{}), hostWriter(Settings{})
			req := base
			req.Memo = new(model.Memo)
			sent, err := w.write(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			copied := sent.text()
			req.Messages = append([]modelmessage.Message(nil), base.Messages...)
			edit(&req)
			got, err := w.write(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			req.Memo = nil
			want, err := fresh.write(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if got.text() != want.text() {
				t.Errorf("the memo gave\n%s\nwant\n%s", got.text(), want.text())
			}
			if sent.text() != copied {
				t.Error("bytes that were sent have changed")
			}
		})
	}
}

func TestEqualMessages(t *testing.T) {
	parts := []modelmessage.Part{
		modelmessage.Text{Text: "a"},
		modelmessage.Text{Text: "b"},
		modelmessage.Text{Text: "a", ProviderOptions: json.RawMessage(`{}`)},
		modelmessage.Reasoning{Text: "a"},
		modelmessage.Image{Image: "a"},
		modelmessage.Image{Image: "a", MediaType: "image/png"},
		modelmessage.File{Data: "a"},
		modelmessage.File{Data: "a", Filename: new("f")},
		modelmessage.ToolCall{ToolCallID: "a"},
		modelmessage.ToolCall{ToolCallID: "a", ProviderExecuted: new(true)},
		modelmessage.ToolCall{ToolCallID: "a", Input: json.RawMessage("1")},
		modelmessage.ToolResult{ToolCallID: "a"},
		modelmessage.ToolResult{ToolCallID: "a", Output: modelmessage.Output{Text: "x"}},
		modelmessage.ToolResult{ToolCallID: "a", Output: modelmessage.Output{Reason: new("x")}},
		modelmessage.ApprovalRequest{},
		modelmessage.ApprovalResponse{},
	}
	of := func(p modelmessage.Part) modelmessage.Message {
		return modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{p}}
	}
	for i, a := range parts {
		for j, b := range parts {
			if got := equalMessages(of(a), of(b)); got != (i == j) {
				t.Errorf("%#v and %#v: equal is %t", a, b, got)
			}
		}
	}
	if equalMessages(modelmessage.Message{}, modelmessage.Message{Parts: []modelmessage.Part{}}) {
		t.Error("a string is equal to no parts")
	}
}

// TestPiecesAreJoined reads a body in reads of every size, each of which is filled while there is something to read.
func TestPiecesAreJoined(t *testing.T) {
	if err := iotest.TestReader(&pieces{[]byte("ab"), nil, []byte("cde"), []byte("]}")}, []byte("abcde]}")); err != nil {
		t.Error(err)
	}
	for size := 1; size <= 8; size++ {
		p, b := &pieces{[]byte("ab"), nil, []byte("cde"), []byte("]}")}, make([]byte, size)
		if n, err := p.Read(b); n != min(size, 7) || err != nil || string(b[:n]) != "abcde]}"[:n] {
			t.Errorf("a read of %d: %d, %v, %q", size, n, err, b[:n])
		}
	}
}
