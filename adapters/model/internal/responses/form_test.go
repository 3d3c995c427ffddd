package responses

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// refusing is a sight that accepts all content except for the reasoning with these ids.
type refusing []string

func (refusing) Takes(string, string) bool     { return true }
func (r refusing) TakesThought(id string) bool { return !slices.Contains(r, id) }
func (refusing) Revision() int                 { return 0 }
func joined(b protocol.Body) string            { return string(bytes.Join(b.Pieces, nil)) }
func withoutEnd(b protocol.Body) string        { return string(bytes.Join(b.Pieces[:2], nil)) }
func takesLink(mediaType, link string) bool {
	return strings.HasPrefix(mediaType+link, "image/pnghttp")
}

func thinking(effort, s string) protocol.Thinking {
	return protocol.Thinking{Effort: effort, Summary: s}
}

func newProtocol(o Options) *Protocol {
	o.Model = "gpt-5.1"
	if o.Prompter.Sight == nil {
		o.Prompter.Sight = refusing(nil)
	}
	o.Prompter.TakesLink = takesLink
	return New(o)
}

func requestOf(t *testing.T, messages string) (req model.Request) {
	t.Helper()
	stdtest.Must(t, json.Unmarshal([]byte("["+messages+"]"), &req.Messages))
	return req
}

// written returns the body of a request, which the service accepts.
func written(t *testing.T, p *Protocol, req model.Request) string {
	t.Helper()
	body, err := p.Write(t.Context(), req)
	stdtest.Must(t, err)
	if err := responsestest.StrictBody([]byte(joined(body))); err != nil {
		t.Errorf("refused: %v\n%s", err, joined(body))
	}
	return joined(body)
}

func inputOf(body string) string {
	_, list, _ := strings.Cut(body, `"input":[`)
	return strings.TrimSuffix(list, `],"include":["reasoning.encrypted_content"]}`)
}

const (
	user   = `{"role":"user","content":"a"}`
	call   = `{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}`
	result = `{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{"type":"text","value":"x"}}]}`

	wireUser   = `{"role":"user","content":[{"type":"input_text","text":"a"}]}`
	wireCall   = `{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}`
	wireResult = `{"type":"function_call_output","call_id":"c","output":"x"}`
	wireText   = `{"role":"assistant","content":[{"type":"output_text","text":"b"}]}`
)

// reasoning is a part of an item with this id; the last part has the encrypted content.
func reasoning(id, text, encrypted string) string {
	return `{"type":"reasoning","text":"` + text + `","providerOptions":` + string(metadata("itemId", id, "reasoningEncryptedContent", encrypted)) + `}`
}

func assistant(parts ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(parts, ",") + `]}`
}

func TestInput(t *testing.T) {
	long := strings.Repeat("functions.t:", 6)
	answer := func(output string) string {
		return user + `,` + call + `,{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":` + output + `}]}`
	}
	wireAnswer := func(output string) string {
		return wireUser + `,` + wireCall + `,{"type":"function_call_output","call_id":"c","output":` + output + `}`
	}
	file := func(members string) string { return `{"role":"user","content":[` + members + `]}` }
	wireFile := func(members string) string { return `{"role":"user","content":[{"type":` + members + `}]}` }
	text := `{"type":"text","text":"b"}`
	item := `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"e"}`
	tests := []struct{ name, messages, want string }{
		{"text", `{"role":"user","content":"a\u2028<b>\u0007"}`, "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a\u2028<b>\\u0007\"}]}"},
		{"empty texts", `{"role":"user","content":""},{"role":"user","content":[]},` + user + `,{"role":"system","content":""},` + assistant(`{"type":"text","text":"","providerOptions":{"openai":{"itemId":"msg_1"}}}`), wireUser},
		{"a system message behind others", user + `,{"role":"system","content":"s"}`, wireUser + `,{"role":"system","content":[{"type":"input_text","text":"s"}]}`},
		{"a summary first", assistant(text) + `,` + user, wireText + `,` + wireUser},
		{"an answer, a call and its result", user + `,` + assistant(text, `{"type":"tool-call","toolCallId":"c","toolName":"t","input":{"b":1, "a":["\""]}}`) + `,` + result, wireUser + `,` + wireText + `,{"type":"function_call","call_id":"c","name":"t","arguments":"{\"b\":1,\"a\":[\"\\\"\"]}"},` + wireResult},
		{"the phase of an answer", assistant(`{"type":"text","text":"b","providerOptions":{"openai":{"itemId":"msg_1","phase":"commentary"}}}`), `{"role":"assistant","content":[{"type":"output_text","text":"b"}],"phase":"commentary"}`},
		{"reasoning where it was", assistant(reasoning("rs_1", "hm", "e"), text, reasoning("rs_2", "", "f"), `{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}`) + `,` + result, item + `,` + wireText + `,{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"f"},` + wireCall + `,` + wireResult},
		{"summary in parts", assistant(reasoning("rs_1", "hm", ""), reasoning("rs_1", "so", "e"), text), strings.Replace(item, `"hm"}`, `"hm"},{"type":"summary_text","text":"so"}`, 1) + `,` + wireText},
		{"two items in a row", assistant(reasoning("rs_0", "", "f"), reasoning("rs_1", "hm", "e"), text), `{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"f"},` + item + `,` + wireText},
		{"reasoning of other services", assistant(`{"type":"reasoning","text":"foreign"},{"type":"reasoning","text":"hm","providerOptions":{"anthropic":{"signature":"s"}}},{"type":"reasoning","text":"hm","providerOptions":{"openai":"{\"itemId\":\"rs_1\"}"}}`, text), wireText},
		{"reasoning that only a service that stores it knows", assistant(reasoning("rs_1", "hm", ""), text), wireText},
		{"refused reasoning", assistant(reasoning("rs_bad", "hm", ""), reasoning("rs_bad", "so", "e"), text), wireText},
		{"reasoning that nothing follows", user + `,` + assistant(text, reasoning("rs_1", "hm", "e")) + `,` + user, wireUser + `,` + wireText + `,` + wireUser},
		{"ids of other services, and arguments that are no JSON", assistant(`{"type":"tool-call","toolCallId":"`+long+`","toolName":"t"}`) + `,` + strings.Replace(result, `"c"`, `"`+long+`"`, 1), `{"type":"function_call","call_id":"call_9b8273e7fbf88ab167c5659e290acc1e","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"call_9b8273e7fbf88ab167c5659e290acc1e","output":"x"}`},
		{"a call that the provider ran", user + `,` + assistant(`{"type":"tool-call","toolCallId":"w","toolName":"web_search","input":{},"providerExecuted":true}`, `{"type":"tool-result","toolCallId":"w","toolName":"web_search","output":{"type":"json","value":{}}}`, text), wireUser + `,` + wireText},
		{"an empty result", answer(`{"type":"error-text","value":""}`), wireAnswer(`"(empty result)"`)},
		{"a result of JSON", answer(`{"type":"json","value":{"k": "<v>"}}`), wireAnswer(`"{\"k\":\"<v>\"}"`)},
		{"a denied call", answer(`{"type":"execution-denied"}`), wireAnswer(`"Tool call execution denied."`)},
		{"a call denied for a reason", answer(`{"type":"execution-denied","reason":"no"}`), wireAnswer(`"no"`)},
		{
			"a result with content", answer(`{"type":"content","value":[{"type":"text","text":"x"},{"type":"media","mediaType":"image/png","data":"iVBORw0KGgo="},{"type":"image-url","url":"https://a.test/x.png"},{"type":"file-data","mediaType":"application/pdf","filename":"x.pdf","data":"AAAA"},{"type":"file-url","url":"https://a.test/x.pdf"},{"type":"image-data","mediaType":"image/png","data":""},{"type":"custom"}]}`),
			wireAnswer(`[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="},{"type":"input_image","image_url":"https://a.test/x.png"},{"type":"input_file","filename":"x.pdf","file_data":"data:application/pdf;base64,AAAA"},{"type":"input_file","file_url":"https://a.test/x.pdf"},{"type":"input_text","text":"[file (image/png) cannot be shown to this model]"},{"type":"input_text","text":"[content of kind custom cannot be shown to this model]"}]`),
		},
		{"a result with empty content", answer(`{"type":"content","value":[{"type":"text","text":""}]}`), wireAnswer(`"(empty result)"`)},
		{"an image by its bytes", file(`{"type":"image","image":"iVBORw0KGgo="}`), wireFile(`"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="`)},
		{"an image of an unknown type", file(`{"type":"image","image":"AAAA"}`), wireFile(`"input_image","image_url":"data:image/jpeg;base64,AAAA"`)},
		{"a linked image", file(`{"type":"image","image":"https://a.test/x.png","mediaType":"image/png"}`), wireFile(`"input_image","image_url":"https://a.test/x.png"`)},
		{"a picture of another kind", file(`{"type":"file","mediaType":"image/tiff","filename":"x.tiff","data":"AAAA"}`), wireFile(`"input_text","text":"[x.tiff (image/tiff) cannot be shown to this model]"`)},
		{"a document", file(`{"type":"file","mediaType":"application/pdf","filename":"x.pdf","data":"AAAA"}`), wireFile(`"input_file","filename":"x.pdf","file_data":"data:application/pdf;base64,AAAA"`)},
		{"a document without a name", file(`{"type":"file","mediaType":"application/pdf","data":"data:application/pdf;base64,AAAA"}`), wireFile(`"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,AAAA"`)},
		{"a spreadsheet", file(`{"type":"file","mediaType":"application/vnd.ms-excel","filename":"x.xls","data":"AAAA"}`), wireFile(`"input_file","filename":"x.xls","file_data":"data:application/vnd.ms-excel;base64,AAAA"`)},
		{"a spreadsheet without a name", file(`{"type":"file","mediaType":"application/vnd.ms-excel","data":"AAAA"}`), wireFile(`"input_text","text":"[file (application/vnd.ms-excel) cannot be shown to this model]"`)},
		{"a document that cannot be loaded", file(`{"type":"file","mediaType":"application/pdf","data":"https://a.test/x.pdf"}`), wireFile(`"input_text","text":"[file (application/pdf) cannot be shown to this model]"`)},
		{"a text file", file(`{"type":"file","mediaType":"text/csv","data":"77u/YSxi"}`), wireFile(`"input_text","text":"a,b"`)},
		{"an empty file", file(`{"type":"file","mediaType":"text/csv","data":""}`), wireFile(`"input_text","text":"[file (text/csv) cannot be shown to this model]"`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o Options
			o.Prompter.Sight = refusing{"rs_bad"}
			if diff := gocmp.Diff(tt.want, inputOf(written(t, newProtocol(o), requestOf(t, tt.messages)))); diff != "" {
				t.Errorf("input (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	req := requestOf(t, user)
	req.System, req.MaxOutputTokens = "s", 9
	req.Tools = []model.ToolSpec{{Name: "b", InputSchema: json.RawMessage(`{ "type": "object", "properties": {"z": {}, "a": {}} }`)}, {Name: "a", Description: "d"}}
	head := `{"model":"gpt-5.1","store":false,"stream":true,"max_output_tokens":16,`
	tools := `"tools":[{"type":"function","name":"b","strict":false,"parameters":{"type":"object","properties":{"z":{},"a":{}}}},{"type":"function","name":"a","description":"d","strict":false,"parameters":{"type":"object","properties":{}}}],"tool_choice":`
	input := `,"instructions":"s","input":[` + wireUser + `]`
	const included = `,"include":["reasoning.encrypted_content"]`
	for _, tt := range []struct {
		name, choice string
		o            Options
		want         string
	}{
		{"plain", "", Options{}, head + tools + `"auto"` + input + included + `}`},
		{"with a tool", "tool:b", Options{Options: protocol.Options{Members: []protocol.Member{{Name: "prompt_cache_key", Value: []byte(`"k"`)}}}}, head + `"prompt_cache_key":"k",` + tools + `{"type":"function","name":"b"}` + input + included + `}`},
		{"required", "required", Options{Options: protocol.Options{Efforts: protocol.Efforts{Thinking: thinking("low", "")}}}, head + tools + `"required"` + input + included + `,"reasoning":{"effort":"low"}}`},
		{"none", "none", Options{Options: protocol.Options{Efforts: protocol.Efforts{Thinking: thinking("high", "auto")}}}, head + tools + `"none"` + input + included + `,"reasoning":{"effort":"high","summary":"auto"}}`},
		{"a model that does not reason", "none", Options{Options: protocol.Options{Prompter: protocol.Prompter{Sight: refusing{include}}}}, head + tools + `"none"` + input + `}`},
		{"a deployment", "none", Options{Address: chat.Address{URL: "https://r.openai.azure.com/openai/deployments/mine/chat/completions", AzureVersion: "2026-01-01"}}, strings.Replace(head, "gpt-5.1", "mine", 1) + tools + `"none"` + input + included + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req.ToolChoice = tt.choice
			if diff := gocmp.Diff(tt.want, written(t, newProtocol(tt.o), req)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// A service may refuse reasoning, and also the request for it, in the same words.
func TestShown(t *testing.T) {
	first := assistant(reasoning("rs_1", "", ""), reasoning("rs_1", "", "e"), reasoning("rs_2", "", "f"), `{"type":"reasoning","text":""}`)
	for _, tt := range []struct {
		refused refusing
		want    []string
	}{
		{nil, []string{"rs_1", "rs_1", "rs_2"}},
		{refusing{"rs_1"}, []string{"rs_2"}},
		{refusing{"rs_1", "rs_2"}, []string{include}},
		{refusing{"rs_1", "rs_2", include}, nil},
	} {
		p := newProtocol(Options{Options: protocol.Options{Prompter: protocol.Prompter{Sight: tt.refused}}})
		if got := p.Shown(requestOf(t, first+`,`+user)).Thoughts; !slices.Equal(got, tt.want) {
			t.Errorf("without %v: %v, want %v", tt.refused, got, tt.want)
		}
	}
}

// grown is a chat with everything whose requests have to begin alike.
func grown(t *testing.T) model.Request {
	t.Helper()
	file := `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","image":"iVBORw0KGgo="}]}`
	thought := assistant(reasoning("rs_1", "hm", "e"), `{"type":"text","text":"b"}`, `{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}`)
	req := requestOf(t, strings.Join([]string{user, thought, result, assistant(reasoning("rs_2", "", "f"), `{"type":"text","text":"b"}`), file, assistant(`{"type":"text","text":"c"}`), user}, ","))
	req.System, req.Tools = "s", []model.ToolSpec{{Name: "t"}, {Name: "u"}}
	return req
}

// TestStablePrefix grows a chat message by message: every request begins with the bytes of the
// previous one, and is the same with and without a memo.
func TestStablePrefix(t *testing.T) {
	all := grown(t)
	kept, memo, before := newProtocol(Options{}), new(model.Memo), ""
	for n := 1; n <= len(all.Messages); n++ {
		req := all
		if req.Messages = all.Messages[:n]; protocol.CheckResults(req.Messages) != nil {
			continue
		}
		anew := written(t, newProtocol(Options{}), req)
		req.Memo = memo
		body, err := kept.Write(t.Context(), req)
		stdtest.Must(t, err)
		if joined(body) != anew {
			t.Fatalf("with %d messages the memo changes the request:\n%s\n%s", n, anew, joined(body))
		}
		if !strings.HasPrefix(anew, before) {
			t.Fatalf("with %d messages the request does not begin with the one before", n)
		}
		before = withoutEnd(body)
	}
}

// TestMemoForgets changes what a memo was made from: no old data may appear, and bytes being sent
// must not change.
func TestMemoForgets(t *testing.T) {
	for name, edit := range map[string]func(*model.Request){
		"system":        func(r *model.Request) { r.System = "other" },
		"tools":         func(r *model.Request) { r.Tools = r.Tools[:1] },
		"limit":         func(r *model.Request) { r.MaxOutputTokens = 70 },
		"first message": func(r *model.Request) { r.Messages[0].Text = "summary" },
		"reasoning": func(r *model.Request) {
			r.Messages[3].Parts = []modelmessage.Part{modelmessage.Reasoning{ProviderOptions: metadata("itemId", "rs_2", "reasoningEncryptedContent", "other")}, r.Messages[3].Parts[1]}
		},
		"fewer messages": func(r *model.Request) { r.Messages = r.Messages[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			p, req := newProtocol(Options{}), grown(t)
			req.Memo = new(model.Memo)
			sent, err := p.Write(t.Context(), req)
			stdtest.Must(t, err)
			copied := joined(sent)
			req.Messages = slices.Clone(req.Messages)
			edit(&req)
			got, want := written(t, p, req), written(t, newProtocol(Options{}), req)
			if got != want || joined(sent) != copied || got == copied {
				t.Errorf("the memo gave\n%s\nwant\n%s\nbehind\n%s", got, want, copied)
			}
		})
	}
}
