package anthropictest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// prompt builds bodies whose blocks all have the same number of tokens.
type prompt struct {
	model   string
	tools   int
	system  int
	blocks  []string // of alternating messages; "!" at the end marks one
	more    map[string]any
	toolset string // distinguishes tools
}

const blockTokens = 100

func filler(label string) string { return label + strings.Repeat("x", 4*blockTokens-len(label)) }

func (p prompt) body(t *testing.T) []byte {
	t.Helper()
	body := map[string]any{"model": "claude-" + p.model, "max_tokens": 4096, "stream": true}
	var tools, system, messages []any
	for i := range p.tools {
		tools = append(tools, map[string]any{"name": fmt.Sprint("t", i), "description": filler(p.toolset), "input_schema": map[string]any{"type": "object"}})
	}
	for i := range p.system {
		system = append(system, map[string]any{"type": "text", "text": filler(fmt.Sprint("system", i))})
	}
	for i, label := range p.blocks {
		name, marked := strings.CutSuffix(label, "!")
		block := map[string]any{"type": "text", "text": filler(name)}
		if marked {
			block["cache_control"] = map[string]any{"type": "ephemeral"}
		}
		messages = append(messages, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": []any{block}})
	}
	body["tools"], body["system"], body["messages"] = tools, system, messages
	maps.Copy(body, p.more)
	b, err := json.Marshal(body)
	stdtest.Must(t, err)
	return b
}

func (p prompt) positions(t *testing.T) []position {
	t.Helper()
	b, err := decode(p.body(t))
	stdtest.Must(t, err)
	return b.positions()
}

// labels are n blocks, of which some are marked.
func labels(n int, marked ...int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("b", i)
	}
	for _, i := range marked {
		out[i] += "!"
	}
	return out
}

// TestCache follows requests in one workspace; what they read and write is given in blocks.
func TestCache(t *testing.T) {
	object := func(text string) any { return values(t, text) }
	type step struct {
		prompt      prompt
		read, write int
	}
	p := func(blocks ...string) prompt { return prompt{tools: 1, system: 1, blocks: blocks} }
	with := func(q prompt, key string, v any) prompt { q.more = map[string]any{key: v}; return q }
	tests := []struct {
		name  string
		steps []step
	}{
		{"no breakpoint", []step{{p(labels(15)...), 0, 0}, {p(labels(15)...), 0, 0}}},
		{"the same again", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(15, 14)...), 17, 0}}},
		{"a growing chat", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(17, 16)...), 17, 2}, {p(labels(19, 18)...), 19, 2}}},
		{"the breakpoint is not the end", []step{{p(labels(15, 12)...), 0, 15}, {p(labels(17, 14)...), 15, 2}}},
		{"nineteen blocks more", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(34, 33)...), 17, 19}}},
		{"twenty blocks more", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(35, 34)...), 0, 37}}},
		{"twenty blocks more with the last breakpoint kept", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(35, 14, 34)...), 17, 20}}},
		{"twenty blocks more with a breakpoint between", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(35, 20, 34)...), 17, 20}}},
		{"only breakpoints write", []step{{p(labels(15, 14)...), 0, 17}, {p(labels(14, 13)...), 0, 16}}},
		{"every breakpoint writes", []step{{p(labels(15, 12, 14)...), 0, 17}, {p(append(labels(13), "new!")...), 15, 1}}},
		{"another last block", []step{{p(labels(15, 14)...), 0, 17}, {p(append(labels(14), "new!")...), 0, 17}}},
		{"another block in the middle", []step{{p(labels(15, 12, 14)...), 0, 17}, {p(append(append(labels(13), "new"), "b14!")...), 15, 2}}},
		{"too short", []step{{p(labels(7, 6)...), 0, 0}, {p(labels(7, 6)...), 0, 0}, {p(labels(8, 7)...), 0, 10}}},
		{"another model", []step{{p(labels(15, 14)...), 0, 17}, {prompt{model: "y", tools: 1, system: 1, blocks: labels(15, 14)}, 0, 17}}},
		{"more system", []step{{p(labels(15, 14)...), 0, 17}, {prompt{tools: 1, system: 2, blocks: labels(15, 14)}, 0, 18}}},
		{"other tools", []step{{p(labels(15, 14)...), 0, 17}, {prompt{tools: 1, toolset: "o", system: 1, blocks: labels(15, 14)}, 0, 17}}},
		{"another choice", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "tool_choice", object(`{"type":"any"}`)), 0, 17}}},
		{"the default choice", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "tool_choice", object(`{"type":"auto"}`)), 17, 0}}},
		{"no parallel calls", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "tool_choice", object(`{"type":"auto","disable_parallel_tool_use":true}`)), 0, 17}}},
		{"thinking", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "thinking", object(`{"type":"adaptive"}`)), 0, 17}}},
		{"thinking disabled", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "thinking", object(`{"type":"disabled"}`)), 17, 0}}},
		{"another budget", []step{
			{with(p(labels(15, 14)...), "thinking", object(`{"type":"enabled","budget_tokens":1024}`)), 0, 17},
			{with(p(labels(15, 14)...), "thinking", object(`{"type":"enabled","budget_tokens":1025}`)), 0, 17},
			{with(p(labels(15, 14)...), "thinking", object(`{"type":"enabled","budget_tokens":1024}`)), 17, 0},
		}},
		{"another effort", []step{{p(labels(15, 14)...), 0, 17}, {with(p(labels(15, 14)...), "output_config", object(`{"effort":"low"}`)), 0, 17}}},
		{"automatic", []step{
			{with(p(labels(15)...), "cache_control", object(`{"type":"ephemeral"}`)), 0, 17},
			{with(p(labels(17)...), "cache_control", object(`{"type":"ephemeral"}`)), 17, 2},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cache{}
			for i, s := range tt.steps {
				positions := s.prompt.positions(t)
				got := c.account(positions, 1024)
				tokens := func(blocks int) int {
					if blocks == 0 {
						return 0
					}
					return positions[blocks-1].tokens
				}
				want := modeltest.Accounting{
					InputTokens: positions[len(positions)-1].tokens, CacheRead: tokens(s.read), CacheWrite: tokens(s.read+s.write) - tokens(s.read),
				}
				stdtest.Diff(t, fmt.Sprintf("request %d", i+1), want, got)
			}
		})
	}
}

// A change that invalidates messages keeps the cache of everything before them.
func TestSettingsSpareTheSystem(t *testing.T) {
	image := `[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`
	base := string(prompt{tools: 1, system: 12, blocks: labels(3, 2)}.body(t))
	base = edit(t, base, "system.11.cache_control", `{"type":"ephemeral"}`)
	for path, value := range map[string]string{
		"thinking": `{"type":"adaptive"}`, "tool_choice": `{"type":"any"}`, "messages.3": `{"role":"user","content":` + image + `}`,
	} {
		c := cache{}
		first := account(t, c, base)
		second := account(t, c, edit(t, base, path, value))
		if second.CacheRead == 0 || second.CacheRead >= first.CacheWrite || second.CacheWrite == 0 {
			t.Errorf("%s: wrote %+v, then %+v", path, first, second)
		}
	}
}

func account(t *testing.T, c cache, body string) modeltest.Accounting {
	t.Helper()
	b, err := decode([]byte(body))
	stdtest.Must(t, err)
	return c.account(b.positions(), 1024)
}

// TestSameContent: bodies that mean the same are the same to the cache.
func TestSameContent(t *testing.T) {
	base := string(prompt{system: 12, blocks: labels(3, 2)}.body(t))
	base = edit(t, base, "messages.0.content", `"`+filler("a<b")+`"`)
	result := `[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a"}]}]`
	tests := []struct {
		name, path, from, to string
		same                 bool
	}{
		{"a string or a block", "messages.0.content", `"` + filler("a<b") + `"`, `[{"type":"text","text":"` + filler("a<b") + `"}]`, true},
		{"a breakpoint less", "messages.0.content", `[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`, `[{"type":"text","text":"a"}]`, true},
		{"a result's breakpoint less", "messages.0.content", edit(t, result, "0.content.0.cache_control", `{"type":"ephemeral"}`), result, true},
		{"a result's string or block", "messages.0.content", edit(t, result, "0.content", `"a"`), result, true},
		{"an input called cache_control", "messages.1.content", `[{"type":"tool_use","id":"a","name":"b","input":{"cache_control":1}}]`, `[{"type":"tool_use","id":"a","name":"b","input":{}}]`, false},
		{"another role", "messages.1.role", `"assistant"`, `"user"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := cache{}
			first, second := account(t, c, edit(t, base, tt.path, tt.from)), account(t, c, edit(t, base, tt.path, tt.to))
			if same := second.CacheRead == first.CacheWrite; same != tt.same || first.CacheWrite == 0 {
				t.Errorf("wrote %+v, then %+v, want the same: %v", first, second, tt.same)
			}
		})
	}
}

// TestCacheInTheServer grows a chat with a moved breakpoint through the server.
func TestCacheInTheServer(t *testing.T) {
	s := newServer(t, "", modeltest.FailWith(model.ReasonOverloaded, true), modeltest.Say("a"), modeltest.Say("b"), modeltest.Say("c"))
	first := string(prompt{system: 20, blocks: labels(1, 0)}.body(t))
	if r := post(t, s.URL+"/messages", first); r.status != statusOverloaded {
		t.Fatalf("status %d", r.status)
	}
	for _, blocks := range [][]string{labels(1, 0), labels(3, 2), labels(5, 4)} {
		r := ask(t, s, string(prompt{system: 20, blocks: blocks}.body(t)))
		calls := s.Calls()
		last := calls[len(calls)-1]
		for _, usage := range r.usage {
			if usage["input_tokens"] != float64(last.InputTokens-last.CacheRead-last.CacheWrite) || usage["cache_read_input_tokens"] != float64(last.CacheRead) || usage["cache_creation_input_tokens"] != float64(last.CacheWrite) {
				t.Errorf("usage %v, accounted %+v", usage, last)
			}
		}
	}
	calls := s.Calls()
	if len(calls) != 3 || calls[0].CacheRead != 0 {
		t.Fatalf("a failed call wrote: %+v", calls)
	}
	for _, c := range calls[1:] {
		if 10*c.CacheRead < 9*c.InputTokens || c.InputTokens != c.CacheRead+c.CacheWrite || c.Output == 0 {
			t.Errorf("%+v, want nine tenths read", c)
		}
	}
}
