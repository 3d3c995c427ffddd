package provider

import (
	"io"
	"net/http"
	"time"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
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

// Do implements [openaiapi.HTTPDoer].
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

// client returns the library's client for the endpoint, which sends through d.
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

// exchange is one request and the beginning of its response. The library's client sends through it:
// it puts the bytes of the body into the request and watches those of the response.
type exchange struct {
	*caller
	body  body
	watch *watchdog
	resp  *http.Response
}

// pieces reads slices one after the other, as [io.MultiReader] does, but fills each read, so that most requests are
// one write to the connection. It has no WriteTo, with which every request would allocate a copy buffer of 32 KiB.
type pieces [][]byte

// Read implements [io.Reader].
func (p *pieces) Read(b []byte) (n int, err error) {
	for len(*p) > 0 && n < len(b) {
		k := copy(b[n:], (*p)[0])
		if n += k; k == len((*p)[0]) {
			*p = (*p)[1:]
		} else {
			(*p)[0] = (*p)[0][k:]
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Do implements [openaiapi.HTTPDoer].
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	open := func() (io.ReadCloser, error) {
		return io.NopCloser(&pieces{x.body.head.bytes, x.body.own, []byte(bodyEnd)}), nil
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
