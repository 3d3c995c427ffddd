package apitest

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
)

// The protocols, by the names that the settings use.
const (
	Chat      = "chat"
	Messages  = "messages"
	Responses = "responses"
)

// APIs returns all protocols.
func APIs() []string { return []string{Chat, Messages, Responses} }

// Start serves a model by a protocol until the test ends, for requests with the key, or for all requests if it is empty.
// It also returns the base URL, ending in /v1.
func Start(t *testing.T, api string, m model.Model, key string) (s *modeltest.Endpoint, url string) {
	t.Helper()
	switch api {
	case Chat:
		s = &modeltest.NewServer(m, modeltest.ServerOptions{Key: key}).Endpoint
	case Messages:
		s = &anthropictest.NewServer(m, key).Endpoint
	case Responses:
		s = &responsestest.NewServer(m, key).Endpoint
	default:
		t.Fatalf("there is no fake of the protocol %q", api)
	}
	t.Cleanup(s.Close)
	return s, s.URL
}

// Beginning returns the beginning of a request that later requests of a chat share if the chat only
// grows: the body up to the last text of its list of messages, without Anthropic's cache breakpoints.
// The rest consists of brackets, because the last message may grow, and settings.
func Beginning(t *testing.T, body []byte) []byte {
	t.Helper()
	body = bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	var lists struct{ Messages, Input json.RawMessage } // every protocol has one of them
	err := json.Unmarshal(body, &lists)
	list := slices.Concat(lists.Messages, lists.Input)
	if err != nil || len(list) == 0 {
		t.Fatalf("a request without messages: %v", err)
	}
	return bytes.TrimRight(body[:bytes.Index(body, list)+len(list)], "]}")
}
