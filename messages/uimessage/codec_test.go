package uimessage_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// lines are messages in the very bytes that AppendJSON writes.
var lines = []string{
	`{"id":"u1","role":"user","parts":[{"type":"text","text":"hi <b>&\u0001\"\\ \u2028 日本"}],"metadata":{"ts":1,"x":null}}`,
	`{"id":"","role":"critic"}`,
	`{"id":"a","role":"assistant","createdAt":"now","parts":[]}`,
	`{"id":"a","role":"assistant","parts":[{"type":"step-start","at":1},{"type":"reasoning","id":"r","text":"","state":"done","providerMetadata":{"p":{"k":"v"}}},` +
		`{"type":"tool-read_file","toolCallId":"c","state":"output-available","title":"","toolMetadata":{"m":1},"providerExecuted":false,"input":null,` +
		`"callProviderMetadata":{"p":{}},"approval":{"id":"x","approved":true,"reason":"","auto":1},"output":{"b":1,"a":[1.50,1e3]},"preliminary":true,"resultProviderMetadata":{},"later":[]},` +
		`{"type":"dynamic-tool","toolName":"s:t","dynamic":false,"toolCallId":"d","state":"input-streaming","rawInput":"{\"a\"","inputEncoding":"json"},` +
		`{"type":"dynamic-tool","toolCallId":"e","state":"output-error","input":{},"errorText":"no"},` +
		`{"type":"source-url","sourceId":"s","url":"https://a.test","title":"A"},{"type":"source-document","sourceId":"s","mediaType":"t","title":"T","filename":"f"},` +
		`{"type":"file","mediaType":"image/png","filename":"f","url":"data:,"},{"type":"data-note","id":"n","data":null,"transient":true},{"type":"hologram","depth":3},{"no":"type"}]}`,
}

func TestRoundTripKeepsEveryByte(t *testing.T) {
	for _, line := range lines {
		line = strings.ReplaceAll(line, `\u2028`, "\u2028")
		m, err := uimessage.Decode([]byte(line))
		if err != nil {
			t.Fatalf("Decode(%s): %v", line, err)
		}
		if got := string(uimessage.AppendJSON(nil, m)); got != line {
			t.Errorf("appended\n got %s\nwant %s", got, line)
		}
		var again uimessage.Message
		if err := json.Unmarshal([]byte(line), &again); err != nil {
			t.Fatalf("Unmarshal: %v", err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Errorf("Unmarshal differs from Decode:\n%s", diff)
		}
	}
}

func TestDecodeToleratesForeignLayout(t *testing.T) {
	in := " {\"role\" : \"user\", \"parts\":[ {\"text\":\"\\u0068i\" , \"type\":\"text\", \"state\":null} ],\n \"metadata\": { \"a\" : [ 1 , \" \" ] }, \"id\":\"u\"}\n"
	m, err := uimessage.Decode([]byte(in))
	stdtest.Must(t, err)
	want := `{"id":"u","role":"user","parts":[{"type":"text","text":"hi","state":null}],"metadata":{"a":[1," "]}}`
	if got := string(uimessage.AppendJSON(nil, m)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeNamesTheFault(t *testing.T) {
	tests := []struct{ name, in, path string }{
		{"no JSON", `{"id":`, ""},
		{"trailing bytes", `{"id":"a","role":"user"} x`, ""},
		{"not an object", `[]`, ""},
		{"role missing", `{"id":"a"}`, "role"},
		{"id of another type", `{"id":1,"role":"user"}`, "id"},
		{"parts of another type", `{"role":"user","parts":{}}`, "parts"},
		{"part is a string", `{"role":"user","parts":["x"]}`, "parts[0]"},
		{"text missing", `{"role":"user","parts":[{"type":"step-start"},{"type":"text"}]}`, "parts[1].text"},
		{"call id missing", `{"role":"assistant","parts":[{"type":"tool-x","state":"input-available"}]}`, "parts[0].toolCallId"},
		{"tool state missing", `{"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c"}]}`, "parts[0].state"},
		{"approval without id", `{"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"s","approval":{}}]}`, "parts[0].approval.id"},
		{"approved is a word", `{"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"s","approval":{"id":"a","approved":"yes"}}]}`, "parts[0].approval.approved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := uimessage.Decode([]byte(tt.in))
			fault, ok := errors.AsType[*uimessage.DecodeError](err)
			if !ok || !errors.Is(err, uimessage.ErrInvalid) {
				t.Fatalf("got error %v, want a DecodeError", err)
			}
			if fault.Path != tt.path {
				t.Errorf("path %q, want %q", fault.Path, tt.path)
			}
		})
	}
	list := `[{"id":"a","role":"user","parts":[{"type":"text","text":"x"}]},{"id":"b","role":"user","parts":[{"type":"file"}]}]`
	if _, err := uimessage.Validate([]byte(list)); err == nil || !strings.Contains(err.Error(), "[1].parts[0].mediaType") {
		t.Errorf("Validate: got %v, want the path of the fault", err)
	}
}

func TestInvalidRawValueStaysReadable(t *testing.T) {
	m := uimessage.Message{ID: "a", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{
		uimessage.Tool{Name: "x", ToolCallID: "c", State: uimessage.ToolInputAvailable, Input: json.RawMessage("{\n")},
	}}
	want := `{"id":"a","role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"input-available","input":"{\n"}]}`
	if got := string(uimessage.AppendJSON(nil, m)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMetadataRoundTrip(t *testing.T) {
	full := `{"ts":1700000000000,"chatKey":"telegram-chat-1","channel":"telegram","chatId":"1","chatType":"group","chatTitle":"T","userId":"7","username":"ann",` +
		`"messageId":"42","messageThreadId":"3","replyTo":"41","requestId":"q","runId":"r","kind":"summary","source":"compact","sourceRange":{"fromId":"a","toId":"b","count":0},` +
		`"tokens":12,"ingressId":"i","editOf":"e","album":"g","depth":2,"model":"m","demo":true,"result":"done","reason":"why","fates":[{"id":"i","fate":"merged","runId":"r","step":2,"reason":"late"},{"id":"j","fate":"answered"}],` +
		`"usage":{"inputTokens":1,"outputTokens":0,"cachedInputTokens":1,"cost":0.5},"other":{"k":[]},"seq":9}`
	for _, in := range []string{full, `{}`, `{"seq":1}`, `{"foreign":1,"seq":3}`} {
		m, err := uimessage.DecodeMetadata(json.RawMessage(in))
		if err != nil {
			t.Fatalf("DecodeMetadata(%s): %v", in, err)
		}
		if got := string(m.Append(nil)); got != in {
			t.Errorf("appended\n got %s\nwant %s", got, in)
		}
	}
}

func TestMetadataKeepsWhatItCannotRead(t *testing.T) {
	m, err := uimessage.DecodeMetadata(json.RawMessage(`{"seq":4,"model":{"id":1},"chatKey":"k","fates":[{"id":1}]}`))
	fault, ok := errors.AsType[*uimessage.DecodeError](err)
	if !ok || fault.Path != "metadata.model" {
		t.Errorf("got error %v, want one at metadata.model", err)
	}
	if got, want := string(m.Append(nil)), `{"chatKey":"k","model":{"id":1},"fates":[{"id":1}],"seq":4}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
