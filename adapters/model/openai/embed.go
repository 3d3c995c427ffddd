package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// maxEmbedBody bounds the bytes read of an answer with vectors.
const maxEmbedBody = 64 << 20

// Embedder implements [model.Embedder] with an endpoint's /embeddings. One call is
// one request; how long it may take is up to its context.
type Embedder struct {
	client *openaiapi.Client
	model  string
	masker *masker
}

var _ model.Embedder = (*Embedder)(nil)

// NewEmbedder makes an embedder of an endpoint, whose Model is the embedding model.
// A nil transport is [NewTransport].
func NewEmbedder(e Endpoint, transport http.RoundTripper) (*Embedder, error) {
	e, err := e.checked()
	if err != nil {
		return nil, err
	}
	if transport == nil {
		transport = NewTransport()
	}
	m := newMasker(e.secrets())
	return &Embedder{client: e.client(&embedDoer{newDoer(transport, m), e}), model: e.Model, masker: m}, nil
}

// Embed implements [model.Embedder].
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	resp, err := e.client.CreateEmbeddings(ctx, openaiapi.EmbeddingRequestStrings{
		Input: texts, Model: openaiapi.EmbeddingModel(e.model), EncodingFormat: openaiapi.EmbeddingEncodingFormatFloat,
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		if failed, ok := errors.AsType[*model.Error](err); ok {
			return nil, failed
		}
		return nil, &model.Error{Reason: model.ReasonCut, Retryable: true, Message: e.masker.message(err.Error())}
	}
	out := make([][]float32, len(texts))
	for _, d := range resp.Data {
		if d.Index < 0 || d.Index >= len(texts) || out[d.Index] != nil {
			return nil, unusable("a vector of text %d of %d", d.Index, len(texts))
		}
		out[d.Index] = d.Embedding
	}
	for i, v := range out {
		if len(v) == 0 || len(v) != len(out[0]) || !usable(v) {
			return nil, unusable("no usable vector of text %d of %d", i, len(texts))
		}
	}
	return out, nil
}

func unusable(format string, args ...any) *model.Error {
	return &model.Error{Reason: model.ReasonCut, Message: "the answer has " + fmt.Sprintf(format, args...)}
}

// usable: finite, and pointing somewhere.
func usable(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

// embedDoer carries a request as the library wrote it.
type embedDoer struct {
	*doer
	endpoint Endpoint
}

// Do implements the library's HTTPDoer.
func (d *embedDoer) Do(req *http.Request) (*http.Response, error) {
	d.endpoint.decorate(req)
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, d.networkError(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came says enough
		_ = resp.Body.Close()
		return nil, d.endpoint.refused(d.masker.statusError(resp.StatusCode, resp.Header, body, time.Now()), resp.Header, body)
	}
	if isPage(resp.Header, nil) {
		_ = resp.Body.Close()
		return nil, d.endpoint.wrongAddress("a web page")
	}
	resp.Body = &boundedBody{io.LimitReader(resp.Body, maxEmbedBody), resp.Body}
	return resp, nil
}

// boundedBody is a body that ends early where it is too long.
type boundedBody struct {
	io.Reader
	io.Closer
}
