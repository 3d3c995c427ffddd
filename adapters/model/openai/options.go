package openai

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
)

// Secret is a text that is never printed.
type Secret = apicall.Secret

// Endpoint is one model at one address.
type Endpoint struct {
	// BaseURL ends before /chat/completions; empty: OpenAI's. AddressKey is what people
	// call the setting of it; errors name it.
	BaseURL, AddressKey string
	APIKey              Secret
	// Model is required.
	Model        string
	Organization string
	// AzureVersion, if set, is the api-version of an Azure resource, whose
	// address BaseURL then is; Model names the deployment.
	AzureVersion string
	// Headers and Query are added to every request, and are as secret as the key.
	Headers, Query map[string]Secret
	Settings       Settings
}

// Options configure a [Model]. Only the endpoint's Model is required.
type Options struct {
	Endpoint
	// Fallbacks are asked, in order, by a call whose model failed for good before
	// its first event. The next call begins with the first model again, unless that
	// failed of late: a model that failed is skipped for a while that grows with every
	// failure, and one call tries it then. When all are skipped, the one whose time is
	// up first is asked.
	Fallbacks []Endpoint

	// IdleTimeout bounds the silence within an answer: 120 s.
	IdleTimeout time.Duration
	// FirstByteTimeout bounds the wait for the first piece of text, reasoning or call of
	// an answer: 60 s, or 15 s with fallbacks. Comments do not count, nor does a chunk
	// that says nothing. A model that is silent for longer is not asked again by the call.
	FirstByteTimeout time.Duration
	// MaxAttempts bounds the requests of one call to one model: 6.
	MaxAttempts int
	// MaxWait bounds one wait between attempts, 30 s; a provider that asks for more
	// is not asked again by this call. WaitBudget bounds all waits of a call, 60 s,
	// and TimeBudget everything: no attempt begins later than 5 minutes after the first.
	MaxWait, WaitBudget, TimeBudget time.Duration

	// Transport carries the requests; nil: [NewTransport].
	Transport http.RoundTripper
	// Load reads the stored files that links of [messages.Picture] name; nil: there are
	// none. It gives the same bytes for the same link.
	Load func(ctx context.Context, link string) ([]byte, error)
	// Exact behaves as the SDK to the letter: one attempt, no stand-ins for what
	// is empty or cannot be sent, errors inside a stream as events with a finish.
	Exact bool

	// Logger gets attempts that failed; nil: none are logged.
	Logger *slog.Logger
	// Metrics is where the package registers its own; nil: nowhere.
	Metrics prometheus.Registerer
}

// The defaults of [Options].
const (
	defaultIdle      = 120 * time.Second
	defaultFirstByte = 60 * time.Second
	fallbackFirst    = 15 * time.Second
	defaultAttempts  = 6
	defaultMaxWait   = 30 * time.Second
	defaultBudget    = 60 * time.Second
	defaultTime      = 5 * time.Minute
	defaultBaseURL   = "https://api.openai.com/v1"
)

var (
	errNoModel = errors.New("no model is named")
	errBaseURL = errors.New("base URL must be http or https")
)

func (o *Options) setDefaults() {
	setDefault(&o.IdleTimeout, defaultIdle)
	first := defaultFirstByte
	if len(o.Fallbacks) > 0 {
		first = fallbackFirst
	}
	setDefault(&o.FirstByteTimeout, first)
	setDefault(&o.MaxAttempts, defaultAttempts)
	setDefault(&o.MaxWait, defaultMaxWait)
	setDefault(&o.WaitBudget, defaultBudget)
	setDefault(&o.TimeBudget, defaultTime)
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

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// checked returns the endpoint with its defaults, or why it cannot be used.
func (e Endpoint) checked() (Endpoint, error) {
	if e.Model == "" {
		return e, errNoModel
	}
	if e.BaseURL == "" {
		e.BaseURL = defaultBaseURL
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return e, errBaseURL
	}
	e.Settings.ReasoningTags = tagNames(e.Settings.ReasoningTags)
	if e.Settings.MaxTokensField == "" {
		e.Settings.MaxTokensField = "max_tokens"
		if host := u.Hostname(); host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
			e.Settings.MaxTokensField = "max_completion_tokens"
		}
	}
	return e, nil
}

// decorate adds what goes along with every request.
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

// host is where the endpoint is, for people.
func (e Endpoint) host() string {
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return "" // Unreachable: the endpoint was checked.
	}
	return u.Host
}

// azure is the address of a resource and the name of a deployment there. An address that
// names the deployment itself, as the service shows it, counts for both.
func (e Endpoint) azure() (resource, deployment string) {
	resource, rest, named := strings.Cut(e.BaseURL, "/openai/deployments/")
	deployment, _, _ = strings.Cut(rest, "/")
	if !named || deployment == "" {
		deployment = e.Model
	}
	return strings.TrimSuffix(strings.TrimRight(resource, "/"), "/openai"), deployment
}

// secrets are the texts of an endpoint that must not be printed.
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
