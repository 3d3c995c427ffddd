package responses

import (
	"context"
	"encoding/json"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/sse"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Options are how a service is asked.
type Options struct {
	chat.Address
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

// include asks for reasoning that can be sent back. It is also the name under which the request for
// it is among what a service may refuse: models that do not reason do.
const include = "reasoning.encrypted_content"

// Write implements [protocol.Protocol].
func (p *Protocol) Write(ctx context.Context, req model.Request) (protocol.Body, error) {
	e, err := p.writer.Write(ctx, req)
	if err != nil {
		return protocol.Body{}, err
	}
	return protocol.Body{Pieces: [][]byte{e.Head, e.Own, p.end(req)}, Shared: e.Shared}, nil
}

// end closes the input and the request. The settings that may change between the requests of a chat
// are at the end, after the part that the service caches.
func (p *Protocol) end(req model.Request) []byte {
	b := []byte("]")
	if p.opts.Prompter.Sight.TakesThought(include) {
		b = append(b, `,"include":["`+include+`"]`...)
	}
	if reasoning := object("effort", p.opts.Efforts.For(req).Effort, "summary", p.opts.Efforts.Summary); reasoning != nil {
		b = append(protocol.AppendMember(b, "reasoning"), reasoning...)
	}
	return append(b, '}')
}

// Shown implements [protocol.Protocol]. A request without reasoning still asks for it, which is
// refused in the same words.
func (p *Protocol) Shown(req model.Request) protocol.Shown {
	shown := p.opts.Prompter.Shown(req)
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if r, ok := part.(modelmessage.Reasoning); ok {
				if id := own(r.ProviderOptions, "itemId"); id != "" && p.opts.Prompter.Sight.TakesThought(id) {
					shown.Thoughts = append(shown.Thoughts, id)
				}
			}
		}
	}
	if len(shown.Thoughts) == 0 && p.opts.Prompter.Sight.TakesThought(include) {
		shown.Thoughts = []string{include}
	}
	return shown
}

// Ask implements [protocol.Protocol].
func (p *Protocol) Ask(ctx context.Context, x *protocol.Exchange, req model.Request) (protocol.Answer, error) {
	// The exchange has the body.
	if _, err := p.opts.Client(x).CreateResponseStream(ctx, openaiapi.CreateResponseRequest{}); err != nil {
		return nil, err //nolint:wrapcheck // it is an error of the exchange, or is described by the caller
	}
	return &protocol.Reader{
		Parser: &parser{fail: p.opts.Fail, used: protocol.UsedIDs(req.Messages), ids: map[string]bool{}},
		Source: p.readers.Open(x.Resp.Body, x.Resp.Header.Get("Content-Type"), false),
	}, nil
}

// object returns an object of names and texts, or nil if all texts are empty.
func object(members ...string) (b []byte) {
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			b = protocol.AppendString(protocol.AppendMember(b, members[i]), members[i+1])
		}
	}
	if b != nil {
		b[0] = '{'
		b = append(b, '}')
	}
	return b
}

// metadata returns provider metadata of this protocol, or nil if all texts are empty.
func metadata(members ...string) json.RawMessage {
	b := object(members...)
	if b == nil {
		return nil
	}
	return append(append([]byte(`{"`+optionsKey+`":`), b...), '}')
}
