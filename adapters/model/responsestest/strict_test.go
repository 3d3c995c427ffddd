package responsestest

import (
	"strings"
	"testing"
)

// good is a body that breaks no rule and has something of everything.
const good = `{"model":"gpt-5.1","stream":true,"store":false,"instructions":"s","max_output_tokens":16,` +
	`"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low","summary":"auto"},"prompt_cache_key":"k","temperature":null,` +
	`"tools":[{"type":"function","name":"t","description":"d","strict":false,"parameters":{"type":"object","properties":` +
	`{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":false}},` +
	`"c":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["c","a"],"additionalProperties":false}},` +
	`{"type":"function","name":"u","strict":false,"parameters":{"type":"object"}}],` +
	`"tool_choice":{"type":"function","name":"t"},` +
	`"input":[{"role":"developer","content":"d"},` +
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"},` +
	`{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"},{"type":"input_image","image_url":"https://example.com/a.png"},` +
	`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"},{"type":"input_file","file_id":"file-1"}]},` +
	`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},` +
	`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"wait","annotations":[],"logprobs":[]}]},` +
	`{"type":"function_call","id":"fc_1","call_id":"c1","name":"t","arguments":"{}","status":"completed"},` +
	`{"type":"function_call","call_id":"c2","name":"u","arguments":"{\"x\":1}"},` +
	`{"type":"function_call_output","call_id":"c2","output":""},` +
	`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"r"}]},` +
	`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"user","content":"again"}]}`

func TestStrictBody(t *testing.T) {
	again := `{"role":"user","content":"again"}`
	tests := []struct{ name, old, replacement, want string }{
		{"good", ``, ``, ""},
		{"text as input", `"input":[`, `"input":"hi","metadata":[`, ""},
		{"temperature without reasoning", `"gpt-5.1"`, `"gpt-4.1","top_p":1`, ""},
		{"temperature with effort none", `"effort":"low"`, `"effort":"none"},"text":{"verbosity":"low"},"top_p":1,"user":"u","truncation":{"a":1`, ""},
		{"chosen word", `{"type":"function","name":"t"},"input"`, `"required","input"`, ""},
		{"no choice", `{"type":"function","name":"t"},"input"`, `null,"input"`, ""},
		{"message without type", `"type":"message","role":"user"`, `"role":"user"`, ""},
		{"assistant's text", `[{"type":"refusal","refusal":"no"}]`, `"no"`, ""},
		{"two reasoning items in a row", `{"type":"reasoning"`, `{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"x"},{"type":"reasoning"`, ""},

		{"unknown member", `"stream":true`, `"max_tokens":5`, "R1"},
		{"unknown member of an item", `"role":"user","content":"again"`, `"role":"user","content":"again","id":"msg_2"`, "R1"},
		{"unknown member of a part", `"text":"hi"`, `"text":"hi","cache_control":{}`, "R1"},
		{"status of reasoning", `"id":"rs_1"`, `"id":"rs_1","status":"completed"`, "R1"},
		{"tool in the form of chat completions", `"name":"u",`, `"function":{},"name":"u",`, "R1"},
		{"choice in the form of chat completions", `{"type":"function","name":"t"},"input"`, `{"type":"function","function":{"name":"t"}},"input"`, "R1"},
		{"wrong type", `"call_id":"c1","name"`, `"call_id":1,"name"`, "R1"},
		{"item is a text", again, `"again"`, "R3"},
		{"not UTF-8", `"text":"hi"`, "\"text\":\"\xff\"", "R1"},

		{"stored", `"store":false`, `"store":true`, "R2"},
		{"stored by default", `"store":false,`, ``, "R2"},
		{"previous response", `"stream":true`, `"previous_response_id":"resp_1"`, "R2"},
		{"conversation", `"stream":true`, `"conversation":{"id":"conv_1"}`, "R2"},
		{"background", `"stream":true`, `"background":true`, "R2"},
		{"reasoning without its content", `"include":["reasoning.encrypted_content"],`, ``, "R2"},

		{"no input", `"input":[`, `"metadata":[`, "R3"},
		{"empty text as input", `"input":[`, `"input":"","metadata":[`, "R3"},
		{"empty list as input", `"input":[`, `"input":[],"metadata":[`, "R3"},
		{"role", `"role":"user","content":"again"`, `"role":"tool","content":"again"`, "R3"},
		{"type that is a role", `"type":"message","role":"user"`, `"type":"user","role":"user"`, "R3"},
		{"item of another kind", again, `{"type":"item_reference","id":"msg_9"}`, "R3"},
		{"empty message", again, `{"role":"user","content":""}`, "R3"},
		{"message without parts", again, `{"role":"user","content":[]}`, "R3"},
		{"message without content", again, `{"role":"user"}`, "R3"},
		{"null as content", again, `{"role":"user","content":null}`, "R3"},
		{"output of a user", `"type":"input_text","text":"hi"`, `"type":"output_text","text":"hi"`, "R3"},
		{"input of an assistant", `"type":"output_text","text":"wait"`, `"type":"input_text","text":"wait"`, "R3"},
		{"part without text", `"type":"input_text","text":"hi"`, `"type":"input_text"`, "R3"},
		{"refusal without text", `"type":"refusal","refusal":"no"`, `"type":"refusal"`, "R3"},
		{"output is an object", `"output":""`, `"output":{}`, "R3"},
		{"output is missing", `,"output":""`, ``, "R3"},

		{"bare base64", `"data:image/png;base64,AAAA"`, `"AAAA"`, "R4"},
		{"bad base64", `image/png;base64,AAAA`, `image/png;base64,A`, "R4"},
		{"type of image", `data:image/png`, `data:image/tiff`, "R4"},
		{"image without source", `"image_url":"https://example.com/a.png"`, `"detail":"low"`, "R4"},
		{"image with two sources", `"image_url":"https://example.com/a.png"`, `"image_url":"https://example.com/a.png","file_id":"file-1"`, "R4"},
		{"file without name", `"filename":"a.pdf",`, ``, "R4"},
		{"bare file", `"data:application/pdf;base64,AAAA"`, `"AAAA"`, "R4"},

		{"no call id", `"call_id":"c2","name"`, `"call_id":"","name"`, "R5"},
		{"long call id", `"call_id":"c2","name"`, `"call_id":"` + strings.Repeat("c", 65) + `","name"`, "R5"},
		{"long call id of an output", `"call_id":"c2","output"`, `"call_id":"` + strings.Repeat("c", 65) + `","output"`, "R5"},
		{"bad name of a call", `"name":"u","arguments"`, `"name":"u.v","arguments"`, "R5"},
		{"long name of a call", `"name":"u","arguments"`, `"name":"` + strings.Repeat("u", 65) + `","arguments"`, "R5"},
		{"empty arguments", `"arguments":"{}"`, `"arguments":""`, "R5"},
		{"arguments cut off", `"arguments":"{}"`, `"arguments":"{"`, "R5"},

		{"call without output", `{"type":"function_call_output","call_id":"c2","output":""},`, ``, "R6"},
		{"output without call", `{"type":"function_call","call_id":"c2","name":"u","arguments":"{\"x\":1}"},`, ``, "R6"},
		{"output twice", `"call_id":"c2","output":""},`, `"call_id":"c2","output":""},{"type":"function_call_output","call_id":"c2","output":""},`, "R6"},
		{"call twice", `"call_id":"c2","name"`, `"call_id":"c1","name"`, "R6"},
		{"output first", `{"role":"developer"`, `{"type":"function_call_output","call_id":"c2","output":""},{"role":"developer"`, "R6"},

		{"id of a call", `"fc_1"`, `"call_1"`, "R7"},
		{"id of a message", `"msg_1"`, `"item_1"`, "R7"},
		{"id of reasoning", `"rs_1"`, `"1"`, "R7"},
		{"id twice", again, `{"role":"assistant","id":"msg_1","content":"x"}`, "R7"},

		{"reasoning without id", `"id":"rs_1",`, ``, "R8"},
		{"reasoning without content", `,"encrypted_content":"x"`, ``, "R8"},
		{"reasoning without summary", `"summary":[{"type":"summary_text","text":"hm"}],`, ``, "R8"},
		{"summary is a text", `"summary":[{"type":"summary_text","text":"hm"}]`, `"summary":"hm"`, "R8"},
		{"reasoning at the end", again, `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"x"}`, "R9"},
		{"reasoning before a user", again, `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"x"},` + again, "R9"},

		{"type of a tool", `"type":"function","name":"u"`, `"type":"custom","name":"u"`, "R10"},
		{"tool without name", `"type":"function","name":"u"`, `"type":"function"`, "R10"},
		{"long name of a tool", `"type":"function","name":"u"`, `"type":"function","name":"` + strings.Repeat("u", 65) + `"`, "R10"},
		{"tool twice", `"type":"function","name":"u"`, `"type":"function","name":"t"`, "R10"},
		{"tool without schema", `,"parameters":{"type":"object"}`, ``, "R10"},
		{"schema of another type", `"parameters":{"type":"object"}`, `"parameters":{"type":"string"}`, "R10"},
		{"strict by default", `"name":"u","strict":false,`, `"name":"u",`, "R11"},
		{"strict", `"name":"u","strict":false,`, `"name":"u","strict":true,`, "R11"},

		{"unknown choice", `{"type":"function","name":"t"},"input"`, `"any","input"`, "R12"},
		{"chosen tool is not offered", `{"type":"function","name":"t"},"input"`, `{"type":"function","name":"v"},"input"`, "R12"},
		{"choice of another type", `{"type":"function","name":"t"},"input"`, `{"type":"web_search"},"input"`, "R12"},
		{"choice without tools", `"tools":[`, `"metadata":[`, "R12"},
		{"required without tools", `"input":[`, `"tools":[],"tool_choice":"required","input":[`, "R12"},

		{"no model", `"model":"gpt-5.1",`, ``, "R13"},
		{"few tokens", `"max_output_tokens":16`, `"max_output_tokens":15`, "R13"},
		{"temperature of a model that reasons", `"temperature":null`, `"temperature":1`, "R13"},
		{"effort", `"effort":"low"`, `"effort":"much"`, "R13"},
		{"summary", `"summary":"auto"`, `"summary":"long"`, "R13"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(good, tt.old) {
				t.Fatalf("the good body has no %s", tt.old)
			}
			checkRule(t, StrictBody([]byte(strings.Replace(good, tt.old, tt.replacement, 1))), tt.want)
		})
	}
}

func checkRule(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want+" ")):
		t.Errorf("got %v, want a fault of %s", err, want)
	}
}

func TestStrictBodyOfNoRequest(t *testing.T) {
	for _, body := range []string{``, `null`, `[]`, `"hi"`, `{"tools":5}`, `{"model":"m"`} {
		checkRule(t, StrictBody([]byte(body)), "R1")
	}
}

func FuzzStrictBody(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"input":[{"type":"reasoning"},{"role":"system","content":[{"type":"input_file"}]}],"tool_choice":{},"tools":[{"parameters":{"type":"object"}}]}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_ = StrictBody(raw)
		if b, _ := read(raw); b != nil { // a lenient server uses what it could read
			b.request()
			b.prompt()
		}
	})
}
