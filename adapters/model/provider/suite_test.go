package provider

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
)

// TestProtocols holds every protocol to the same promises.
func TestProtocols(t *testing.T) {
	client := func(api API) func(*testing.T, string, string, int, time.Duration) model.Model {
		return func(t *testing.T, url, key string, attempts int, idle time.Duration) model.Model {
			t.Helper()
			e := Endpoint{API: api, BaseURL: url, APIKey: Secret(key)}
			if api == APIResponses {
				e.Settings.Thinking.Summary = "auto" // without it, the service tells nothing of the reasoning
			}
			return newModel(t, Options{Endpoint: e, MaxAttempts: attempts, IdleTimeout: idle})
		}
	}
	t.Run("chat", func(t *testing.T) {
		modeltest.Suite(t, modeltest.Service{Client: client(APIChat), Overloaded: 503, Start: func(t *testing.T, m model.Model, key string) (string, func() []error) {
			t.Helper()
			s := modeltest.NewServer(m, modeltest.ServerOptions{Key: key})
			t.Cleanup(s.Close)
			return s.URL, s.Faults
		}})
	})
	t.Run("messages", func(t *testing.T) {
		modeltest.Suite(t, modeltest.Service{Client: client(APIMessages), Overloaded: 529, Start: func(t *testing.T, m model.Model, key string) (string, func() []error) {
			t.Helper()
			s := anthropictest.NewServer(m, anthropictest.Options{Key: key})
			t.Cleanup(s.Close)
			return s.URL, s.Faults
		}})
	})
	t.Run("responses", func(t *testing.T) {
		modeltest.Suite(t, modeltest.Service{Client: client(APIResponses), Overloaded: 503, Start: func(t *testing.T, m model.Model, key string) (string, func() []error) {
			t.Helper()
			s := responsestest.NewServer(m, responsestest.Options{Key: key})
			t.Cleanup(s.Close)
			return s.URL, s.Faults
		}})
	})
}
