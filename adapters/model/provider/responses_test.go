package provider

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// thoughtful answers questions with two calls, and their results with a text, and reasons before
// each, sometimes in two parts.
func thoughtful() *modeltest.Script {
	n := 0
	return modeltest.NewFunc(func(req model.Request) []model.Event {
		n++
		events := modeltest.ReasoningEvents("I have to ", fmt.Sprint("think about ", n))
		if n%3 == 0 {
			more := modeltest.ReasoningEvents("and once more")
			for i := range more {
				more[i].ID = "reasoning-1"
			}
			events = append(events, more...)
		}
		isResult := func(m modelmessage.Message) bool { return m.Role == modelmessage.RoleTool }
		if slices.ContainsFunc(req.Messages[max(0, len(req.Messages)-2):], isResult) {
			return append(append(events, modeltest.TextEvents("Here ", "it is.")...), modeltest.Finish("stop"))
		}
		events = append(events, modeltest.TextEvents("Let me look.")...)
		for i := range 2 {
			events = append(events, modeltest.CallEvents(modeltest.Call{ID: fmt.Sprintf("call_%d_%d", n, i), Name: "tool_1", Input: `{"q":"x"}`})...)
		}
		return append(events, modeltest.Finish("tool-calls"))
	})
}

// newResponses starts the strict fake of the service, and returns its client.
func newResponses(t *testing.T, script *modeltest.Script, key string) (*Model, *responsestest.Server) {
	t.Helper()
	server := responsestest.NewServer(script, key)
	t.Cleanup(server.Close)
	return newModel(t, Options{MaxAttempts: 1, Endpoint: Endpoint{
		API: APIResponses, BaseURL: server.URL, APIKey: Secret(key), Model: "gpt-5.1", Settings: Settings{Thinking: Thinking{Effort: "low", Summary: "auto"}},
	}}), server
}

// TestResponsesAreCached has 50 turns with tools and reasoning, and a compaction: the service
// refuses nothing and, by its accounting, reads at least 90 % of every prompt from its cache, which is
// all that it has read before, apart from the first ones. All reasoning is sent back.
func TestResponsesAreCached(t *testing.T) {
	m, server := newResponses(t, thoughtful(), testKey)
	c := newConversation(t)
	c.req.System = strings.Repeat(c.req.System, 16)
	for turn := range 50 {
		if turn == 25 {
			c.compact()
		}
		c.ask(m)
	}
	if faults := server.Faults(); len(faults) > 0 {
		t.Fatalf("%d faults, the first: %v", len(faults), faults[0])
	}
	calls := server.Calls()
	if len(calls) != 100 {
		t.Fatalf("%d requests, want 100", len(calls))
	}
	for i, call := range calls {
		if i == 0 || i == 50 {
			continue
		}
		if rest := calls[i-1].InputTokens - call.CacheRead; rest > 128 || 10*call.CacheRead < 9*call.InputTokens {
			t.Errorf("request %d reads %d of %d tokens from the cache, where the one before had %d", i+1, call.CacheRead, call.InputTokens, calls[i-1].InputTokens)
		}
	}
	last := string(server.Bodies()[99])
	if n, want := strings.Count(last, `"type":"reasoning"`), 2*28-1; n != want {
		t.Errorf("the last request has %d reasoning items, want %d: those of three turns that were kept, and of the later ones", n, want)
	}
}

// Reasoning of another organization is refused once, and left out from then on.
func TestReasoningOfAnotherOrganization(t *testing.T) {
	before, _ := newResponses(t, thoughtful(), "key-one-of-two")
	after, server := newResponses(t, thoughtful(), "key-two-of-two")
	c := newConversation(t)
	c.ask(before)
	c.ask(after)
	c.ask(after)
	bodies := server.Bodies()
	if len(server.Faults()) != 1 || len(bodies) != 5 {
		t.Fatalf("%d faults in %d requests: %v", len(server.Faults()), len(bodies), server.Faults())
	}
	for i, want := range []int{2, 0, 1, 2, 3} {
		if n := strings.Count(string(bodies[i]), `"type":"reasoning"`); n != want {
			t.Errorf("request %d has %d reasoning items, want %d", i+1, n, want)
		}
	}
}

// A model that does not reason refuses the request for reasoning once.
func TestModelThatDoesNotReason(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, r.URL.Path+" "+string(body))
		if strings.Contains(string(body), "reasoning.encrypted_content") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":"include","code":null}}`)
			return
		}
		_, _ = io.WriteString(w, `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}`)
	}))
	defer server.Close()
	m := newModel(t, Options{Endpoint: Endpoint{API: APIResponses, BaseURL: server.URL, Model: "gpt-4.1"}})
	for range 2 {
		if text, finished, err := said(t.Context(), m, hello()); text != "ok" || !finished || err != nil {
			t.Errorf("%q, %t, %v", text, finished, err)
		}
	}
	if len(bodies) != 3 || !strings.HasPrefix(bodies[0], "/responses {") {
		t.Errorf("%d requests: %v", len(bodies), bodies)
	}
}

// TestRefusedThoughts has the words in which services refuse reasoning.
func TestRefusedThoughts(t *testing.T) {
	for _, tt := range []struct {
		status  int
		message string
		want    bool
	}{
		{400, "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content item_id did not match the target item id.", true},
		{400, "The encrypted content gAAA...DQ== could not be verified.", true},
		{400, "Encrypted content is not supported with this model.", true},
		{400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", true},
		{400, "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.", true},
		{400, "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.", true},
		{404, "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", true},
		{400, "messages.1.content.0: Invalid `signature` in `thinking` block", true},
		{400, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", false},
		{404, "The model kimi-thinking does not exist.", false},
		{429, "Rate limit reached.", false},
	} {
		body := fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, tt.message)
		err := newMasker(nil).statusError(tt.status, http.Header{}, []byte(body), time.Time{})
		if why, about := refusalOf(err, protocol.Shown{Thoughts: []string{"rs_1"}}); (about && why == refusalThoughts) != tt.want {
			t.Errorf("%q: %v, %t", tt.message, why, about)
		}
	}
}

// TestResponsesFaults calls the fake of the service, which fails in many ways, with one attempt
// each.
func TestResponsesFaults(t *testing.T) {
	half := func(r model.Reason) modeltest.Step {
		return modeltest.Step{Text: []string{"half"}, Err: &model.Error{Reason: r, Message: "m"}}
	}
	for _, tt := range []struct {
		name      string
		step      modeltest.Step
		reason    model.Reason
		retryable bool
		text      string
	}{
		{"whole", modeltest.Say("a", "b"), "", false, "ab"},
		{"rate", modeltest.FailWith(model.ReasonRate, true), model.ReasonRate, true, ""},
		{"quota", modeltest.FailWith(model.ReasonQuota, true), model.ReasonQuota, false, ""},
		{"overloaded", modeltest.FailWith(model.ReasonOverloaded, true), model.ReasonOverloaded, true, ""},
		{"too long", modeltest.FailWith(model.ReasonTooLong, false), model.ReasonTooLong, false, ""},
		{"not found", modeltest.FailWith(model.ReasonNotFound, false), model.ReasonNotFound, false, ""},
		{"filtered", modeltest.FailWith(model.ReasonFiltered, false), model.ReasonFiltered, false, ""},
		{"bad request", modeltest.FailWith(model.ReasonBadRequest, false), model.ReasonBadRequest, false, ""},
		{"wrong key", modeltest.FailWith(model.ReasonAuth, false), model.ReasonAuth, false, ""},
		{"cut", modeltest.CutAfter("half"), model.ReasonCut, true, "half"},
		{"error event", half(model.ReasonOverloaded), model.ReasonOverloaded, true, "half"},
		{"failed response", half(model.ReasonRate), model.ReasonRate, true, "half"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := responsestest.NewServer(modeltest.NewScript(tt.step), testKey)
			defer server.Close()
			m := newModel(t, Options{Endpoint: Endpoint{API: APIResponses, BaseURL: server.URL}, MaxAttempts: 1})
			text, finished, err := said(t.Context(), m, hello())
			if text != tt.text || finished != (tt.reason == "") {
				t.Errorf("heard %q, finished %t", text, finished)
			}
			e, failed := errors.AsType[*model.Error](err)
			if failed != (tt.reason != "") || failed && (e.Reason != tt.reason || e.Retryable != tt.retryable) {
				t.Errorf("failed with %#v, want %s, retryable %t", err, tt.reason, tt.retryable)
			}
		})
	}
}
