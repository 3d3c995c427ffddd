package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestServerAccounts plays a growing chat and checks the tokens that are billed and reported.
func TestServerAccounts(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("x", n)) }
	with := func(tool, name, key string, messages ...string) string {
		return fmt.Sprintf(`{"model":%q,"stream":true,"stream_options":{"include_usage":true},"prompt_cache_key":%q,"messages":[%s],`+
			`"tools":[{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}]}`, name, key, strings.Join(messages, ","), tool)
	}
	rest := len(wireBody{body: []byte(with("t", "m", "", long(0)))}.prompt())
	first, hi := long(4096-rest), `{"role":"user","content":"hi"}` // a prompt of 4096 bytes
	steps := []struct {
		name, body  string
		input, read int
	}{
		{"first", with("t", "m", "", first), 1024, 0},
		{"the same again", with("t", "m", "", first), 1024, 1024},
		{"grown", with("t", "m", "", first, long(570)), 1174, 1024},
		{"grown again", with("t", "m", "", first, long(570), hi), 1182, 1152},
		{"white space", with("t", "m", "", strings.Replace(first, `,"`, ` , "`, 1)), 1024, 1024},
		{"messages in another order", with("t", "m", "", hi, first), 1032, 0},
		{"another tool", with("u", "m", "", first), 1024, 0},
		{"another model", with("t", "n", "", first), 1024, 0},
		{"another key", with("t", "m", "k", first), 1024, 0},
		{"changed at the end", with("t", "m", "", first, long(571)), 1174, 1152},
		{"short of the least", with("v", "m", "", long(4000-rest)), 1000, 0},
		{"short again", with("v", "m", "", long(4000-rest)), 1000, 0},
	}
	script := NewScript()
	script.Otherwise = &Step{Reasoning: []string{"12345678"}, Text: []string{"1234"}}
	s := NewServer(script, ServerOptions{})
	t.Cleanup(s.Close)
	for i, step := range steps {
		got := post(t, s, step.body)
		want := Accounting{InputTokens: step.input, CacheRead: step.read, Output: 3, Body: i}
		stdtest.Diff(t, step.name, want, s.Calls()[i])
		usage := fmt.Sprintf(`"usage":{"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"total_tokens":%d}`,
			step.input, step.read, step.input+3)
		if !strings.Contains(got.text, usage) {
			t.Errorf("%s: no %s in %s", step.name, usage, got.text)
		}
	}
}

// TestPromptsOfAChatAreKeptOnce checks that a chat that grows does not fill the memory.
func TestPromptsOfAChatAreKeptOnce(t *testing.T) {
	var c PromptCache
	c.Account("k", []byte("one"))
	c.Account("k", []byte("one and two"))
	if kept := c.prompts["k"]; len(kept) != 1 {
		t.Errorf("%q are kept, want the longest alone", kept)
	}
}
