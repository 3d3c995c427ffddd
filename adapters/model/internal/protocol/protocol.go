package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Errors of requests that can never be sent.
var (
	ErrNoMessages    = errors.New("invalid prompt: messages must not be empty")
	ErrMissingResult = errors.New("tool result is missing")
	ErrUnsupported   = errors.New("functionality not supported")
	ErrBadData       = errors.New("invalid data")
)

// ErrBadAnswer is wrapped by errors of answers that cannot be understood.
var ErrBadAnswer = errors.New("invalid response")

// ErrForeign is returned by [Answer.End] if the body is not the answer of a model.
var ErrForeign = errors.New("JSON of another kind")

// Protocol is one way of asking a model. Implementations are safe for concurrent use.
type Protocol interface {
	// Write encodes a request.
	Write(ctx context.Context, req model.Request) (Body, error)
	// Ask sends a request, whose body is in x, through x and returns its answer, whose body is
	// x.Resp's.
	Ask(ctx context.Context, x *Exchange, req model.Request) (Answer, error)
	// Shown returns what a request contains that a service may refuse.
	Shown(req model.Request) Shown
}

// Body is a request body.
type Body struct {
	Pieces [][]byte
	// Shared is how many bytes of it, from its beginning, an earlier request of the chat had: what a
	// service may have cached. It is 0 without a memo.
	Shared int
}

// Answer is an answer being read. It is used by one goroutine.
type Answer interface {
	// Next returns the stream parts of the next piece of the body, valid until the next call, and
	// [io.EOF] with or after the last ones. Other errors are those of the body.
	Next() ([]model.Event, error)
	// Complete reports that at most the usage of the answer is still missing.
	Complete() bool
	// Usage returns the tokens that the service has reported so far; a field is nil if it was not reported.
	Usage() model.Usage
	// End returns the last stream parts, or why the answer is not whole.
	End() ([]model.Event, error)
	// Close frees what the answer holds, except its body.
	Close()
}

// Options are the options that all protocols share.
type Options struct {
	// Prompter prepares messages; its Sight says which thinking is sent back.
	Prompter Prompter
	// MaxOutputTokens is used for requests without a value. If it is 0, they leave the field out, unless the protocol
	// requires one.
	MaxOutputTokens int
	Members         []Member
	Efforts         Efforts
	Fail            Fail
}

// Member is a field of a request, such as temperature.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Thinking is how much a model thinks. The zero value leaves it to the model.
type Thinking struct {
	// Type is disabled, enabled (with a budget) or adaptive (with an effort), in the Messages protocol.
	// In chat completions it is disabled, for services that turn thinking off as that protocol does.
	Type   string
	Budget int // tokens, in addition to those of the answer
	Effort string
	// Summary is how detailed the summaries of the thinking are, in the Responses protocol: auto,
	// concise or detailed. Empty asks for none.
	Summary string
}

// Efforts is how much a model thinks by default, and for each effort that a request may name.
type Efforts struct {
	Thinking
	ByWord map[string]Thinking
}

// For is how much the model thinks about a request.
func (e Efforts) For(req model.Request) Thinking {
	if asked, ok := e.ByWord[req.Effort]; ok {
		return asked
	}
	return e.Thinking
}

// Fail makes the error for an error object of a stream.
type Fail func(object json.RawMessage) *model.Error

// Exchange is one request and its response. The client of a library sends through it.
type Exchange struct {
	// Send sends a request whose body is still the library's, and checks the response.
	Send func(*http.Request) (*http.Response, error)
	Body Body
	// Resp is the response, once there is one.
	Resp *http.Response
}

// Do puts the bytes of the body into a request and sends it. It is what libraries call.
func (x *Exchange) Do(req *http.Request) (*http.Response, error) {
	x.Body.into(req)
	resp, err := x.Send(req)
	if err != nil {
		return nil, err
	}
	x.Resp = resp
	return resp, nil
}
