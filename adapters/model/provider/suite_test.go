package provider

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// TestProtocols holds every protocol to the same promises.
func TestProtocols(t *testing.T) {
	overloaded := map[string]int{apitest.Chat: 503, apitest.Messages: 529, apitest.Responses: 503}
	for _, name := range apitest.APIs() {
		client := func(t *testing.T, url, key string, attempts int, idle time.Duration) model.Model {
			t.Helper()
			e := Endpoint{API: apiOf(name), BaseURL: url, APIKey: Secret(key)}
			if e.API == APIResponses {
				e.Settings.Thinking.Summary = "auto" // without it, the service tells nothing of the reasoning
			}
			return newModel(t, Options{Endpoint: e, MaxAttempts: attempts, IdleTimeout: idle})
		}
		start := func(t *testing.T, m model.Model, key string) (string, func() []error) {
			t.Helper()
			s, url := apitest.Start(t, name, m, key)
			return url, s.Faults
		}
		t.Run(name, func(t *testing.T) {
			modeltest.Suite(t, modeltest.Service{Client: client, Overloaded: overloaded[name], Start: start})
		})
	}
}
