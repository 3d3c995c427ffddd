package provider

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// protocolService is a protocol as the suite tests it.
func protocolService(name string) modeltest.Service {
	client := func(t *testing.T, url, key string, attempts int, idle time.Duration) model.Model {
		t.Helper()
		e := Endpoint{API: apiOf(name), BaseURL: url, APIKey: Secret(key)}
		if e.API == APIResponses {
			e.Settings.Thinking.Summary = "auto" // without it, the service tells nothing of the reasoning
		}
		return newModel(t, Options{Endpoint: e, MaxAttempts: attempts, IdleTimeout: idle, FirstByteTimeout: 10 * idle})
	}
	start := func(t *testing.T, m model.Model, key string) (string, func() []error) {
		t.Helper()
		s, url := apitest.Start(t, name, m, key)
		return url, s.Faults
	}
	overloaded := map[string]int{apitest.Chat: 503, apitest.Messages: 529, apitest.Responses: 503}
	habits := map[string]map[string]change{apitest.Chat: chatHabits(), apitest.Messages: messagesHabits(), apitest.Responses: responsesHabits()}
	return modeltest.Service{Client: client, Overloaded: overloaded[name], Habits: habits[name], Start: start}
}

// TestProtocols holds every protocol to the same promises.
func TestProtocols(t *testing.T) {
	for _, name := range apitest.APIs() {
		t.Run(name, func(t *testing.T) { modeltest.Suite(t, protocolService(name)) })
	}
}
