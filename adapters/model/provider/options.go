package provider

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
)

// Secret is a text that is never printed.
type Secret = apicall.Secret

// API is a protocol by which models are called.
type API string

// The protocols.
const (
	APIChat      API = "" // chat completions
	APIMessages  API = "messages"
	APIResponses API = "responses"
)

// Endpoint is one model at one URL.
type Endpoint struct {
	API API
	// BaseURL ends before /chat/completions, /messages or /responses; the default is OpenAI's or Anthropic's.
	// AddressKey is the name of its setting, for errors.
	BaseURL, AddressKey string
	APIKey              Secret
	// Model is required.
	Model        string
	Organization string
	// AzureVersion, if set, is the api-version of an Azure resource; BaseURL is then the resource's
	// URL, and Model the name of the deployment.
	AzureVersion string
	// Headers and Query are added to every request, and are as secret as the key.
	Headers, Query map[string]Secret
	Settings       Settings
	// Cost is what a request costs, in billionths of a US dollar. What was read from a cache and written
	// to it are parts of the input. It is nil if the prices are unknown.
	Cost func(input, cached, written, output int64) int64

	maxTokensField string // names the field that bounds the output; elsewhere it is found out
}

// Settings are the options that depend on the model.
type Settings struct {
	// MaxOutputTokens is used for requests without a value; 0 leaves the field out. OutputLimit is the
	// most that the model accepts; 0 if that is unknown.
	MaxOutputTokens, OutputLimit int
	// Members are additional fields of every request, in this order.
	Members []Member
	// Thinking is how much the model thinks. Efforts replaces it for the requests that ask for one of
	// these words; a word that the service refuses is detected, and not sent from then on.
	Thinking Thinking
	Efforts  map[string]Thinking
	// NoImages and NoFiles: the model is sent no pictures, or no PDF documents, but notes about them.
	// A model that refuses them is detected even if these are not set.
	NoImages, NoFiles bool
	// ReasoningTags name the tags around reasoning in the text of answers, such as think for
	// <think> and </think>; what they enclose becomes reasoning. If empty, text is left unchanged.
	ReasoningTags []string
	// NoTools: the model accepts no tools. Requests omit them, and earlier calls become text. A
	// model that refuses tools is detected even if this is not set.
	NoTools bool
	// FirstByteTimeout replaces that of [Options] if it is set.
	FirstByteTimeout time.Duration
}

// Member is a field of a request, such as temperature.
type Member = protocol.Member

// Thinking is how much a model thinks.
type Thinking = protocol.Thinking

// Options configure a [Model]. Only the endpoint's Model is required.
type Options struct {
	Endpoint
	// Fallbacks are tried, in order, by a call whose model failed permanently before its first
	// event. The next call begins with the first model again, unless that failed recently: a failed
	// model is skipped for a time that grows with every failure, and then one call probes it. If
	// all are skipped, the one that is due first is used.
	Fallbacks []Endpoint

	// IdleTimeout bounds the silence within an answer. The default is 120 s.
	IdleTimeout time.Duration
	// FirstByteTimeout bounds the wait for the first piece of text, reasoning or call of an answer.
	// The default is 60 s, or 15 s with fallbacks. Comments and empty chunks do not count. After
	// this timeout the call does not retry the model.
	FirstByteTimeout time.Duration
	// MaxAttempts bounds the requests of one call to one model. The default is 6.
	MaxAttempts int
	// MaxWait bounds one delay between attempts (default 30 s); if a provider asks for a longer
	// one, the call does not retry it.
	MaxWait time.Duration

	// Transport carries the requests; the default is [NewTransport].
	Transport http.RoundTripper
	// Load reads the stored files that links of [messages.Picture] name. It returns the same bytes
	// for the same link. It may be nil if there are no files.
	Load func(ctx context.Context, link string) ([]byte, error)
	// Exact follows the SDK exactly: one attempt, no placeholders for what is empty or cannot be
	// sent, and errors inside a stream as events with a finish.
	Exact bool

	// Meter, if not nil, is asked before every request.
	Meter Meter
	// TraceParent, if not nil, returns the header traceparent of requests that a run makes.
	TraceParent func(requestID, runID string) string
	// Logger logs failed attempts, if not nil.
	Logger *slog.Logger
	// Metrics is where the package registers its metrics, if not nil.
	Metrics prometheus.Registerer
}

// The defaults of [Options].
const (
	defaultIdle      = 120 * time.Second
	defaultFirstByte = 60 * time.Second
	fallbackFirst    = 15 * time.Second
	defaultAttempts  = 6
	defaultMaxWait   = 30 * time.Second
	openaiURL        = "https://api.openai.com/v1"
	anthropicURL     = "https://api.anthropic.com/v1"
)

var (
	errNoModel = errors.New("no model is named")
	errBaseURL = errors.New("base URL must be http or https")
)

func (o *Options) setDefaults() {
	o.IdleTimeout = cmp.Or(o.IdleTimeout, defaultIdle)
	first := defaultFirstByte
	if len(o.Fallbacks) > 0 {
		first = fallbackFirst
	}
	o.FirstByteTimeout = cmp.Or(o.FirstByteTimeout, first)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, defaultAttempts)
	o.MaxWait = cmp.Or(o.MaxWait, defaultMaxWait)
	if o.Exact {
		o.MaxAttempts = 1
	}
	if o.Transport == nil {
		o.Transport = NewTransport()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// checked returns the endpoint with its defaults, or why it cannot be used.
func (e Endpoint) checked() (Endpoint, error) {
	if e.Model == "" {
		return e, errNoModel
	}
	usual := openaiURL
	if e.API == APIMessages {
		usual = anthropicURL
	}
	e.BaseURL = cmp.Or(e.BaseURL, usual)
	u, err := url.Parse(e.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return e, errBaseURL
	}
	if host := u.Hostname(); host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		e.maxTokensField = "max_completion_tokens"
	}
	return e, nil
}

// decorate adds the headers and query of the endpoint to a request.
func (e Endpoint) decorate(req *http.Request) {
	req.Header.Set("User-Agent", userAgent)
	for name, value := range e.Headers {
		req.Header.Set(name, string(value))
	}
	if len(e.Query) == 0 {
		return
	}
	query := req.URL.Query()
	for name, value := range e.Query {
		query.Set(name, string(value))
	}
	req.URL.RawQuery = query.Encode()
}

// host is the endpoint's host, for people.
func (e Endpoint) host() string {
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return "" // Unreachable: the endpoint was validated.
	}
	return u.Host
}

// secrets returns the texts of an endpoint that must not be printed.
func (e Endpoint) secrets() []string {
	all := []string{string(e.APIKey)}
	for _, v := range e.Headers {
		all = append(all, string(v))
	}
	for _, v := range e.Query {
		all = append(all, string(v), url.QueryEscape(string(v)))
	}
	if u, err := url.Parse(e.BaseURL); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			all = append(all, password)
		}
	}
	return all
}
