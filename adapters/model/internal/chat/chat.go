package chat

import (
	"context"
	"slices"
	"strings"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat/answer"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/sse"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Address is where a service is.
type Address struct {
	// URL ends before /chat/completions. With an Azure version it is the URL of a resource, and the
	// model is the name of a deployment there.
	URL                               string
	Key                               apicall.Secret
	Model, Organization, AzureVersion string
}

// Client returns the library's client for an address, which sends through d.
func (a Address) Client(d openaiapi.HTTPDoer) *openaiapi.Client {
	cfg := openaiapi.DefaultConfig(string(a.Key))
	cfg.BaseURL = a.URL
	if a.AzureVersion != "" {
		resource, deployment := a.azure()
		cfg = openaiapi.DefaultAzureConfig(string(a.Key), resource)
		cfg.APIVersion = a.AzureVersion
		cfg.AzureModelMapperFunc = func(string) string { return deployment }
	}
	cfg.OrgID = a.Organization
	cfg.HTTPClient = d
	return openaiapi.NewClientWithConfig(cfg)
}

// Name is the name of the model in requests.
func (a Address) Name() string {
	if a.AzureVersion == "" {
		return a.Model
	}
	_, deployment := a.azure()
	return deployment
}

// azure returns the URL of a resource and the name of a deployment there. A URL that includes the
// deployment, as the service shows it, provides both.
func (a Address) azure() (resource, deployment string) {
	resource, rest, named := strings.Cut(a.URL, "/openai/deployments/")
	deployment, _, _ = strings.Cut(rest, "/")
	if !named || deployment == "" {
		deployment = a.Model
	}
	return strings.TrimSuffix(strings.TrimRight(resource, "/"), "/openai"), deployment
}

// Options are how a service is asked.
type Options struct {
	Address
	protocol.Options

	// MaxTokensField names the field that bounds the output; the default is max_tokens.
	MaxTokensField string
	ReasoningTags  []string
	// Exact follows the SDK exactly.
	Exact bool
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
	return protocol.Body{Pieces: [][]byte{e.Head, e.Own, []byte("]}")}, Shared: e.Shared}, nil
}

// Shown implements [protocol.Protocol].
func (p *Protocol) Shown(req model.Request) protocol.Shown {
	shown, takes := p.opts.Prompter.Shown(req), p.opts.Prompter.TakesThought
	also := []string{protocol.MaxTokens, protocol.StreamOptions}
	for i, m := range req.Messages {
		switch {
		case m.Role == modelmessage.RoleTool:
			also = append(also, protocol.CallIDs, protocol.Unsigned, protocol.Signed)
		case m.Role == modelmessage.RoleUser && i > 0 && req.Messages[i-1].Role == modelmessage.RoleTool:
			also = append(also, protocol.Unread)
		case m.Role != modelmessage.RoleAssistant || !takes(protocol.Thought):
		case slices.ContainsFunc(m.Parts, isThought):
			shown.Thoughts = []string{protocol.Thought}
		default:
			also = append(also, protocol.Unthought)
		}
	}
	shown.Also = slices.DeleteFunc(also, func(name string) bool { return !takes(name) })
	return shown
}

func isThought(p modelmessage.Part) bool {
	r, ok := p.(modelmessage.Reasoning)
	return ok && r.Text != ""
}

// Ask implements [protocol.Protocol].
func (p *Protocol) Ask(ctx context.Context, x *protocol.Exchange, req model.Request) (protocol.Answer, error) {
	if _, err := p.opts.Client(x).CreateChatCompletionStream(ctx, openaiapi.ChatCompletionRequest{Model: p.opts.Model}); err != nil {
		return nil, err //nolint:wrapcheck // it is an error of the exchange, or is described by the caller
	}
	var used func(id string) bool
	if !p.opts.Exact {
		used = protocol.UsedIDs(req.Messages)
	}
	parser := answer.NewParser(p.opts.Exact, p.opts.ReasoningTags, p.opts.Fail, used)
	return &protocol.Reader{Parser: &parser, Source: p.readers.Open(x.Resp.Body, x.Resp.Header.Get("Content-Type"), p.opts.Exact)}, nil
}
