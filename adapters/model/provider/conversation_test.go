package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// conversation is a chat whose history is what its models answered.
type conversation struct {
	t    *testing.T
	req  model.Request
	said int
}

func newConversation(t *testing.T) *conversation {
	t.Helper()
	c := &conversation{t: t}
	c.req.System, c.req.Memo = strings.Repeat("You are a careful agent. ", 60), new(model.Memo)
	for i := range 12 {
		c.req.Tools = append(c.req.Tools, model.ToolSpec{
			Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("does something useful ", 12),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","description":"what to look for"}}}`),
		})
	}
	return c
}

// scripted answers like a model with tools: every question is answered after one or more steps with
// thinking and calls, of which some are many at once.
func scripted() *modeltest.Script {
	n := 0
	return modeltest.NewFunc(func(req model.Request) []model.Event {
		n++
		last := req.Messages[len(req.Messages)-1]
		steps := 0
		for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != modelmessage.RoleUser; i-- {
			if req.Messages[i].Role == modelmessage.RoleAssistant {
				steps++
			}
		}
		events := modeltest.ReasoningEvents(fmt.Sprintf("I think about request %d.", n))
		if steps >= n%4 || last.Role == modelmessage.RoleUser && n%5 == 0 {
			return append(append(events, modeltest.TextEvents(fmt.Sprintf("Answer %d. ", n), strings.Repeat("It is so. ", 20))...), modeltest.Finish("stop"))
		}
		events = append(events, modeltest.TextEvents("I look it up.")...)
		var calls []modeltest.Call
		for i := range 1 + n%3*n%7 {
			calls = append(calls, modeltest.Call{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "tool_1", Input: fmt.Sprintf(`{"q":"%d <x>"}`, i)})
		}
		return append(append(events, modeltest.CallEvents(calls...)...), modeltest.Finish("tool-calls"))
	})
}

// ask says something and lets the model answer, with as many steps as it wants.
func (c *conversation) ask(m model.Model) {
	c.t.Helper()
	c.said++
	c.user(fmt.Sprintf("Question %d: %s", c.said, strings.Repeat("and what about this? ", 5)))
	for c.step(m) {
		if c.said%7 == 3 {
			c.user("By the way, one more thing.") // a message that arrives during the run
		}
	}
}

func (c *conversation) user(text string) {
	c.req.Messages = append(c.req.Messages, modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{
		modelmessage.Text{Text: `{"t":"2026-01-02T15:04:05Z"}`}, modelmessage.Text{Text: text},
	}})
}

// step makes one request, adds the answer to the history, and reports whether it had calls.
func (c *conversation) step(m model.Model) bool {
	c.t.Helper()
	answer, results := modelmessage.Message{Role: modelmessage.RoleAssistant}, modelmessage.Message{Role: modelmessage.RoleTool}
	var text string
	var metadata json.RawMessage
	finished := false
	for e, err := range m.Stream(c.t.Context(), c.req) {
		if err != nil {
			c.t.Fatalf("question %d: %v", c.said, err)
		}
		if e.ProviderMetadata != nil {
			metadata = e.ProviderMetadata
		}
		switch e.Kind {
		case model.EventTextStart, model.EventReasoningStart:
			text, metadata = "", e.ProviderMetadata
		case model.EventTextDelta, model.EventReasoningDelta:
			text += e.Delta
		case model.EventTextEnd:
			answer.Parts = append(answer.Parts, modelmessage.Text{Text: text, ProviderOptions: metadata})
		case model.EventReasoningEnd:
			answer.Parts = append(answer.Parts, modelmessage.Reasoning{Text: text, ProviderOptions: metadata})
		case model.EventToolCall:
			answer.Parts = append(answer.Parts, modelmessage.ToolCall{ToolCallID: e.ID, ToolName: e.ToolName, Input: json.RawMessage(e.Input), ProviderOptions: e.ProviderMetadata})
			results.Parts = append(results.Parts, modelmessage.ToolResult{
				ToolCallID: e.ID, ToolName: e.ToolName, Output: modelmessage.Output{Type: modelmessage.OutputText, Text: strings.Repeat("found it. ", 30)},
			})
		case model.EventFinish:
			finished = true
		default:
		}
	}
	if !finished {
		c.t.Fatalf("question %d: not finished", c.said)
	}
	c.req.Messages = append(c.req.Messages, answer)
	if len(results.Parts) > 0 {
		c.req.Messages = append(c.req.Messages, results)
	}
	return len(results.Parts) > 0
}

// compact replaces all but the last turns by a summary.
func (c *conversation) compact() {
	questions := 0
	for i, m := range slices.Backward(c.req.Messages) {
		if m.Role != modelmessage.RoleUser {
			continue
		}
		if questions++; questions >= 4 && i > 0 && c.req.Messages[i-1].Role == modelmessage.RoleAssistant {
			summary := modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.Text{Text: "Summary: " + strings.Repeat("they talked. ", 100)}}}
			c.req.Messages = append([]modelmessage.Message{summary}, c.req.Messages[i:]...)
			return
		}
	}
}

// TestPromptsAreCached has 50 turns with tools, messages that arrive during a run, and two
// compactions: by the service's accounting at least 90 % of the input is read from its cache, apart
// from the requests right after a compaction, and consecutive requests differ only at their end.
func TestPromptsAreCached(t *testing.T) {
	for _, tt := range []struct {
		api, name string
		thinking  Thinking
	}{
		{apitest.Chat, "", Thinking{}},
		{apitest.Messages, "", Thinking{}},
		{apitest.Messages, "adaptive", Thinking{Type: "adaptive", Effort: "high"}},
		{apitest.Messages, "budget", Thinking{Type: "enabled", Budget: 2048}},
		{apitest.Responses, "", Thinking{Effort: "low"}},
	} {
		t.Run(tt.api+tt.name, func(t *testing.T) {
			server, url := apitest.Start(t, tt.api, scripted(), testKey)
			m := newModel(t, Options{Endpoint: Endpoint{API: apiOf(tt.api), BaseURL: url, APIKey: testKey, Model: "test", Settings: Settings{Thinking: tt.thinking, MaxOutputTokens: 8192}}})
			c := newConversation(t)
			broken := map[int]bool{0: true} // requests that begin anew, for a known cause
			for turn := range 50 {
				if turn == 20 || turn == 40 {
					c.compact()
					broken[len(server.Calls())] = true
				}
				c.ask(m)
			}
			if faults := server.Faults(); len(faults) > 0 {
				t.Fatalf("%d faults, the first: %v", len(faults), faults[0])
			}
			input, read := 0, 0
			for i, call := range server.Calls() {
				if !broken[i] {
					input, read = input+call.InputTokens, read+call.CacheRead
				}
			}
			if float64(read) < 0.9*float64(input) {
				t.Errorf("%d of %d tokens were read from the cache, want 90 %%", read, input)
			}
			t.Logf("%d requests, %.1f %% of %d tokens read from the cache", len(server.Calls()), 100*float64(read)/float64(input), input)
			checkGrowth(t, server.Bodies(), broken)
		})
	}
}

// checkGrowth checks that each request begins with all of the previous one except its end.
func checkGrowth(t *testing.T, bodies [][]byte, broken map[int]bool) {
	t.Helper()
	var before []byte
	for i, body := range bodies {
		begins := apitest.Beginning(t, body)
		if !broken[i] && !bytes.HasPrefix(begins, before) {
			t.Fatalf("request %d does not begin as the one before:\n%s\n%s", i, before, begins)
		}
		before = begins
	}
}

// TestSwitchingProtocols lets other protocols continue a chat, at any of its steps. No service ever gets a request that
// it refuses.
func TestSwitchingProtocols(t *testing.T) {
	chat := modeltest.NewServer(scripted(), modeltest.ServerOptions{Key: testKey})
	t.Cleanup(chat.Close)
	messages := anthropictest.NewServer(scripted(), testKey)
	t.Cleanup(messages.Close)
	reasons, responses := newResponses(t, scripted(), testKey)
	models := []model.Model{
		reasons,
		newModel(t, Options{Endpoint: Endpoint{BaseURL: chat.URL, APIKey: testKey, Model: "chat"}}),
		newModel(t, Options{Endpoint: Endpoint{API: APIMessages, BaseURL: messages.URL, APIKey: testKey, Model: "claude-a"}}),
		newModel(t, Options{Endpoint: Endpoint{API: APIMessages, BaseURL: messages.URL, APIKey: testKey, Model: "claude-b", Settings: Settings{Thinking: Thinking{Type: "enabled", Budget: 1024}}}}),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	switches := 0
	for switches < 1000 {
		c, last := newConversation(t), -1
		c.req.System = "You are brief."
		for c.said < 12 {
			c.said++
			c.user("and now?")
			for going := true; going; {
				next := rnd.IntN(len(models))
				if next != last {
					switches++
				}
				last, going = next, c.step(models[next])
			}
			if rnd.IntN(6) == 0 {
				c.compact()
			}
		}
		if faults := slices.Concat(chat.Faults(), messages.Faults(), responses.Faults()); len(faults) > 0 {
			t.Fatalf("%d faults after %d switches, the first: %v", len(faults), switches, faults[0])
		}
	}
}

// Thinking that a service does not know as its own, for example after a change of the account, is
// left out from then on, after one refusal.
func TestForeignThinkingIsLeftOut(t *testing.T) {
	start := func(key string) (*Model, *anthropictest.Server) {
		server := anthropictest.NewServer(scripted(), key)
		t.Cleanup(server.Close)
		return newModel(t, Options{Endpoint: Endpoint{API: APIMessages, BaseURL: server.URL, APIKey: Secret(key), Model: "claude-test", Settings: Settings{Thinking: Thinking{Type: "enabled", Budget: 1024}}}}), server
	}
	before, _ := start("key-one-of-two")
	after, server := start("key-two-of-two")
	c := newConversation(t)
	for range 3 {
		c.ask(before)
	}
	for range 4 {
		c.ask(after)
	}
	if faults := server.Faults(); len(faults) != 1 || !strings.Contains(faults[0].Error(), "signature") {
		t.Errorf("faults %v, want one about a signature", faults)
	}
}
