package responsestest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// outputs are the items of an answer as they are sent back.
func outputs(t *testing.T, r reply) []string {
	t.Helper()
	var items []string
	for _, item := range r.response(t).Output {
		b, err := json.Marshal(item)
		stdtest.Must(t, err)
		items = append(items, string(b))
	}
	return items
}

// TestReasoningRoundTrip changes what a client sends back of an answer with reasoning, a text and a
// call, one thing at a time.
func TestReasoningRoundTrip(t *testing.T) {
	const result = `{"type":"function_call_output","call_id":"c","output":"r"}`
	step := modeltest.Step{Reasoning: []string{"hm"}, Text: []string{"wait"}, Calls: []modeltest.Call{{ID: "c", Name: "t", Input: "{}"}}}
	tests := []struct {
		name string
		edit func(items []string) []string // reasoning, message, call
		want string                        // in the refusal; empty means none
	}{
		{"unchanged", func(it []string) []string { return it }, ""},
		{"without ids of what follows", func(it []string) []string { return []string{it[0], withoutID(it[1]), withoutID(it[2])} }, ""},
		{"without reasoning and ids", func(it []string) []string { return []string{withoutID(it[1]), withoutID(it[2])} }, ""},
		{"without reasoning", func(it []string) []string { return it[1:] }, "was provided without its required 'reasoning' item: 'rs_"},
		{"without the message", func(it []string) []string { return []string{it[0], it[2]} }, "required following item"},
		{"reasoning after the message", func(it []string) []string { return []string{it[1], it[0], it[2]} }, "required 'reasoning' item"},
		{"summary changed", func(it []string) []string { return []string{strings.Replace(it[0], "hm", "hmm", 1), it[1], it[2]} }, "invalid_encrypted_content"},
		{"content changed", func(it []string) []string {
			return []string{strings.Replace(it[0], `"encrypted_content":"`, `"encrypted_content":"A`, 1), it[1], it[2]}
		}, "could not be verified"},
		{"id changed", func(it []string) []string {
			return []string{strings.Replace(it[0], `"id":"rs_`, `"id":"rs_0`, 1), it[1], it[2]}
		}, "could not be verified"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, "", step, modeltest.Say("done"))
			items := tt.edit(outputs(t, post(t, s, ask(hi))))
			got := post(t, s, ask(append(append([]string{hi}, items...), result)...))
			if tt.want == "" && got.status != http.StatusOK || tt.want != "" && (got.status != http.StatusBadRequest || !strings.Contains(got.text, tt.want)) {
				t.Errorf("%d %s, want %q", got.status, got.text, tt.want)
			}
			if (len(s.Faults()) > 0) != (tt.want != "") {
				t.Errorf("faults %v", s.Faults())
			}
		})
	}
}

func withoutID(item string) string {
	var members map[string]any
	if json.Unmarshal([]byte(item), &members) != nil {
		return ""
	}
	delete(members, "id")
	b, _ := json.Marshal(members) // it was JSON before
	return string(b)
}

// TestReasoningOfAnotherServer checks that only servers of the same key take each other's
// reasoning.
func TestReasoningOfAnotherServer(t *testing.T) {
	step := modeltest.Step{Reasoning: []string{"hm"}, Text: []string{"yes"}}
	items := outputs(t, post(t, newServer(t, "", step), ask(hi)))
	again := ask(append(append([]string{hi}, items...), hi)...)
	if got := post(t, newServer(t, "", step), again); got.status != http.StatusOK {
		t.Errorf("a server of the same key says %d %s", got.status, got.text)
	} else if ids := outputs(t, got); ids[0] == items[0] {
		t.Errorf("another answer has the same item %s", ids[0])
	}
	if got := post(t, newServer(t, "key", step), again); got.status != http.StatusBadRequest {
		t.Errorf("a server of another key says %d", got.status)
	}
}

// TestReasoningAtTheEnd sends back reasoning that an answer ended with.
func TestReasoningAtTheEnd(t *testing.T) {
	s := newServer(t, "", modeltest.Step{Reasoning: []string{"hm"}, FinishReason: "length"}, modeltest.Say("x"))
	items := outputs(t, post(t, s, ask(hi)))
	got := post(t, s, ask(hi, items[0], `{"role":"assistant","content":"made up"}`, hi))
	if got.status != http.StatusBadRequest || !strings.Contains(got.text, "required following item") {
		t.Errorf("%d %s", got.status, got.text)
	}
}

// TestReasoningAsAsked checks that summaries and encrypted content are only sent if the client asked
// for them, and that the content of an item in progress is of no use.
func TestReasoningAsAsked(t *testing.T) {
	const summary, include = `,"reasoning":{"summary":"auto"}`, `"include":["reasoning.encrypted_content"]`
	tests := []struct {
		name, body         string
		summary, encrypted bool
	}{
		{"both", ask(hi), true, true},
		{"no summary", strings.Replace(ask(hi), summary, "", 1), false, true},
		{"neither", strings.Replace(ask(hi), include+summary, `"include":[]`, 1), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, newServer(t, "", modeltest.Step{Reasoning: []string{"hm"}, Text: []string{"yes"}}), tt.body)
			item := got.response(t).Output[0]
			begun, _ := got.events[2]["item"].(map[string]any)
			if text := fmt.Sprint(got.events); strings.Contains(text, "hm") != tt.summary || strings.Contains(text, "reasoning_summary") != tt.summary {
				t.Errorf("the events are %s", text)
			}
			if encrypted := item["encrypted_content"]; (encrypted != nil) != tt.encrypted || encrypted != nil && encrypted == begun["encrypted_content"] {
				t.Errorf("%v became %v", begun, item)
			}
		})
	}
}

// TestAccounting plays a growing chat and checks the tokens that are billed.
func TestAccounting(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("x", n)) }
	with := func(instructions, key, name string, items ...string) string {
		return fmt.Sprintf(`{"model":%q,"stream":true,"store":false,"instructions":%q,"prompt_cache_key":%q,"input":[%s]}`, name, instructions, key, strings.Join(items, ","))
	}
	first := long(4096 - 29) // a prompt of 4096 bytes with its instructions
	steps := []struct {
		name, body string
		want       modeltest.Accounting
	}{
		{"first", with("s", "", "m", first), modeltest.Accounting{InputTokens: 1024}},
		{"the same again", with("s", "", "m", first), modeltest.Accounting{InputTokens: 1024, CacheRead: 1024}},
		{"grown", with("s", "", "m", first, long(571)), modeltest.Accounting{InputTokens: 1174, CacheRead: 1024}},
		{"grown again", with("s", "", "m", first, long(571), hi), modeltest.Accounting{InputTokens: 1182, CacheRead: 1152}},
		{"white space", with("s", "", "m", strings.Replace(first, `,"`, ` , "`, 1)), modeltest.Accounting{InputTokens: 1024, CacheRead: 1024}},
		{"other instructions", with("S", "", "m", first), modeltest.Accounting{InputTokens: 1024}},
		{"other model", with("s", "", "n", first), modeltest.Accounting{InputTokens: 1024}},
		{"other key", with("s", "k", "m", first), modeltest.Accounting{InputTokens: 1024}},
		{"changed at the end", with("s", "", "m", first, long(572)), modeltest.Accounting{InputTokens: 1174, CacheRead: 1152}},
		{"short of a step", with("s", "", "m", long(4000)), modeltest.Accounting{InputTokens: 1008}},
		{"short again", with("s", "", "m", long(4000)), modeltest.Accounting{InputTokens: 1008}},
	}
	script := modeltest.NewScript()
	script.Otherwise = &modeltest.Step{Reasoning: []string{"12345678"}, Text: []string{"1234"}}
	s := NewServer(script, "")
	defer s.Close()
	for i, step := range steps {
		got := post(t, s, step.body)
		step.want.Output, step.want.Body = 3, i
		stdtest.Diff(t, step.name, step.want, s.Calls()[i])
		want := map[string]any{
			"input_tokens": float64(step.want.InputTokens), "input_tokens_details": map[string]any{"cached_tokens": float64(step.want.CacheRead)},
			"output_tokens": 3.0, "output_tokens_details": map[string]any{"reasoning_tokens": 2.0}, "total_tokens": float64(step.want.InputTokens + 3),
		}
		stdtest.Diff(t, fmt.Sprintf("%s: usage", step.name), want, got.response(t).Usage)
	}
}

// TestToolsAreCachedFirst checks that a change of the tools invalidates what follows them.
func TestToolsAreCachedFirst(t *testing.T) {
	long := fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("x", 8000))
	s := newServer(t, "", modeltest.Say("a"), modeltest.Say("b"))
	post(t, s, ask(long))
	post(t, s, strings.Replace(ask(long), `"name":"t"`, `"name":"u"`, 1))
	if calls := s.Calls(); len(calls) != 2 || calls[1].InputTokens < 2000 || calls[1].CacheRead != 0 {
		t.Errorf("billed for %+v, want nothing from the cache", calls)
	}
}
