package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

const (
	// fileTokens is the estimate for a picture or a document.
	fileTokens = 4000
	// firstDensity is the assumed number of tokens per byte of text. Requests of at least densityBytes correct it, within
	// leastDensity and mostDensity.
	firstDensity, leastDensity, mostDensity = 0.5, 0.125, 1
	densityBytes                            = 1 << 10
	// unboundedOutput is the number of tokens that is reserved for an answer if nothing bounds its length.
	unboundedOutput = 16 << 10
	// mostTokens is the most that one request can have.
	mostTokens = 1 << 30
)

// Use is what one request uses. What was read from a cache is a part of the input.
type Use struct {
	Input, Cached, Output int64 // tokens
	NanoUSD               int64 // billionths of a US dollar
}

// Meter accounts for the requests to models. It is safe for concurrent use.
type Meter interface {
	// Reserve is called before each request to the model with this name, repeated ones included, and
	// may wait. If it returns an error, an [*model.Error] or ctx's cause, the request is not sent.
	// most is the most that the request is expected to use.
	//
	// settle is called once, when the request has ended, with what it has used: what the service said,
	// or else an estimate. It is called with nothing if the service did not get the request or refused it.
	Reserve(ctx context.Context, payer model.Payer, name string, most func() Use) (settle func(Use), err error)
	// Cheaper is the name of the choice that answers requests that a limit refuses to other models. It may be empty. Its
	// requests are reserved, too.
	Cheaper() string
	// ToTell reports whether people have yet to be told that a limit has the cheaper model answer them. It is called when
	// they are.
	ToTell(payer model.Payer, limit string) bool
}

// bill is the account of one request. Without a meter it does nothing.
type bill struct {
	e      *endpoint
	req    model.Request
	settle func(Use)
	sent   atomic.Bool
	heard  int         // bytes of the answer
	usage  model.Usage // so far
}

// reserve asks the meter for one request.
func (e *endpoint) reserve(ctx context.Context, req model.Request) (b *bill, err error) {
	b = &bill{e: e, req: req}
	if e.opts.Meter == nil {
		return b, nil
	}
	b.settle, err = e.opts.Meter.Reserve(ctx, req.Payer, e.Model, func() Use {
		input, output := e.estimate(req), e.mostOutput(req)
		return Use{Input: input, Output: output, NanoUSD: e.cost(input, 0, input, output)}
	})
	return b, err
}

// watch notices whether anything of a request is sent.
func (b *bill) watch(req *http.Request) {
	if b.settle != nil && req.Body != nil {
		req.Body = &sentBody{req.Body, &b.sent}
	}
}

// sentBody is the body of a request. It is read when the connection is there.
type sentBody struct {
	io.ReadCloser
	sent *atomic.Bool
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.sent.Store(true)
	return b.ReadCloser.Read(p) //nolint:wrapcheck // the same error
}

func (b *bill) count(ev *model.Event) {
	b.heard += len(ev.Delta)
}

// end settles the request; err is why it failed.
func (b *bill) end(err error) {
	switch {
	case b.settle == nil:
	case !b.sent.Load() || unbilled(err):
		b.settle(Use{})
	default:
		b.settle(b.used(err == nil))
	}
}

// unbilled reports whether a service refused a request before it answered. A timeout of a gateway says nothing of the
// service.
func unbilled(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	gateway := []int{http.StatusRequestTimeout, http.StatusGatewayTimeout, 524}
	return ok && (e.Status != 0 || e.Reason == model.ReasonAddress) && !slices.Contains(gateway, e.Status)
}

// used is what a request has used. If the answer is not whole, the service may have said less than it
// counts in the end.
func (b *bill) used(whole bool) Use {
	input, cached, written, output := tokensIn(b.usage.InputTokens), tokensIn(b.usage.CachedInputTokens), tokensIn(b.usage.CacheWriteTokens), tokensIn(b.usage.OutputTokens)
	if input > 0 {
		b.e.learn(b.req, input)
	} else {
		input = b.e.estimate(b.req)
	}
	if output == 0 || !whole {
		output = max(output, int64(math.Ceil(float64(b.heard)*b.e.perByte())))
	}
	// Some services count reasoning in the total only.
	output = max(output, tokensIn(new(gjson.GetBytes(b.usage.Raw, "total_tokens").Int()))-input)
	cached = min(cached, input)
	written = min(written, input-cached)
	return Use{Input: input, Cached: cached, Output: output, NanoUSD: b.e.cost(input, cached, written, output)}
}

// tokensIn returns a number of tokens that a service has reported, bounded so that an impossible one overflows no sum.
func tokensIn(n *int64) int64 {
	if n == nil {
		return 0
	}
	return min(max(0, *n), mostTokens)
}

func (e *endpoint) cost(input, cached, written, output int64) int64 {
	if e.Cost == nil {
		return 0
	}
	return e.Cost(input, cached, written, output)
}

// mostOutput is the longest answer to a request.
func (e *endpoint) mostOutput(req model.Request) int64 {
	limit := e.Settings.OutputLimit
	most := cmp.Or(req.MaxOutputTokens, e.Settings.MaxOutputTokens, limit, unboundedOutput) + protocol.Efforts{Thinking: e.Settings.Thinking, ByWord: e.Settings.Efforts}.For(req).Budget
	if limit > 0 {
		most = min(most, limit)
	}
	return int64(most)
}

// estimate is about how many tokens a request has. It looks at lengths only.
func (e *endpoint) estimate(req model.Request) int64 {
	text, files := size(req)
	return int64(math.Ceil(float64(text)*e.perByte())) + fileTokens*int64(files)
}

// perByte is the assumed number of tokens per byte of text.
func (e *endpoint) perByte() float64 {
	if d := math.Float64frombits(e.density.Load()); d > 0 {
		return d
	}
	return firstDensity
}

// learn corrects later estimates by a count of the service, more quickly upwards than downwards.
func (e *endpoint) learn(req model.Request, input int64) {
	text, files := size(req)
	if text < densityBytes {
		return
	}
	d := float64(input-fileTokens*int64(files)) / float64(text)
	d = max(min(d, mostDensity), e.perByte()*0.9, leastDensity)
	e.density.Store(math.Float64bits(d))
}

// size returns how many bytes of text a request has, and how many files.
func size(req model.Request) (text, files int) {
	text = len(req.System)
	for _, t := range req.Tools {
		text += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	for _, m := range req.Messages {
		text += len(m.Text)
		for _, part := range m.Parts {
			switch p := part.(type) {
			case modelmessage.Text:
				text += len(p.Text)
			case modelmessage.Reasoning:
				text += len(p.Text)
			case modelmessage.ToolCall:
				text += len(p.ToolName) + len(p.Input)
			case modelmessage.ToolResult:
				text += len(p.Output.Text) + len(p.Output.JSON)
			case modelmessage.Image, modelmessage.File:
				files++
			default:
			}
		}
	}
	return text, files
}
