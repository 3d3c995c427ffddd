package openai

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	maxErrorBody = 64 << 10 // bytes read of a failed answer
	userAgent    = "shipmyagent"
)

// caller sends requests to one endpoint and makes an [*model.Error] of what fails, while
// the headers are at hand, which the library's errors lack.
type caller struct {
	Endpoint
	http   *http.Client
	masker *masker
}

func newCaller(e Endpoint, transport http.RoundTripper, m *masker) *caller {
	return &caller{Endpoint: e, masker: m, http: apicall.Client(transport)}
}

// Do implements [openaiapi.HTTPDoer].
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	c.decorate(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &model.Error{Reason: model.ReasonNetwork, Retryable: !apicall.BadCertificate(err), Message: c.masker.message(err.Error())}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // whatever arrived is enough
		_ = resp.Body.Close()
		return nil, c.refused(c.masker.statusError(resp.StatusCode, resp.Header, body, time.Now()), resp.Header, body)
	}
	return resp, nil
}

// client makes the library's client for the endpoint, which sends by d.
func (c *caller) client(d openaiapi.HTTPDoer) *openaiapi.Client {
	cfg := openaiapi.DefaultConfig(string(c.APIKey))
	cfg.BaseURL = c.BaseURL
	if c.AzureVersion != "" {
		resource, deployment := c.azure()
		cfg = openaiapi.DefaultAzureConfig(string(c.APIKey), resource)
		cfg.APIVersion = c.AzureVersion
		cfg.AzureModelMapperFunc = func(string) string { return deployment }
	}
	cfg.OrgID = c.Organization
	cfg.HTTPClient = d
	return openaiapi.NewClientWithConfig(cfg)
}

// exchange is one request for an answer and the answer's beginning. The library's client
// sends by it: it puts the body's bytes into the request and watches those of the answer.
type exchange struct {
	*caller
	body  body
	watch *watchdog
	resp  *http.Response
}

// Do implements [openaiapi.HTTPDoer].
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	open := func() (io.ReadCloser, error) {
		// Without its WriteTo, for which every request would cost a copy buffer of 32 KiB.
		return io.NopCloser(struct{ io.Reader }{io.MultiReader(bytes.NewReader(x.body.head.bytes), bytes.NewReader(x.body.own), strings.NewReader(bodyEnd))}), nil
	}
	req.Body, _ = open()
	req.GetBody = open
	req.ContentLength = int64(len(x.body.head.bytes) + len(x.body.own) + len(bodyEnd))
	req.Header.Del("Connection")
	resp, err := x.caller.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, watch: x.watch}
	if err := x.checkAnswer(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	x.resp = resp
	return resp, nil
}
