package anthropictest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
	pdf = "JVBERi0xLjQK"

	// goodBody has everything that a body may have and keeps every rule.
	goodBody = `{"model":"claude-x","max_tokens":4096,"stream":true,"temperature":0.5,"metadata":{"user_id":"u"},
		"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],
		"tools":[{"name":"look","description":"d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}},
			{"type":"custom","name":"other","input_schema":{"type":"object","properties":{}}},
			{"type":"web_search_20250305","name":"web_search","max_uses":3}],
		"tool_choice":{"type":"auto","disable_parallel_tool_use":true},
		"messages":[
			{"role":"user","content":[{"type":"text","text":"hi"},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}},
				{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"},"title":"t"},
				{"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"redacted_thinking","data":"x"},
				{"type":"text","text":"looking"},
				{"type":"tool_use","id":"toolu_1","name":"look","input":{"cache_control":1}},
				{"type":"tool_use","id":"toolu_2","name":"other","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"","is_error":true},
				{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"found"},{"type":"image","source":{"type":"url","url":"https://x"}}]},
				{"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]},
			{"role":"user","content":"more"}]}`
)

// edit returns body with the value at a path replaced, added, or removed if value is empty. A number
// that is the length of a list appends to it.
func edit(t *testing.T, body, path, value string) string {
	t.Helper()
	var root any
	stdtest.Must(t, json.Unmarshal([]byte(body), &root))
	var v any
	if value != "" {
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatalf("%s: %v", value, err)
		}
	}
	root = editAt(root, strings.Split(path, "."), v, value == "")
	b, err := json.Marshal(root)
	stdtest.Must(t, err)
	return string(b)
}

func editAt(at any, path []string, v any, remove bool) any {
	if len(path) == 0 {
		return v
	}
	switch at := at.(type) {
	case map[string]any:
		if len(path) == 1 && remove {
			delete(at, path[0])
			return at
		}
		at[path[0]] = editAt(at[path[0]], path[1:], v, remove)
		return at
	case []any:
		i, _ := strconv.Atoi(path[0])
		if i == len(at) {
			return append(at, v)
		}
		if len(path) == 1 && remove {
			return append(at[:i], at[i+1:]...)
		}
		at[i] = editAt(at[i], path[1:], v, remove)
		return at
	}
	return v
}

// checkRules requires exactly the named rules.
func checkRules(t *testing.T, err error, want string) {
	t.Helper()
	broken := map[string]bool{}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			id, _, _ := strings.Cut(line, " ")
			broken[id] = true
		}
	}
	if diff := cmp.Diff(strings.Fields(want), slices.Sorted(maps.Keys(broken)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rules (-want +got):\n%s\n%v", diff, err)
	}
}

func TestStrictBody(t *testing.T) {
	const (
		mark   = `{"type":"ephemeral"}`
		image  = "messages.0.content.1.source"
		paper  = "messages.0.content.2.source"
		plain  = "messages.0.content.3.source"
		calls  = "messages.1.content"
		answer = "messages.2.content"
	)
	tests := []struct{ name, path, value, want string }{
		{"as it is", "stream", "true", ""},
		{"system as a string", "system", `"s"`, ""},
		{"no system", "system", "", ""},
		{"null means absent", "system", "null", ""},
		{"no tools and no choice", "tool_choice", "", ""},
		{"choice of a tool", "tool_choice", `{"type":"tool","name":"look"}`, ""},
		{"choice of none", "tool_choice", `{"type":"none"}`, ""},
		{"a result without content", answer + ".1.content", "", ""},
		{"an assistant's text at the end", "messages.4", `{"role":"assistant","content":"I"}`, ""},
		{"automatic caching", "cache_control", mark, ""},

		{"unknown field", "max_completion_tokens", "5", "M1"},
		{"field in capitals", "Stop_sequences", "[]", "M1"},
		{"unknown field of a message", "messages.0.name", `"n"`, "M1"},
		{"unknown field of a block", "messages.0.content.0.id", `"n"`, "M1"},
		{"unknown field of a tool", "tools.0.parameters", `{}`, "M1"},
		{"unknown field of a choice", "tool_choice.name", `"look"`, "M1"},
		{"marked thinking", calls + ".0.cache_control", mark, "M1"},
		{"marked redacted thinking", calls + ".1.cache_control", mark, "M1"},
		{"no model", "model", "", "M2"},
		{"empty model", "model", `""`, "M2"},
		{"no limit", "max_tokens", "", "M2"},
		{"limit of nothing", "max_tokens", "0", "M2"},
		{"no messages", "messages", "", "M2"},
		{"empty messages", "messages", "[]", "M2"},
		{"message without role", "messages.3.role", "", "M2 M3 M4"},
		{"text without text", "messages.0.content.0.text", "", "M2 M5"},
		{"unsigned thinking", calls + ".0.signature", "", "M2"},
		{"result of nothing", answer + ".0.tool_use_id", "", "M2 M8"},
		{"image of nothing", "messages.0.content.1.source.data", "", "M14 M2"},
		{"system role", "messages.3.role", `"system"`, "M3"},
		{"tool role", "messages.3.role", `"tool"`, "M3 M4"},
		{"assistant first", "messages", `[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]`, "M3"},
		{"empty content", "messages.3.content", `[]`, "M4"},
		{"unknown block", "messages.3.content", `[{"type":"smell"}]`, "M4"},
		{"image of the assistant", calls + ".2", `{"type":"image","source":{"type":"url","url":"https://x"}}`, "M4"},
		{"thinking of the user", "messages.3.content", `[{"type":"thinking","thinking":"a","signature":"b"}]`, "M4"},
		{"call of the user", "messages.3.content", `[{"type":"tool_use","id":"a","name":"b","input":{}}]`, "M4 M8"},
		{"thinking at the end", "messages.3", `{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"b"}]}`, "M4"},
		{"redacted thinking at the end", "messages.3", `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"redacted_thinking","data":"b"}]}`, "M4"},
		{"image in the system", "system.0", `{"type":"image","source":{"type":"url","url":"https://x"}}`, "M4"},
		{"result in a result", answer + ".1.content.0", `{"type":"tool_result","tool_use_id":"a"}`, "M4"},
		{"number as the content of a result", answer + ".1.content", `5`, "M4"},
		{"empty string", "messages.3.content", `""`, "M5"},
		{"blank string", "messages.3.content", `" \n"`, "M5"},
		{"empty text", "messages.0.content.0.text", `""`, "M5"},
		{"blank text", calls + ".2.text", `"\n\n"`, "M5"},
		{"empty text of a result", answer + ".1.content.0.text", `""`, "M5"},
		{"empty system", "system", `""`, "M5"},
		{"blank end", "messages.4", `{"role":"assistant","content":"I "}`, "M6"},
		{"call without id", calls + ".3.id", `""`, "M7 M8"},
		{"bad id", calls + ".3.id", `"a.b"`, "M7 M8"},
		{"same id twice", calls + ".4.id", `"toolu_1"`, "M7 M8"},
		{"bad name", calls + ".3.name", `"a b"`, "M7"},
		{"long name", calls + ".3.name", `"` + strings.Repeat("a", 65) + `"`, "M7"},
		{"input is a list", calls + ".3.input", `[]`, "M7"},
		{"input is a string", calls + ".3.input", `"{}"`, "M7"},
		{"no result", answer + ".0", "", "M8"},
		{"no results at the end", "messages", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{}}]}]`, "M8"},
		{"results a message later", "messages.1.content.4", "", "M8"},
		{"result of another call", answer + ".0.tool_use_id", `"toolu_3"`, "M8"},
		{"result twice", answer + ".2", `{"type":"tool_result","tool_use_id":"toolu_2"}`, "M8"},
		{"orphan", "messages.3.content", `[{"type":"tool_result","tool_use_id":"toolu_1"}]`, "M8"},
		{"text before results", answer, `[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"tool_result","tool_use_id":"toolu_2"}]`, "M8"},
		{"tool with bad name", "tools.0.name", `"a.b"`, "M9"},
		{"tool with long name", "tools.0.name", `"` + strings.Repeat("a", 65) + `"`, "M9"},
		{"tools of one name", "tools.1.name", `"look"`, "M9"},
		{"tool named as the service's", "tools.1.name", `"web_search"`, "M9"},
		{"schema of a string", "tools.0.input_schema.type", `"string"`, "M9"},
		{"schema without type", "tools.0.input_schema", `{}`, "M9"},
		{"unknown choice", "tool_choice", `{"type":"required"}`, "M10"},
		{"choice of no tool", "tool_choice", `{"type":"tool","name":"nothing"}`, "M10"},
		{"choice without tools", "tools", ``, "M10"},
		{"four breakpoints", answer + ".1.content.0.cache_control", mark, ""},
		{"breakpoint for a day", answer + ".2.cache_control.ttl", `"1d"`, "M11"},
		{"persistent breakpoint", answer + ".2.cache_control.type", `"persistent"`, "M11"},
		{"long after short", "system.0.cache_control", mark, ""},
		{"long after short in the tools", "tools.0.cache_control", mark, "M11"},
		{"marked empty text", answer + ".2.text", `""`, "M11"},
		{"image as SVG", image + ".media_type", `"image/svg+xml"`, "M14"},
		{"image is none", image + ".data", `"AAAA"`, "M14"},
		{"image is a JPEG", image + ".media_type", `"image/jpeg"`, "M14"},
		{"image is no base64", image + ".data", `"a?"`, "M14"},
		{"image from nowhere", image + ".type", `"ftp"`, "M14"},
		{"document is a picture", paper + ".media_type", `"image/png"`, "M14"},
		{"document is none", paper + ".data", `"AAAA"`, "M14"},
		{"document of HTML", plain + ".media_type", `"text/html"`, "M14"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := edit(t, goodBody, tt.path, tt.value)
			if tt.name == "no tools and no choice" {
				body = edit(t, body, "tools", "")
			}
			checkRules(t, StrictBody([]byte(body)), tt.want)
		})
	}
}

func TestStrictBreakpoints(t *testing.T) {
	const mark = `{"type":"ephemeral","ttl":"1h"}`
	four := edit(t, goodBody, "messages.0.content.0.cache_control", mark)
	checkRules(t, StrictBody([]byte(four)), "")
	for _, path := range []string{"cache_control", "tools.1.cache_control", "messages.2.content.1.content.0.cache_control"} {
		checkRules(t, StrictBody([]byte(edit(t, edit(t, four, "messages.2.content.2.cache_control.ttl", `"1h"`), path, mark))), "M11")
	}
}

func TestStrictThinking(t *testing.T) {
	base := edit(t, edit(t, goodBody, "temperature", ""), "thinking", `{"type":"enabled","budget_tokens":1024}`)
	tests := []struct{ name, path, value, want string }{
		{"as it is", "stream", "true", ""},
		{"adaptive", "thinking", `{"type":"adaptive"}`, ""},
		{"disabled", "thinking", `{"type":"disabled"}`, ""},
		{"temperature 1", "temperature", "1", ""},
		{"top_p 0.95", "top_p", "0.95", ""},
		{"temperature", "temperature", "0.9", "M13"},
		{"top_p", "top_p", "0.9", "M13"},
		{"top_k", "top_k", "5", "M13"},
		{"no budget", "thinking.budget_tokens", "", "M12 M2"},
		{"unknown thinking", "thinking", `{"type":"on"}`, "M12"},
		{"small budget", "thinking.budget_tokens", "1023", "M12"},
		{"budget of all tokens", "thinking.budget_tokens", "4096", "M12"},
		{"budget of adaptive thinking", "thinking.type", `"adaptive"`, "M1"},
		{"forced tool", "tool_choice", `{"type":"tool","name":"look"}`, "M10"},
		{"forced tools", "tool_choice", `{"type":"any"}`, "M10"},
		{"prefill", "messages.4", `{"role":"assistant","content":"I"}`, "M6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkRules(t, StrictBody([]byte(edit(t, base, tt.path, tt.value))), tt.want)
		})
	}
	forced := edit(t, edit(t, base, "thinking", `{"type":"adaptive"}`), "tool_choice", `{"type":"any"}`)
	checkRules(t, StrictBody([]byte(forced)), "") // adaptive thinking supports forced tool use
}

func TestStrictBodyIsNoRequest(t *testing.T) {
	for _, body := range []string{``, `nonsense`, `[]`, `{"model":5}`, `{"messages":[5]}`, `{"max_tokens":1.5}`, "{\"model\":\"\xff\"}"} {
		if err := StrictBody([]byte(body)); err == nil {
			t.Errorf("%q passes", body)
		}
	}
}

// TestRulesAreDocumented compares the rules with the document.
func TestRulesAreDocumented(t *testing.T) {
	text := stdtest.Read(t, "../../../docs/design/0013-messages-request.md")
	for _, rule := range []string{
		ruleFields, ruleRequired, ruleRoles, ruleContent, ruleText, ruleLast, ruleCall, ruleAnswered, ruleTools,
		ruleChoice, ruleCache, ruleThinking, ruleSampling, ruleMedia, ruleSignature, ruleKept,
	} {
		id, _, _ := strings.Cut(rule, " ")
		if !strings.Contains(string(text), "\n| "+id+" | ") {
			t.Errorf("%s is not in the document", rule)
		}
	}
}

func FuzzStrictBody(f *testing.F) {
	f.Add([]byte(goodBody))
	f.Add([]byte(`{"messages":[{"role":"","content":[null,{"type":"tool_result","content":[null]}]},null],"tools":[null],"cache_control":5}`))
	f.Add([]byte(`{"system":[null],"messages":[{"role":"assistant","content":[{"type":"image","source":{"type":"content","content":5}}]}],"thinking":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		err := StrictBody(body)
		if err == nil && !json.Valid(body) {
			t.Error("accepted what is no JSON")
		}
		b, failed := decode(body)
		if failed != nil {
			return
		}
		// What the server does with a body that it takes.
		b.request()
		c := cache{}
		first, second := c.account(b.positions(), 1), c.account(b.positions(), 1)
		if first.CacheRead != 0 || second.CacheWrite != 0 || first.InputTokens != second.InputTokens {
			t.Errorf("%+v, and again %+v", first, second)
		}
	})
}
