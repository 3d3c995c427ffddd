package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// maxEmbedBody bounds how many bytes of an answer with vectors are read.
const maxEmbedBody = 64 << 20

// Embedder implements [model.Embedder] with an endpoint's /embeddings. One call is one request; its
// context bounds the duration.
type Embedder struct {
	*caller
	meter Meter
}

var _ model.Embedder = Embedder{}

// NewEmbedder returns an embedder for an endpoint, whose Model is the embedding model. The meter may be
// nil.
func NewEmbedder(e Endpoint, transport http.RoundTripper, meter Meter) (Embedder, error) {
	e, err := e.checked()
	return Embedder{newCaller(e, transport, newMasker(e.secrets())), meter}, err
}

// Embed implements [model.Embedder].
func (e Embedder) Embed(ctx context.Context, payer model.Payer, texts []string) (vectors [][]float32, err error) {
	x := embedding{Embedder: e}
	if e.meter != nil {
		estimate := e.useOf(tokensOf(texts))
		settle, refused := e.meter.Reserve(ctx, payer, e.Model, func() Use { return estimate })
		if refused != nil {
			return nil, refused //nolint:wrapcheck // it is an error of the model, or the context's cause
		}
		x.used = estimate
		defer func() { x.settle(settle, err) }()
	}
	return x.embed(ctx, texts)
}

// tokensOf is about how many tokens texts have.
func tokensOf(texts []string) int64 {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	return int64(math.Ceil(float64(size) * firstDensity))
}

// useOf is what texts with so many tokens use.
func (c *caller) useOf(input int64) Use {
	if c.Cost == nil {
		return Use{Input: input}
	}
	return Use{Input: input, NanoUSD: c.Cost(input, 0, 0, 0)}
}

// embedding is one request for vectors.
type embedding struct {
	Embedder
	sent atomic.Bool
	used Use // an estimate, until the service says it
}

// settle settles the request; err is why it failed.
func (e *embedding) settle(settle func(Use), err error) {
	if !e.sent.Load() || unbilled(err) {
		e.used = Use{}
	}
	settle(e.used)
}

func (e *embedding) embed(ctx context.Context, texts []string) ([][]float32, error) {
	resp, err := e.address().Client(e).CreateEmbeddings(ctx, openaiapi.EmbeddingRequestStrings{
		Input: texts, Model: openaiapi.EmbeddingModel(e.Model), EncodingFormat: openaiapi.EmbeddingEncodingFormatFloat,
	})
	if said := int64(max(resp.Usage.PromptTokens, resp.Usage.TotalTokens)); err == nil && said > 0 {
		e.used = e.useOf(tokensIn(&said))
	}
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

// usable reports whether a vector is finite and not zero.
func usable(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum)
}

// Do implements [openaiapi.HTTPDoer] for a request written by the library.
func (e *embedding) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body = &sentBody{req.Body, &e.sent}
	}
	resp, err := e.caller.Do(req)
	if err != nil {
		return nil, err
	}
	if isPage(resp.Header, nil) {
		_ = resp.Body.Close()
		return nil, e.wrongAddress("a web page")
	}
	resp.Body = &readCloser{io.LimitReader(resp.Body, maxEmbedBody), resp.Body}
	return resp, nil
}

// readCloser combines a body with another reader for it.
type readCloser struct {
	io.Reader
	io.Closer
}
