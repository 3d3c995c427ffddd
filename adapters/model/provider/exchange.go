package provider

import (
	"io"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
)

const (
	maxErrorBody = 64 << 10 // bytes read of a failed response
	userAgent    = "shipmyagent"
)

// caller sends requests to one endpoint and turns failures into an [*model.Error] while the headers
// are available; the library's errors lack them.
type caller struct {
	Endpoint
	http   *http.Client
	masker *masker
}

func newCaller(e Endpoint, transport http.RoundTripper, m *masker) *caller {
	return &caller{Endpoint: e, masker: m, http: apicall.Client(transport)}
}

// Do sends a request; a response that is not a success is an error.
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	c.decorate(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &model.Error{Reason: model.ReasonNetwork, Retryable: !apicall.BadCertificate(err), Message: c.masker.message(err.Error())}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part of the body is enough
		_ = resp.Body.Close()
		return nil, c.refused(c.masker.statusError(resp.StatusCode, resp.Header, body, time.Now()), resp.Header, body)
	}
	return resp, nil
}

// address is where the endpoint is, for the library.
func (c *caller) address() chat.Address {
	return chat.Address{URL: c.BaseURL, Key: c.APIKey, Model: c.Model, Organization: c.Organization, AzureVersion: c.AzureVersion}
}

// exchange returns the exchange of one request, whose response is watched.
func (c *caller) exchange(body protocol.Body, watch *watchdog, account *bill) *protocol.Exchange {
	return &protocol.Exchange{Body: body, Send: func(req *http.Request) (*http.Response, error) {
		account.watch(req)
		if of := account.e.opts.TraceParent; of != nil && account.req.Payer.Run != "" {
			req.Header.Set("Traceparent", of(account.req.ID, account.req.Payer.Run))
		}
		resp, err := c.Do(req)
		if err != nil {
			return nil, err
		}
		resp.Body = &watchedBody{ReadCloser: resp.Body, watch: watch}
		if err := c.checkAnswer(resp); err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
		return resp, nil
	}}
}
