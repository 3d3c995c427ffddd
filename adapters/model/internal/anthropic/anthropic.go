package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	anthropicapi "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/sse"
)

// Options are how a service is asked.
type Options struct {
	// URL ends before /messages; a trailing /v1 may be missing.
	URL   string
	Key   apicall.Secret
	Model string
	// OutputLimit is the most that the model accepts, its thinking included; 0 if that is unknown.
	OutputLimit int

	protocol.Options
}

// Protocol implements [protocol.Protocol].
type Protocol struct {
	opts    Options
	writer  protocol.Writer
	readers sse.Readers
}

var _ protocol.Protocol = (*Protocol)(nil)

// New returns the protocol for one model.
func New(o Options) *Protocol {
	p := &Protocol{opts: o}
	p.writer = protocol.Writer{Form: &form{Prompter: &p.opts.Prompter, opts: &p.opts}, Prompter: &p.opts.Prompter}
	return p
}

// Write implements [protocol.Protocol].
func (p *Protocol) Write(ctx context.Context, req model.Request) (protocol.Body, error) {
	e, err := p.writer.Write(ctx, req)
	if err != nil {
		return protocol.Body{}, err
	}
	return protocol.Body{Pieces: append(marked(e, req), p.end(req)), Shared: e.Shared}, nil
}

// end closes the last message, the messages and the request. The settings that may change between
// the requests of a chat are at the end, after the part that the service caches.
func (p *Protocol) end(req model.Request) []byte {
	b := []byte("]}]")
	thinking := p.opts.Efforts.For(req)
	switch t := thinking; {
	case t.Type == "":
	case t.Type == "enabled" && !p.thinks(req):
		// The service refuses to continue a turn without the thinking that the turn began with.
	case t.Type == "enabled":
		b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
		b = append(appendInt(b, t.Budget), '}')
	default:
		b = append(protocol.AppendString(append(b, `,"thinking":{"type":`...), t.Type), '}')
	}
	if effort := thinking.Effort; effort != "" {
		b = append(protocol.AppendString(append(b, `,"output_config":{"effort":`...), effort), '}')
	}
	return append(b, '}')
}

// Shown implements [protocol.Protocol].
func (p *Protocol) Shown(req model.Request) protocol.Shown {
	shown := p.opts.Prompter.Shown(req)
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if t, ok := thoughtOf(part); ok && p.opts.Prompter.Sight.TakesThought(t.id()) {
				shown.Thoughts = append(shown.Thoughts, t.id())
			}
		}
	}
	return shown
}

// Ask implements [protocol.Protocol].
func (p *Protocol) Ask(ctx context.Context, x *protocol.Exchange, req model.Request) (protocol.Answer, error) {
	service := anthropicapi.NewMessageService(
		option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(p.opts.URL, "/"), "/v1")+"/"), option.WithHTTPClient(plain{x}), option.WithMaxRetries(0),
	)
	if p.opts.Key != "" {
		service.Options = append(service.Options, option.WithAPIKey(string(p.opts.Key)))
	}
	stream := service.NewStreaming(ctx, anthropicapi.MessageNewParams{}) // the exchange has the body
	if err := stream.Err(); err != nil {
		return nil, err //nolint:wrapcheck // it is an error of the exchange, or is described by the caller
	}
	return &protocol.Reader{
		Parser: &parser{fail: p.opts.Fail, used: protocol.UsedIDs(req.Messages), documents: documentsOf(req)},
		Source: p.readers.Open(x.Resp.Body, x.Resp.Header.Get("Content-Type"), false),
	}, nil
}

// plain sends requests without the SDK's headers about this machine.
type plain struct{ *protocol.Exchange }

func (p plain) Do(req *http.Request) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	return p.Exchange.Do(req)
}

// metadata returns the provider metadata of this protocol as JSON.
func metadata(name, value string) json.RawMessage {
	b := protocol.AppendString([]byte(`{"anthropic":{`), name)
	b = protocol.AppendString(append(b, ':'), value)
	return append(b, '}', '}')
}
