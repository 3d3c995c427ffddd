package loop_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// endpoint serves the script over HTTP and calls it through the real adapter.
type endpoint struct {
	model  *provider.Model
	server *server
	req    *request
}

func newEndpoint(t *testing.T, s *server) *endpoint {
	t.Helper()
	e := &endpoint{server: s}
	web := httptest.NewServer(e)
	t.Cleanup(web.Close)
	m, err := provider.New(provider.Options{
		Endpoint: provider.Endpoint{BaseURL: web.URL + "/v1", APIKey: "key", Model: "test-model"},
		Exact:    true,
	})
	stdtest.Must(t, err)
	e.model = m
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unread", http.StatusInternalServerError)
		return
	}
	e.req.ModelCalls = append(e.req.ModelCalls, modelCall{Body: body})
	entry := e.server.next()
	answer, kind := []byte(entry.JSON), "application/json"
	if entry.SSE != nil {
		answer, kind = []byte(*entry.SSE), "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	if entry.Status != 0 {
		w.WriteHeader(entry.Status)
	}
	_, _ = w.Write(answer) // a closed connection is noticed elsewhere
}

// ask makes one model call over HTTP.
func (x *exchange) ask(messages []modelmessage.Message) loop.Outcome {
	x.endpoint.req = x.req
	req := model.Request{Messages: messages, ToolChoice: x.spec.ToolChoice.engine()}
	if x.spec.System != nil {
		req.System = *x.spec.System
	}
	for _, t := range x.offered() {
		spec := model.ToolSpec{Name: t.name, InputSchema: t.schema()}
		if t.spec.Description != nil {
			spec.Description = *t.spec.Description
		}
		req.Tools = append(req.Tools, spec)
	}
	for ev, err := range x.endpoint.model.Stream(x.t.Context(), req) {
		if err != nil {
			return x.loop.EndStream(providerWords(err))
		}
		if ev.Kind == model.EventError {
			ev.Err = providerWords(ev.Err)
			if len(ev.Raw) > 0 {
				ev.Err = thrown{ev.Raw}
			}
		}
		x.event(ev)
	}
	return x.loop.EndStream(nil)
}

// providerWords reduces an error to the provider's text.
func providerWords(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.Message != "" {
		return errors.New(e.Message)
	}
	return err
}
